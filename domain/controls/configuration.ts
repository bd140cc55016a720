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
/** `compensation`: the action that undoes this one, and that an undo sends without a request. */
export type ActionPart = {
  readonly endpoint_id: string;
  readonly policy_id: string | null;
  readonly compensation: string | null;
  readonly cost: CostRule | null;
};
type EndpointPart = { readonly policy_id: string | null };
export type MemberPart = { readonly role: Role };
/** `schema`: hex SHA-256 of the JSON Schema in canonical form, because the schema may be large; null for none. */
export type PolicyPart = Omit<PolicyDefinition, "schema"> & { readonly schema: string | null };

/** By id; an action by its name. */
export type Parts = {
  readonly agent: AgentPart;
  readonly source: SourcePart;
  readonly action: ActionPart;
  readonly endpoint: EndpointPart;
  readonly policy: PolicyPart;
  readonly member: MemberPart;
};
export type PartKind = keyof Parts;

/** Everything in an account that decides which sender reaches which target with which approvals. */
export type Configuration = { readonly [Kind in PartKind]: ReadonlyMap<string, Parts[Kind]> } & {
  /** By the policy's id: the operator has asked on the machine to lift its protection. */
  readonly lifts: ReadonlyMap<string, Lift>;
  /** When recent changes were recorded, by `partKey`: the changes may still be under way. */
  readonly recordedAt: ReadonlyMap<string, string>;
  /** Ids of held changes; some may be over. */
  readonly heldChanges: ReadonlySet<string>;
};

/** `isRecorded`: a change has relied on the lift, which was then recorded as effective. */
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

/** The new state of one part; null if it is removed. */
export type PartChange = {
  readonly [Kind in PartKind]: { readonly kind: Kind; readonly id: string; readonly part: Parts[Kind] | null };
}[PartKind];

export const withPart = (configuration: Configuration, { kind, id, part }: PartChange): Configuration => {
  // `kind` selects the map, and so the type of the part.
  const parts = new Map<string, unknown>(configuration[kind]);
  if (part === null) parts.delete(id);
  else parts.set(id, part);
  return { ...configuration, [kind]: parts };
};
