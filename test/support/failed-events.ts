import type { AttemptEnd } from "../../domain/delivery/attempt-end.ts";
import type { DeliveryCommand } from "../../domain/delivery/commands.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import type { DeliveryEvent, Request } from "../../domain/delivery/events.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { type LogLocation, openLog } from "../../src/engine/open-engines.ts";
import { type Envelope, toEvents } from "../../src/streams/envelope.ts";
import { eventIdOf } from "../../src/streams/event-id.ts";
import { payloads } from "../../src/streams/payloads.ts";

export type FailedEvents = {
  readonly account: string;
  readonly source: { readonly id: string; readonly name: string };
  readonly endpointId: string;
  readonly count: number;
  /** When the first was received; the others follow by a millisecond each. */
  readonly from: number;
  /** How often each was attempted; left out: once. An attempt makes two records, and the request and the end one each. */
  readonly attempts?: number;
};

/** Appends under way at once. */
const AT_ONCE = 32;
/** Records of one append. */
const RECORDS_MAX = 500;
/** From one attempt to the next: much longer than all attempts together, so that a timeline collapses it. */
const PAUSE_MS = 60_000;

type Attempted = {
  readonly request: Request;
  readonly endpointId: string;
  readonly from: number;
  readonly count: number;
};

/** What the decider makes of a request whose attempts have all failed. */
const failedAttempts = ({ request, endpointId, from, count }: Attempted): readonly DeliveryEvent[] => {
  const timings_ms = { dns: 0, connect: 0, tls: 0, first_byte: 1, total: 1 };
  const failure = { kind: "http-5xx", detail: "The receiver answered 500" } as const;
  const events: DeliveryEvent[] = [];
  let state = delivery.initial;
  const decided = (command: DeliveryCommand): void => {
    const decision = delivery.decide(command, state);
    if (!decision.ok) throw new Error(decision.rejection);
    events.push(...decision.events);
    state = decision.events.reduce(delivery.evolve, state);
  };
  decided({ type: "Admit", request });
  for (let number = 1; number <= count; number += 1) {
    const at = new Date(from + (number - 1) * PAUSE_MS).toISOString();
    const start = { endpointId, trigger: "auto", node: "node_before", leaseUntil: at, othersAreGone: true } as const;
    const ids = { event_id: request.event_id, endpoint_id: endpointId };
    const end: AttemptEnd = { ...ids, number, at, duration_ms: 1, status_code: 500, timings_ms };
    const nextAttemptAt = number === count ? null : new Date(from + number * PAUSE_MS).toISOString();
    decided({ type: "StartAttempt", ...start, at });
    decided({ type: "Fail", end, failure, retryable: true, nextAttemptAt });
  }
  return events;
};

/** Writes events whose one attempt failed, as the program would have; nobody else may be writing to an embedded log. */
export const writeFailedEvents = async (
  place: LogLocation,
  { account, source, endpointId, count, from, attempts = 1 }: FailedEvents,
): Promise<readonly string[]> => {
  const log = await openLog(place);
  const kept = payloads(log, randomness);

  const write = async (number: number): Promise<string> => {
    const at = new Date(from + number).toISOString();
    const key = `failed-${number}`;
    const eventId = eventIdOf(account, source.id, key);
    const envelope: Envelope = {
      commandId: `failed/${eventId}`,
      account,
      actor: { kind: "source", id: source.id },
      trace: { trace_id: "1".repeat(32), span_id: "2".repeat(16) },
      at,
    };
    const body = Buffer.from(JSON.stringify({ number }));
    const incoming = { body, contentType: "application/json", contentEncoding: "", headers: {} };
    const payload = await kept.keepFirst(eventId, incoming, {
      ...envelope,
      commandId: `${envelope.commandId}/payload`,
    });
    if (payload === null) throw new Error(`${eventId} is there already`);
    const request: Request = {
      event_id: eventId,
      origin: { kind: "source", ...source, type: "hmac" },
      delivery_key: key,
      type: "",
      payload: { ...payload, content_type: "application/json", size: body.length },
      endpoint_id: endpointId,
      verdict: { decision: "allow", policy: null, gates: [] },
      cost: null,
      received_at: at,
      authenticated_at: at,
      at,
    };
    const events = toEvents(failedAttempts({ request, endpointId, from: from + number, count: attempts }), envelope);
    for (let nth = 0; nth < events.length; nth += RECORDS_MAX) {
      const part = events.slice(nth, nth + RECORDS_MAX);
      const done = await log.append(`delivery-${eventId}`, nth === 0 ? "absent" : nth - 1, part);
      if (done.outcome === "conflict") throw new Error(`${eventId} was written by another`);
    }
    return eventId;
  };

  const ids: string[] = [];
  for (let number = 0; number < count; number += AT_ONCE) {
    const batch = Array.from({ length: Math.min(AT_ONCE, count - number) }, (_, nth) => write(number + nth));
    ids.push(...(await Promise.all(batch)));
  }
  await log.close();
  return ids;
};
