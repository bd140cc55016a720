import type { Role } from "../account/events.ts";
import type { Scope } from "../agent/scope.ts";
import type { CostRule, PolicyDefinition } from "../policy/definition.ts";

export type AgentPart = { readonly name: string; readonly policy_id: string | null; readonly scope: Scope };
type SourcePart = {
  readonly name: string;
  readonly type: string;
  readonly policy_id: string | null;
  readonly endpoint_id: string | null;
};
/** `compensation` names the action that undoes this one, and is sent without being requested. */
export type ActionPart = {
  readonly endpoint_id: string;
  readonly policy_id: string | null;
  readonly compensation: string | null;
  readonly cost: CostRule | null;
};
type EndpointPart = { readonly policy_id: string | null };
export type MemberPart = { readonly role: Role };
/** `schema` is the hex SHA-256 of the JSON Schema in canonical form, as schemas may be large; null without one. */
export type PolicyPart = Omit<PolicyDefinition, "schema"> & { readonly schema: string | null };

/**
 * A part is one agent, source, action, endpoint, policy or member, as far as approvals depend on it. Its key in a
 * `Configuration` is its id, for an action its name.
 */
export type Parts = {
  readonly agent: AgentPart;
  readonly source: SourcePart;
  readonly action: ActionPart;
  readonly endpoint: EndpointPart;
  readonly policy: PolicyPart;
  readonly member: MemberPart;
};
export type PartKind = keyof Parts;

export type Configuration = { readonly [Kind in PartKind]: ReadonlyMap<string, Parts[Kind]> } & {
  /** Keyed by policy. A lift ends the policy's protection; the operator has requested it on the machine. */
  readonly lifts: ReadonlyMap<string, Lift>;
  /** When a part was last changed here, by `partKey`: a recent change may not be in the part's own stream yet. */
  readonly recordedAt: ReadonlyMap<string, string>;
  readonly heldChanges: ReadonlySet<string>;
};

/** `isRecorded`: a change has relied on the lift, and `ProtectionLifted` was recorded with that change. */
type Lift = { readonly effectiveAt: string; readonly isRecorded: boolean };

export const EMPTY: Configuration = {
  agent: new Map(),
  source: new Map(),
  action: new Map(),
  endpoint: new Map(),
  policy: new Map(),
  member: new Map(),
  lifts: new Map(),
  recordedAt: new Map(),
  heldChanges: new Set(),
};

export const partKey = ({ kind, id }: { readonly kind: PartKind; readonly id: string }): string => `${kind} ${id}`;

/** `part` is null if the part is removed. */
export type PartChange = {
  readonly [Kind in PartKind]: { readonly kind: Kind; readonly id: string; readonly part: Parts[Kind] | null };
}[PartKind];

/** The caller has to give a part of this kind, which the types cannot check. */
export const partChange = (kind: PartKind, id: string, part: Parts[PartKind] | null): PartChange =>
  ({ kind, id, part }) as PartChange;

export const withPart = (configuration: Configuration, { kind, id, part }: PartChange): Configuration => {
  // `kind` selects the map and with it the type of the part.
  const parts = new Map<string, unknown>(configuration[kind]);
  if (part === null) parts.delete(id);
  else parts.set(id, part);
  return { ...configuration, [kind]: parts };
};
