import { createHmac } from "node:crypto";
import { delivery } from "../../domain/delivery/decider.ts";
import type { Delivery } from "../../domain/delivery/state.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { eventIdOf } from "../streams/event-id.ts";
import { foldStream } from "../streams/run-command.ts";

export const SAME_BODY_MS = 300_000;
/** Milliseconds by which nodes may differ about the end of a period: clocks differ, and a decision takes time. */
const EDGE_MS = 30_000;

export type BodyKeysDeps = { readonly log: EventLog; readonly digestKey: Uint8Array };
export type BodyOfSource = { readonly account: string; readonly sourceId: string; readonly body: Uint8Array };

const receivedAt = (state: Delivery): number | null =>
  "request" in state ? Date.parse(state.request.received_at) : null;

type Lookup = { readonly key: Promise<string>; readonly atMs: number; users: number };

/**
 * A webhook without a delivery id gets a key made of a keyed hash of its body and the number of a period of 300 s, so
 * that equal webhooks at the same moment claim one event. If an equal webhook came less than 300 s ago, even in the
 * previous period, the new one gets the same key.
 */
export const bodyKeys = ({ log, digestKey }: BodyKeysDeps) => {
  const underWay = new Map<string, Lookup>();

  const look = async ({ account, sourceId }: BodyOfSource, key: string): Promise<number | null> => {
    const { state } = await foldStream(log, delivery, `delivery-${eventIdOf(account, sourceId, key)}`);
    return receivedAt(state);
  };

  const find = async (it: BodyOfSource, hash: string, nowMs: number): Promise<string> => {
    const period = Math.floor(nowMs / SAME_BODY_MS);
    const offset = nowMs - period * SAME_BODY_MS;
    const [isEarly, isLate] = [offset < EDGE_MS, offset >= SAME_BODY_MS - EDGE_MS];
    const keyOf = (n: number): string => `body-${hash}-${n}`;
    const from = isEarly ? period - 2 : period - 1;
    const to = isLate ? period + 1 : period;
    const candidates = await Promise.all(
      Array.from({ length: to - from + 1 }, async (_, n) => {
        const key = keyOf(from + n);
        return { key, period: from + n, at: await look(it, key) };
      }),
    );
    const same = candidates.findLast(({ at }) => at !== null && Math.abs(nowMs - at) < SAME_BODY_MS);
    if (same !== undefined) return same.key;
    const first = isEarly ? period - 1 : period;
    return candidates.find((it) => it.period >= first && it.at === null)?.key ?? keyOf(to + 1);
  };

  return async <T>(it: BodyOfSource, nowMs: number, decide: (key: string) => Promise<T>): Promise<T> => {
    const { account, sourceId, body } = it;
    const hash = createHmac("sha256", digestKey)
      .update(`body\0${account}\0${sourceId}\0`)
      .update(body)
      .digest("base64url");
    let lookup = underWay.get(hash);
    if (lookup === undefined || nowMs - lookup.atMs >= EDGE_MS) {
      lookup = { key: find(it, hash, nowMs), atMs: nowMs, users: 0 };
      underWay.set(hash, lookup);
    }
    lookup.users += 1;
    try {
      return await decide(await lookup.key);
    } finally {
      lookup.users -= 1;
      if (lookup.users === 0 && underWay.get(hash) === lookup) underWay.delete(hash);
    }
  };
};
