import { randomUUID } from "node:crypto";
import type { DeliveryEvent, Request } from "../../domain/delivery/events.ts";
import type { NewEvent } from "../../domain/ports/event-log.ts";
import { type LogLocation, openLog } from "../../src/engine/open-engines.ts";
import { eventIdOf } from "../../src/streams/event-id.ts";
import { inParallel } from "./parallel.ts";

export type Owner = {
  readonly account: string;
  readonly sources: readonly string[];
  readonly endpoints: readonly string[];
  readonly agent: string;
};

type Fact = DeliveryEvent;

const SPAN_MS = 24 * 3_600_000;
const AT_ONCE = 2_000;
/** Of ten thousand events, this many have the last source, the last endpoint or the rare type. */
const RARE = 3;
const TYPES = Array.from({ length: 40 }, (_, n) => `customer.object_${n}.updated`);
export const COMMON_TYPE = "payment_intent.succeeded";
export const RARE_TYPE = "dispute.lost";
export const ACTION = "refund.create";
export const RARE_CODE = "cost-unknown";

/** A seeded generator of numbers (mulberry32), so that every run has the same events. */
const random = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
};

export const deliveryKeyOf = (n: number): string => `seed-${n}`;

const skewed = <T>(of: readonly T[], next: (below: number) => number): T => {
  const rare = next(10_000) < RARE;
  const index = rare ? of.length - 1 : Math.floor((of.length - 1) * (next(1_000) / 1_000) ** 2);
  return of[index] as T;
};

const factsOf = (owner: Owner, n: number, count: number): { readonly id: string; readonly facts: readonly Fact[] } => {
  const next = random(n);
  const isAgent = next(100) < 5;
  const source = isAgent ? owner.agent : skewed(owner.sources, next);
  const endpoint_id = skewed(owner.endpoints, next);
  const id = eventIdOf(owner.account, source, deliveryKeyOf(n));
  const from = Date.now() - SPAN_MS + (SPAN_MS * n) / count;
  const at = (ms: number): string => new Date(from + ms).toISOString();
  const drawn = next(1_000);
  const refusal = next(10_000) < 20 ? RARE_CODE : "over-budget";
  const type = isAgent
    ? ACTION
    : next(10_000) < RARE
      ? RARE_TYPE
      : next(2) === 0
        ? COMMON_TYPE
        : (TYPES[next(40)] ?? "");
  const isBlocked = drawn < 50;
  const request: Request = {
    event_id: id,
    origin: {
      kind: isAgent ? "agent" : "source",
      id: source,
      name: "seeded",
      type: isAgent ? "agent" : "hmac",
    },
    delivery_key: deliveryKeyOf(n),
    type,
    payload: { revision: 0, content_type: "application/json", size: 812, commitment: "0".repeat(64) },
    endpoint_id: drawn >= 50 && drawn < 70 ? null : endpoint_id,
    verdict: {
      decision: isBlocked ? "deny" : "allow",
      policy: { id: "pol_seeded", version: 1 },
      gates: [
        { gate: "require_fields", outcome: "allow", code: "ok", detail: "2 fields are there" },
        { gate: "rate", outcome: "allow", code: "ok", detail: "12 of 60 a minute" },
        isBlocked
          ? { gate: "budget", outcome: "deny", code: refusal, detail: "250.00 of 250.00 EUR" }
          : { gate: "budget", outcome: "allow", code: "ok", detail: "0.02 of 250.00 EUR" },
      ],
    },
    cost: 20_000,
    received_at: at(0),
    authenticated_at: at(1),
    at: at(2),
  };
  if (isBlocked) return { id, facts: [{ type: "EventBlocked", data: request }] };
  const admitted: Fact = { type: "EventAdmitted", data: request };
  if (request.endpoint_id === null) return { id, facts: [admitted] };
  const about = { event_id: id, endpoint_id };
  const timings_ms = { dns: 0, connect: 1, tls: 0, first_byte: 20, total: 21 };
  const end = { ...about, number: 1, at: at(30), duration_ms: 21, timings_ms };
  const node = { node: "node_seed", lease_until: at(30_000) };
  const began: Fact = { type: "AttemptStarted", data: { ...about, number: 1, trigger: "auto", ...node, at: at(9) } };
  if (drawn >= 985) {
    const failure = { kind: "http-4xx", detail: "The receiver answered 400" } as const;
    const failed = { ...end, status_code: 400, failure, retryable: false, next_attempt_at: null };
    const ended: Fact = { type: "DeliveryFailed", data: { ...about, failure, at: at(30) } };
    return { id, facts: [admitted, began, { type: "AttemptFailed", data: failed }, ended] };
  }
  const succeeded: Fact = { type: "AttemptSucceeded", data: { ...end, status_code: 200 } };
  return {
    id,
    facts: [admitted, began, succeeded, { type: "EventDelivered", data: { ...about, admitted_at: at(2), at: at(30) } }],
  };
};

const recordsOf = (owner: Owner, facts: readonly Fact[]): readonly NewEvent[] =>
  facts.map(({ type, data }) => ({
    id: randomUUID(),
    type,
    data,
    meta: {
      account: owner.account,
      actor: { kind: "system", id: "seed" },
      command_id: "cmd_seed",
      trace_id: "0af7651916cd43dd8448eb211c80319c",
      span_id: "b7ad6b7169203331",
      causation_id: null,
      recorded_at: data.at,
      schema: 1,
    },
  }));

/** Writes streams of `count` events as they are after a day, without payloads. Resolves with the number of records. */
export const seedEvents = async (place: LogLocation, owner: Owner, count: number): Promise<number> => {
  const log = await openLog(place);
  let records = 0;
  await inParallel(count, AT_ONCE, async (n) => {
    const { id, facts } = factsOf(owner, n, count);
    const events = recordsOf(owner, facts);
    await log.append(`delivery-${id}`, "absent", events);
    records += events.length;
  });
  await log.close();
  return records;
};
