import type { Role } from "../account/events.ts";
import type { Scope } from "../agent/scope.ts";
import type { CostRule, PolicyDefinition } from "../policy/definition.ts";

/** What of an agent decides which approvals its requests need. */
export type AgentPart = { readonly name: string; readonly policy_id: string | null; readonly scope: Scope };
type SourcePart = {
  readonly name: string;
  readonly type: string;
  readonly policy_id: string | null;
  readonly endpoint_id: string | null;
};
/** `compensation`: the action that undoes this one, which an undo reaches without being asked for. */
export type ActionPart = {
  readonly endpoint_id: string;
  readonly policy_id: string | null;
  readonly compensation: string | null;
  readonly cost: CostRule | null;
};
type EndpointPart = { readonly policy_id: string | null };
/** Of a person: an approver, or somebody whose role includes that, has a say in every approval. */
export type MemberPart = { readonly role: Role };
/** `schema`: hex SHA-256 of the JSON Schema in canonical form, which may be large itself; null for none. */
export type PolicyPart = Omit<PolicyDefinition, "schema"> & { readonly schema: string | null };

/** By id, an action by its name. */
export type Parts = {
  readonly agent: AgentPart;
  readonly source: SourcePart;
  readonly action: ActionPart;
  readonly endpoint: EndpointPart;
  readonly policy: PolicyPart;
  readonly member: MemberPart;
};
export type PartKind = keyof Parts;

/** All of an account that decides who reaches what, and with which approvals. */
export type Configuration = { readonly [Kind in PartKind]: ReadonlyMap<string, Parts[Kind]> } & {
  /** By the policy's id: somebody on the machine has asked that its protection be lifted. */
  readonly lifts: ReadonlyMap<string, Lift>;
  /** When parts were recorded last, of those that may be under way still: ISO-8601 UTC, by `partKey`. */
  readonly recordedAt: ReadonlyMap<string, string>;
  /** The ids of changes that are held; some of them may be over. */
  readonly heldChanges: ReadonlySet<string>;
};

/** `effectiveAt`: ISO-8601 UTC. `isRecorded`: a change was let through by it, and its taking effect is a record. */
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

/** One part as it is from then on; null: it is gone. */
export type PartChange = {
  readonly [Kind in PartKind]: { readonly kind: Kind; readonly id: string; readonly part: Parts[Kind] | null };
}[PartKind];

export const withPart = (configuration: Configuration, { kind, id, part }: PartChange): Configuration => {
  // The kind says which of the maps it is, and so the type of the part.
  const parts = new Map<string, unknown>(configuration[kind]);
  if (part === null) parts.delete(id);
  else parts.set(id, part);
  return { ...configuration, [kind]: parts };
};
