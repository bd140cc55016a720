import type { DeliveryEvent, Failure, Request } from "../../domain/delivery/events.ts";
import type { Actor, EventLog, JsonObject, RecordedEvent } from "../../domain/ports.ts";

export const START = Date.UTC(2026, 2, 1, 12);
/** Seconds behind the start, as the log writes times. */
export const at = (seconds: number): string => new Date(START + seconds * 1_000).toISOString();

export type Fact = { readonly type: string; readonly data: JsonObject };
type About = { readonly account?: string; readonly actor?: Actor; readonly at?: string };

export type History = {
  readonly events: RecordedEvent[];
  add(stream: string, fact: Fact | DeliveryEvent, about?: About): RecordedEvent;
};

/** Records as a log would have them: revisions a stream, positions over all. */
export const history = (): History => {
  const events: RecordedEvent[] = [];
  const revisions = new Map<string, number>();
  return {
    events,
    add(stream, fact, about = {}) {
      const revision = (revisions.get(stream) ?? -1) + 1;
      revisions.set(stream, revision);
      const number = events.length + 1;
      const event: RecordedEvent = {
        id: `00000000-0000-8000-a000-${String(number).padStart(12, "0")}`,
        type: fact.type,
        // Every event type is plain JSON; the compiler cannot see that of types with optional members.
        data: fact.data as unknown as JsonObject,
        meta: {
          account: about.account ?? "acc_1",
          actor: about.actor ?? { kind: "system", id: "deliverer" },
          command_id: `cmd_${number}`,
          trace_id: "0af7651916cd43dd8448eb211c80319c",
          span_id: "b7ad6b7169203331",
          causation_id: null,
          recorded_at: about.at ?? at(number),
          schema: 1,
        },
        stream,
        revision,
        position: String(number).padStart(16, "0"),
      };
      events.push(event);
      return event;
    },
  };
};

/** Writes a history into a log, which gives it the same revisions. */
export const appendTo = async (log: EventLog, events: readonly RecordedEvent[]): Promise<void> => {
  for (const { stream, revision, position: _, ...event } of events)
    await log.append(stream, revision === 0 ? "absent" : revision - 1, [event]);
};

export const request = (over: Partial<Request> = {}): Request => ({
  event_id: "evt_1",
  origin: { kind: "source", id: "src_1", name: "shop", type: "stripe" },
  delivery_key: "evt_stripe",
  type: "payment_intent.succeeded",
  payload: { revision: 0, content_type: "application/json", size: 2, sha256: "00" },
  endpoint_id: "end_1",
  verdict: { decision: "allow", policy: { id: "pol_1", version: 1 }, gates: [] },
  cost: 20_000,
  received_at: at(0),
  authenticated_at: at(0),
  at: at(0),
  ...over,
});

export const SERVER_ERROR: Failure = { kind: "http-5xx", detail: "The receiver answered 503" };

/** The facts of one event's delivery, all about the same event and endpoint. */
export const deliveryFacts = (event_id = "evt_1", endpoint_id = "end_1") => {
  const ids = { event_id, endpoint_id };
  const end = (number: number, second: number, duration_ms: number) => ({
    ...ids,
    number,
    at: at(second),
    duration_ms,
    timings_ms: { dns: 0, connect: 0, tls: 0, first_byte: duration_ms, total: duration_ms },
  });
  return {
    admitted: (over: Partial<Request> = {}): DeliveryEvent => ({
      type: "EventAdmitted",
      data: request({ ...ids, ...over }),
    }),
    blocked: (over: Partial<Request> = {}): DeliveryEvent => ({
      type: "EventBlocked",
      data: request({ ...ids, verdict: { decision: "deny", policy: null, gates: [] }, ...over }),
    }),
    started: (number: number, second: number): DeliveryEvent => ({
      type: "AttemptStarted",
      data: { ...ids, number, trigger: "auto", node: "node_1", lease_until: at(second + 30), at: at(second) },
    }),
    succeeded: (number: number, second: number, durationMs = 40): DeliveryEvent => ({
      type: "AttemptSucceeded",
      data: { ...end(number, second, durationMs), status_code: 200 },
    }),
    delivered: (second: number, admittedAt = at(0)): DeliveryEvent => ({
      type: "EventDelivered",
      data: { ...ids, admitted_at: admittedAt, at: at(second) },
    }),
    attemptFailed: (number: number, second: number, next: string | null, durationMs = 40): DeliveryEvent => ({
      type: "AttemptFailed",
      data: {
        ...end(number, second, durationMs),
        status_code: 503,
        failure: SERVER_ERROR,
        retryable: next !== null,
        next_attempt_at: next,
      },
    }),
    failed: (second: number): DeliveryEvent => ({
      type: "DeliveryFailed",
      data: { ...ids, failure: SERVER_ERROR, at: at(second) },
    }),
    duplicates: (count: number, second: number): DeliveryEvent => ({
      type: "DuplicatesCounted",
      data: { event_id, count, at: at(second) },
    }),
    erased: (second: number): DeliveryEvent => ({
      type: "PayloadErased",
      data: { event_id, reason: "asked for", at: at(second) },
    }),
  };
};

export const endpointRegistered = (endpoint_id = "end_1"): Fact => ({
  type: "EndpointRegistered",
  data: {
    endpoint_id,
    account: "acc_1",
    name: "orders",
    url: "https://example.com/hook",
    timeout_ms: 10_000,
    retry_schedule_s: [5, 30],
    concurrency: 8,
    rate_per_second: null,
    headers: { authorization: "sealed-header" },
    notifications: [],
    secret: "sealed-secret",
    at: at(0),
  },
});
