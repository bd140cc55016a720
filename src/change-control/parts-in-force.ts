import {
  type Configuration,
  type PartChange,
  type PartKind,
  type Parts,
  partChange,
} from "../../domain/change-control/configuration.ts";
import { sameJson } from "../../domain/same-json.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { asJson, PART_STREAMS } from "./parts.ts";

const KINDS = ["agent", "source", "action", "endpoint", "policy", "member"] as const satisfies readonly PartKind[];

const READS_AT_ONCE = 50;

/** Finds the parts whose own streams differ from the stream of controls, as their own streams have them. */
export type PartsInForce = (account: string, recorded: Configuration) => Promise<readonly PartChange[]>;

/**
 * A recorded change counts only once the part's own stream agrees: that stream may have refused the change, or a crash
 * may have cut it off. A part that agreed is not read again until another record replaces it.
 */
export const partsInForce = ({ aggregates }: { readonly aggregates: Pick<Aggregates, "load"> }): PartsInForce => {
  const confirmed = new WeakSet<object>();

  const look = async (account: string, kind: PartKind, id: string, part: Parts[PartKind]) => {
    const { part: now } = await PART_STREAMS[kind].find(aggregates, account, id);
    if (sameJson(asJson(now), asJson(part))) {
      confirmed.add(part);
      return [];
    }
    return [partChange(kind, id, now)];
  };

  return async (account, recorded) => {
    const isControlled = [...recorded.policy.values()].some(({ approval }) => approval !== undefined);
    if (!isControlled) return [];
    const looks = KINDS.flatMap((kind) =>
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
