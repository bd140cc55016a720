import { account as accountDecider } from "../../domain/account/decider.ts";
import { action as actionDecider } from "../../domain/action/decider.ts";
import { agent as agentDecider } from "../../domain/agent/decider.ts";
import type { PartKind, Parts } from "../../domain/change-control/configuration.ts";
import { type Decider, onlyWhile } from "../../domain/decider.ts";
import { endpoint as endpointDecider } from "../../domain/endpoint/decider.ts";
import type { Json } from "../../domain/json.ts";
import { policy as policyDecider } from "../../domain/policy/decider.ts";
import { sameJson } from "../../domain/same-json.ts";
import { source as sourceDecider } from "../../domain/source/decider.ts";
import { accountStream } from "../accounts/accounts.ts";
import { actionStream } from "../streams/action-stream.ts";
import type { Aggregates, Handled } from "../streams/aggregates.ts";
import type { Envelope, Fact } from "../streams/envelope.ts";
import { actionPart, policyPart } from "./control-parts.ts";

/** `part` is null if the part does not exist; `shown` is the form in which people see it. */
type FoundPart<Kind extends PartKind> = { readonly part: Parts[Kind] | null; readonly shown: Json };

type PartStream<Kind extends PartKind> = {
  find(streams: Pick<Aggregates, "load">, account: string, id: string): Promise<FoundPart<Kind>>;
  /** The command is refused unless the part is still as `shown`, which its approvers saw. */
  give(
    streams: Pick<Aggregates, "handle">,
    envelope: Envelope,
    to: { readonly id: string; readonly command: unknown; readonly shown: Json },
  ): Promise<Handled<unknown, unknown>>;
};

/** Drops undefined members, as records and request bodies have none: values that mean the same are then equal. */
export const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null)) as Json;

const partStream = <Kind extends PartKind, S, C, E extends Fact, R>(
  decider: Decider<S, C, E, R>,
  streamOf: (account: string, id: string) => string,
  found: (state: S, id: string) => { readonly part: Parts[Kind]; readonly shown: unknown } | null,
): PartStream<Kind> => {
  const shownOf = (state: S, id: string): Json => asJson(found(state, id)?.shown);
  return {
    async find({ load }, account, id) {
      const { state } = await load(decider, streamOf(account, id), 0);
      return { part: found(state, id)?.part ?? null, shown: shownOf(state, id) };
    },
    give({ handle }, envelope, { id, command, shown }) {
      const asShown = onlyWhile(decider, (state) => sameJson(shownOf(state, id), shown));
      // The recorded command was made for the decider of this kind.
      return handle(asShown, streamOf(envelope.account, id), command as C, envelope);
    },
  };
};

export const PART_STREAMS: { readonly [Kind in PartKind]: PartStream<Kind> } = {
  agent: partStream(
    agentDecider,
    (_, id) => `agent-${id}`,
    (state) => (state.phase === "present" ? { part: state.settings, shown: state.settings } : null),
  ),
  source: partStream(
    sourceDecider,
    (_, id) => `source-${id}`,
    (state) => {
      if (state.phase !== "present") return null;
      const { name, policy_id, endpoint_id } = state.settings;
      return { part: { name, policy_id, endpoint_id, type: state.type }, shown: state.settings };
    },
  ),
  action: partStream(actionDecider, actionStream, (state) =>
    state.phase === "defined" ? { part: actionPart(state.definition), shown: state.definition } : null,
  ),
  endpoint: partStream(
    endpointDecider,
    (_, id) => `endpoint-${id}`,
    (state) => {
      if (state.phase !== "present") return null;
      const part = { policy_id: state.settings.policy_id };
      return { part, shown: part };
    },
  ),
  policy: partStream(
    policyDecider,
    (_, id) => `policy-${id}`,
    (state) => (state.phase === "published" ? { part: policyPart(state.definition), shown: state.definition } : null),
  ),
  member: partStream(accountDecider, accountStream, (state, id) => {
    // An invited person counts as a member with the role of the invitation.
    const it = state.phase === "open" ? (state.members.get(id) ?? state.invitations.get(id)) : undefined;
    const role = it?.role;
    return role === undefined ? null : { part: { role }, shown: { role } };
  }),
};
