import type { AttemptEnd, Failure } from "../domain/delivery/attempt-end.ts";
import type { DeliveryEvent } from "../domain/delivery/events.ts";
import type { EndpointEvent, EndpointSettings } from "../domain/endpoint/events.ts";
import type { RecordedEvent } from "../domain/ports/event-log.ts";
import { type Histogram, merged, NO_DURATIONS, percentile, withDuration } from "./histogram.ts";
import { eventOf, type Projection } from "./projection.ts";
import { deliveryOf } from "./streams.ts";

export type AttemptsBucket = {
  /** Number of the five-minute period since 1970. */
  readonly slot: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly duration: Histogram;
};

export type LastFailure = {
  readonly at: string;
  readonly kind: Failure["kind"];
  readonly status_code: number | null;
  readonly event_id: string;
  /** The number of the attempt among those of its event, from 1. */
  readonly attempt: number;
};

/** While the circuit is closed, `since` and `next_probe_at` are null. */
export type CircuitDocument = {
  readonly state: "healthy" | "degraded" | "open";
  readonly since: string | null;
  readonly next_probe_at: string | null;
};

export type EndpointDocument = Omit<EndpointSettings, "headers"> & {
  readonly account: string;
  readonly header_names: readonly string[];
  /** Names of the headers with secret values. An approval is not bound to these values. */
  readonly secret_headers: readonly string[];
  readonly created_at: string;
  readonly deleted: 0 | 1;
  readonly disabled: { readonly reason: string; readonly at: string } | null;
  readonly circuit: CircuitDocument;
  /** Number of the endpoint's admitted events that have not ended. */
  readonly queued: number;
  readonly consecutive_failures: number;
  readonly last_success_at: string | null;
  readonly last_failure: LastFailure | null;
  /** Attempts of the hour that ends with the newest one, in five-minute periods, the oldest first. */
  readonly buckets: readonly AttemptsBucket[];
};

export type EndpointHealth = {
  readonly state: "healthy" | "degraded" | "open" | "disabled";
  readonly success_rate_1h: number | null;
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
  readonly consecutive_failures: number;
  readonly last_success_at: string | null;
  readonly last_failure: LastFailure | null;
  /** When it was disabled, or else began to fail; null while it is healthy. */
  readonly since: string | null;
  readonly next_probe_at: string | null;
  readonly queued: number;
};

const BUCKET_MS = 5 * 60_000;
const BUCKETS = 12;
const HEALTHY: CircuitDocument = { state: "healthy", since: null, next_probe_at: null };

const ENDPOINT = "endpoint-";

/** Health in the hour before `nowMs` (ms since 1970). It depends on the clock, so the document cannot have it. */
export const healthOf = (document: EndpointDocument, nowMs: number): EndpointHealth => {
  const oldest = Math.floor(nowMs / BUCKET_MS) - BUCKETS + 1;
  const recent = document.buckets.filter(({ slot }) => slot >= oldest);
  const succeeded = recent.reduce((sum, bucket) => sum + bucket.succeeded, 0);
  const attempts = recent.reduce((sum, bucket) => sum + bucket.failed, succeeded);
  const duration = merged(recent.map((bucket) => bucket.duration));
  const { consecutive_failures, last_success_at, last_failure, queued, disabled, circuit } = document;
  return {
    state: disabled === null ? circuit.state : "disabled",
    success_rate_1h: attempts === 0 ? null : succeeded / attempts,
    p50_ms: percentile(duration, 0.5),
    p99_ms: percentile(duration, 0.99),
    consecutive_failures,
    last_success_at,
    last_failure,
    since: disabled === null ? circuit.since : disabled.at,
    next_probe_at: disabled === null ? circuit.next_probe_at : null,
    queued,
  };
};

const counted = (bucket: AttemptsBucket, success: boolean, durationMs: number): AttemptsBucket => ({
  slot: bucket.slot,
  succeeded: bucket.succeeded + (success ? 1 : 0),
  failed: bucket.failed + (success ? 0 : 1),
  duration: withDuration(bucket.duration, durationMs),
});

const withAttempt = (
  buckets: readonly AttemptsBucket[],
  { at, duration_ms }: AttemptEnd,
  success: boolean,
): readonly AttemptsBucket[] => {
  const slot = Math.floor(Date.parse(at) / BUCKET_MS);
  const newest = buckets.at(-1)?.slot ?? slot;
  // Nodes' clocks differ, so an attempt may belong to an earlier period. An attempt that is an hour older is dropped.
  if (slot <= newest - BUCKETS) return buckets;
  const index = buckets.findLastIndex((bucket) => bucket.slot === slot);
  const found = buckets[index];
  if (found !== undefined) return buckets.with(index, counted(found, success, duration_ms));
  const fresh = counted({ slot, succeeded: 0, failed: 0, duration: NO_DURATIONS }, success, duration_ms);
  const oldest = Math.max(slot, newest) - BUCKETS + 1;
  return [...buckets, fresh].filter((bucket) => bucket.slot >= oldest).sort((a, b) => a.slot - b.slot);
};

/** Only the values of headers are secret, so all names are shown. */
export const headerNames = (
  headers: EndpointSettings["headers"],
): Pick<EndpointDocument, "header_names" | "secret_headers"> => ({
  header_names: Object.keys(headers),
  secret_headers: Object.keys(headers).filter((name) => headers[name]?.digest === null),
});

const shownSettings = ({ headers, ...settings }: Partial<EndpointSettings>): Partial<EndpointDocument> => ({
  ...settings,
  ...(headers === undefined ? {} : headerNames(headers)),
});

type Registered = Extract<EndpointEvent, { type: "EndpointRegistered" }>["data"];

const registered = ({
  endpoint_id: _,
  account,
  secret: _sealed,
  at,
  headers,
  ...settings
}: Registered): EndpointDocument => ({
  ...settings,
  account,
  ...headerNames(headers),
  created_at: at,
  deleted: 0,
  disabled: null,
  circuit: HEALTHY,
  queued: 0,
  consecutive_failures: 0,
  last_success_at: null,
  last_failure: null,
  buckets: [],
});

const probedAt = (document: EndpointDocument, next_probe_at: string): EndpointDocument =>
  document.circuit.state === "open" ? { ...document, circuit: { ...document.circuit, next_probe_at } } : document;

const evolve = (document: EndpointDocument | null, recorded: RecordedEvent): EndpointDocument | null => {
  const event = eventOf<EndpointEvent | DeliveryEvent>(recorded);
  if (event.type === "EndpointRegistered") return registered(event.data);
  if (document === null) return null;
  switch (event.type) {
    case "EndpointChanged": {
      const { changes, at } = event.data;
      const changed = { ...document, ...shownSettings(changes) };
      // A new URL may work, so an open circuit probes it at once.
      return changes.url === undefined ? changed : probedAt(changed, at);
    }
    case "EndpointDisabled":
      return { ...document, disabled: { reason: event.data.reason, at: event.data.at } };
    case "EndpointDegraded":
      return { ...document, circuit: { state: "degraded", since: event.data.at, next_probe_at: null } };
    case "EndpointOpened": {
      const { at: since, next_probe_at } = event.data;
      return { ...document, circuit: { state: "open", since, next_probe_at } };
    }
    case "EndpointProbed":
    case "EndpointProbeDeferred":
      return probedAt(document, event.data.next_probe_at);
    case "EndpointRecovered":
      return { ...document, circuit: HEALTHY };
    case "EndpointEnabled":
      return { ...document, disabled: null, circuit: HEALTHY };
    case "EndpointDeleted":
      return { ...document, deleted: 1 };
    case "EventAdmitted":
    case "EventReleased":
    case "EventReplayed":
    case "HoldWithdrawn":
      return { ...document, queued: document.queued + 1 };
    case "EventHeldAgain":
      return event.data.previous.used ? { ...document, queued: Math.max(0, document.queued - 1) } : document;
    case "EventDelivered":
    case "DeliveryFailed":
    case "EventCancelled":
      return { ...document, queued: Math.max(0, document.queued - 1) };
    case "AttemptSucceeded":
      return {
        ...document,
        consecutive_failures: 0,
        last_success_at: event.data.at,
        buckets: withAttempt(document.buckets, event.data, true),
      };
    case "AttemptFailed": {
      const { at, failure, status_code, event_id, number: attempt } = event.data;
      return {
        ...document,
        consecutive_failures: document.consecutive_failures + 1,
        last_failure: { at, kind: failure.kind, status_code, event_id, attempt },
        buckets: withAttempt(document.buckets, event.data, false),
      };
    }
    default:
      return document;
  }
};

const TOUCHING: ReadonlySet<string> = new Set<DeliveryEvent["type"]>([
  "EventAdmitted",
  "EventReleased",
  "EventReplayed",
  "EventHeldAgain",
  "HoldWithdrawn",
  "EventDelivered",
  "DeliveryFailed",
  "EventCancelled",
  "AttemptSucceeded",
  "AttemptFailed",
]);

const endpointOf = (event: RecordedEvent): string | null => {
  if (event.stream.startsWith(ENDPOINT)) return event.stream.slice(ENDPOINT.length);
  if (!TOUCHING.has(event.type) || deliveryOf(event) === null) return null;
  const { endpoint_id, elsewhere } = event.data;
  if (elsewhere === true) return null;
  // `endpoint_id` is null for an event that is only recorded, and "" if the event was given up without an endpoint.
  return typeof endpoint_id === "string" && endpoint_id !== "" ? endpoint_id : null;
};

/** Every attempt writes its endpoint's document, so documents are small. A deleted endpoint's stays for its events. */
export const endpoints: Projection<EndpointDocument> = {
  schema: {
    name: "endpoints.v3",
    fields: { account: "text", deleted: "number", created_at: "text" },
    indexes: [["account", "deleted", "created_at"]],
  },
  idsOf: (event) => {
    const id = endpointOf(event);
    return id === null ? [] : [id];
  },
  apply(event, documents) {
    const id = endpointOf(event);
    if (id === null) return;
    const before = documents.get(id);
    const after = evolve(before, event);
    if (after !== before) documents.put(id, after);
  },
};
