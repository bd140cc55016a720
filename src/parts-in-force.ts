import { action as actionDecider } from "../domain/action/decider.ts";
import { agent as agentDecider } from "../domain/agent/decider.ts";
import type { Configuration, PartChange, PartKind, Parts } from "../domain/controls/configuration.ts";
import { endpoint as endpointDecider } from "../domain/endpoint/decider.ts";
import { policy as policyDecider } from "../domain/policy/decider.ts";
import { sameJson } from "../domain/same-json.ts";
import { source as sourceDecider } from "../domain/source/decider.ts";
import { actionStream } from "./action-stream.ts";
import type { Aggregates } from "./aggregates.ts";
import { actionPart, policyPart } from "./control-parts.ts";

/** A change of a member is one append of the account's stream, which only a person makes. */
const LOOKED_AT = ["agent", "source", "action", "endpoint", "policy"] as const;
type LookedAt = (typeof LOOKED_AT)[number];

/** After a start every part is looked at once: so many streams are read at a time. */
const READS_AT_ONCE = 50;

/** The parts whose own streams say something else than the stream of controls, as their own streams have them. */
export type PartsInForce = (account: string, recorded: Configuration) => Promise<readonly PartChange[]>;

const partNow = async (
  { load }: Pick<Aggregates, "load">,
  account: string,
  kind: LookedAt,
  id: string,
): Promise<Parts[PartKind] | null> => {
  switch (kind) {
    case "agent": {
      const { state } = await load(agentDecider, `agent-${id}`, 0);
      return state.phase === "present" ? state.settings : null;
    }
    case "source": {
      const { state } = await load(sourceDecider, `source-${id}`, 0);
      if (state.phase !== "present") return null;
      const { name, policy_id, endpoint_id } = state.settings;
      return { name, policy_id, endpoint_id, type: state.type };
    }
    case "action": {
      const { state } = await load(actionDecider, actionStream(account, id), 0);
      return state.phase === "defined" ? actionPart(state.definition) : null;
    }
    case "endpoint": {
      const { state } = await load(endpointDecider, `endpoint-${id}`, 0);
      return state.phase === "present" ? { policy_id: state.settings.policy_id ?? null } : null;
    }
    case "policy": {
      const { state } = await load(policyDecider, `policy-${id}`, 0);
      return state.phase === "published" ? policyPart(state.definition) : null;
    }
  }
};

/** What is missing and what is undefined are the same in a record. */
const asRecorded = (part: Parts[PartKind] | null): unknown => JSON.parse(JSON.stringify(part));

/**
 * A change is recorded in the stream of controls first. It may have been refused by its own stream afterwards, be under way,
 * or have been cut off by a crash: until its own stream says the same, it counts for nothing that lets others pass. A part
 * that was found as recorded is not looked at again until another record replaces it.
 */
export const partsInForce = ({ aggregates }: { readonly aggregates: Pick<Aggregates, "load"> }): PartsInForce => {
  const confirmed = new WeakSet<object>();

  const look = async (account: string, kind: LookedAt, id: string, part: Parts[LookedAt]) => {
    const now = await partNow(aggregates, account, kind, id);
    if (sameJson(asRecorded(now), asRecorded(part))) {
      confirmed.add(part);
      return [];
    }
    // The kind says which part it is.
    return [{ kind, id, part: now } as PartChange];
  };

  return async (account, recorded) => {
    const isControlled = [...recorded.policy.values()].some(({ approval }) => approval !== undefined);
    if (!isControlled) return [];
    const looks = LOOKED_AT.flatMap((kind) =>
      [...recorded[kind]]
        .filter(([, part]) => !confirmed.has(part))
        .map(
          ([id, part]) =>
            () =>
              look(account, kind, id, part),
        ),
    );
    const others: PartChange[] = [];
    for (let from = 0; from < looks.length; from += READS_AT_ONCE) {
      const found = await Promise.all(looks.slice(from, from + READS_AT_ONCE).map((it) => it()));
      others.push(...found.flat());
    }
    return others;
  };
};
