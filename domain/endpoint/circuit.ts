import type { EndpointEvent, OpenReason } from "./events.ts";

/**
 * The circuit is shared by all nodes. Times are ISO-8601 UTC. While it is open, events wait, and single probes are sent
 * from `nextProbeAt` on.
 */
export type Circuit =
  | { readonly state: "healthy" }
  | { readonly state: "degraded"; readonly since: string }
  | {
      readonly state: "open";
      readonly since: string;
      /** When the first of the consecutive failures ended. */
      readonly failingSince: string;
      /** Probes since the circuit opened. */
      readonly probes: number;
      readonly nextProbeAt: string;
      /** When `nextProbeAt` was recorded. */
      readonly probeRecordedAt: string;
      /** The event sent by the latest probe; null before the first. */
      readonly lastProbed: string | null;
      /** When the account was warned that the endpoint will be disabled; null before. */
      readonly warnedAt: string | null;
    };

export type OpenCircuit = Extract<Circuit, { state: "open" }>;

/** Attempts to one endpoint as one node counts them, since the endpoint last recovered. */
export type AttemptCounts = {
  readonly consecutiveFailures: number;
  /** When the first of the consecutive failures ended; null without any. */
  readonly failingSince: string | null;
  /** When the latest failure ended, even if later attempts succeeded; null without any. */
  readonly lastFailureAt: string | null;
  /** Attempts that ended in the last `WINDOW_MS`. */
  readonly attempts: number;
  readonly failed: number;
};

export type EndedAttempt = {
  readonly startedAt: string;
  readonly succeeded: boolean;
  /** The time that the receiver gave in Retry-After; null without one. */
  readonly notBefore: string | null;
};

/** Long enough to judge a slow endpoint, short enough to notice an outage. */
export const WINDOW_MS = 5 * 60_000;
const OPEN_FAILURES = 10;
/** An endpoint that answers only some requests does not recover while it gets all of them. */
const OPEN_RATE = 0.7;
/** Below this number of attempts the rate says nothing. */
const OPEN_ATTEMPTS_MIN = 20;
const DEGRADED_FAILURES = 3;
const DEGRADED_RATE = 0.1;
const DEGRADED_ATTEMPTS_MIN = 10;
/** Well below the rate that degrades, so that an endpoint near the limit does not alternate. */
const WELL_RATE = 0.05;
/** With many attempts, the latest failure must be this long ago: failures in bursts are then reported once. */
const WELL_MS = 10_000;
/** The delay between two probes doubles from the minimum to the maximum. */
const PROBE_MIN_MS = 10_000;
const PROBE_MAX_MS = 5 * 60_000;
/** A probe ends, and its outcome is recorded, before the next one is due. */
const PROBE_MARGIN_MS = 5_000;
/** Longer than a long weekend. */
const DISABLE_MS = 5 * 24 * 60 * 60_000;
const WARN_MS = DISABLE_MS / 2;
/** The least time from the warning to the end, even if rare probes made the warning late. */
const WARNED_MIN_MS = 24 * 60 * 60_000;
/** The requests per second to an endpoint that has just recovered, and how soon that rate doubles. */
const CATCH_UP_PER_SECOND = 10;
const CATCH_UP_DOUBLES_MS = 10_000;
/** After ten doublings the rate exceeds every endpoint's own limit. */
export const CATCH_UP_MS = 100_000;
/**
 * In an outage shorter than this, an ordered endpoint is probed with its oldest event alone, which preserves the order.
 * In a longer one that event may be the cause and must not hold back the others for days.
 */
export const ORDERED_PROBES_MS = 2 * 60 * 60_000;

/**
 * The clocks of two nodes differ by less. A record from further in the future was written before a clock was set back.
 */
const SET_BACK_MS = 60_000;

const plus = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString();
const since = (from: string, at: string): number => Date.parse(at) - Date.parse(from);

/** Requests per second at `atMs` to an endpoint that recovered at `wellAt`; null if only its settings limit it. */
export const catchUpRate = (wellAt: string | null, atMs: number): number | null => {
  if (wellAt === null) return null;
  const elapsed = atMs - Date.parse(wellAt);
  // A small lead is another node's clock; a large one means that this clock was set back.
  if (elapsed < 0) return elapsed < -CATCH_UP_MS ? null : CATCH_UP_PER_SECOND;
  return elapsed >= CATCH_UP_MS ? null : CATCH_UP_PER_SECOND * 2 ** (elapsed / CATCH_UP_DOUBLES_MS);
};

/** The delay before probe number `probes + 1`. */
const probeDelayMs = (probes: number): number => Math.min(PROBE_MAX_MS, PROBE_MIN_MS * 2 ** probes);

const openReason = ({ consecutiveFailures, attempts, failed }: AttemptCounts): OpenReason | null => {
  if (consecutiveFailures >= OPEN_FAILURES) return "failures-in-a-row";
  return attempts >= OPEN_ATTEMPTS_MIN && failed / attempts >= OPEN_RATE ? "failure-rate" : null;
};

const isDegraded = ({ consecutiveFailures, attempts, failed }: AttemptCounts): boolean =>
  consecutiveFailures >= DEGRADED_FAILURES || (attempts >= DEGRADED_ATTEMPTS_MIN && failed / attempts >= DEGRADED_RATE);

const isWell = ({ attempts, failed, lastFailureAt }: AttemptCounts, at: string): boolean =>
  attempts < DEGRADED_ATTEMPTS_MIN ||
  (failed / attempts < WELL_RATE && (lastFailureAt === null || since(lastFailureAt, at) >= WELL_MS));

const latest = (a: string, b: string | null): string => (b !== null && b > a ? b : a);

/** An attempt that began before the circuit opened says nothing about the endpoint's present state. */
const whileOpen = (
  endpoint_id: string,
  circuit: OpenCircuit,
  { startedAt, succeeded, notBefore }: EndedAttempt,
  at: string,
): readonly EndpointEvent[] => {
  if (startedAt < circuit.since) return [];
  if (succeeded) return [recovered(endpoint_id, circuit, at)];
  const { failingSince: failing_since, warnedAt, nextProbeAt } = circuit;
  const failingMs = since(failing_since, at);
  if (warnedAt !== null && failingMs >= DISABLE_MS && since(warnedAt, at) >= WARNED_MIN_MS) {
    const reason = `Every delivery has failed since ${failing_since}, for 5 days.`;
    return [{ type: "EndpointDisabled", data: { endpoint_id, reason, at } }];
  }
  const events: EndpointEvent[] = [];
  if (warnedAt === null && failingMs >= WARN_MS) {
    const disables_at = latest(plus(failing_since, DISABLE_MS), plus(at, WARNED_MIN_MS));
    events.push({ type: "EndpointWarned", data: { endpoint_id, failing_since, disables_at, at } });
  }
  if (notBefore !== null && notBefore > nextProbeAt)
    events.push({ type: "EndpointProbeDeferred", data: { endpoint_id, next_probe_at: notBefore, at } });
  return events;
};

const recovered = (
  endpoint_id: string,
  circuit: Exclude<Circuit, { state: "healthy" }>,
  at: string,
): EndpointEvent => ({
  type: "EndpointRecovered",
  data: { endpoint_id, from: circuit.state, since: circuit.since, at },
});

/** The events that follow from an attempt that ended at `at`. `counts` includes the attempt. */
export const afterAttempt = (
  endpoint_id: string,
  circuit: Circuit,
  { attempt, counts }: { readonly attempt: EndedAttempt; readonly counts: AttemptCounts },
  at: string,
): readonly EndpointEvent[] => {
  if (circuit.state === "open") return whileOpen(endpoint_id, circuit, attempt, at);
  const { consecutiveFailures: consecutive_failures, failingSince, attempts, failed } = counts;
  if (attempt.succeeded)
    return circuit.state === "degraded" && isWell(counts, at) ? [recovered(endpoint_id, circuit, at)] : [];
  const reason = openReason(counts);
  const about = { endpoint_id, consecutive_failures, attempts, failed };
  if (reason === null)
    return circuit.state === "healthy" && isDegraded(counts)
      ? [{ type: "EndpointDegraded", data: { ...about, at } }]
      : [];
  const failing_since = failingSince ?? at;
  const next_probe_at = latest(plus(at, probeDelayMs(0)), attempt.notBefore);
  return [{ type: "EndpointOpened", data: { ...about, reason, failing_since, next_probe_at, at } }];
};

/**
 * After a clock is set back, `nextProbeAt` may lie far in the future, and the endpoint would get nothing until then.
 */
export const isProbeDue = ({ nextProbeAt, probeRecordedAt }: OpenCircuit, at: string): boolean =>
  at >= nextProbeAt || since(at, probeRecordedAt) > SET_BACK_MS;

/**
 * Claims the next probe for one of the nodes. The record says when the probe after it is due, so that a probe is sent
 * again if its node crashes. Empty if no probe is due.
 */
export const claimProbe = (
  endpoint_id: string,
  circuit: Circuit,
  { eventId, timeoutMs }: { readonly eventId: string; readonly timeoutMs: number },
  at: string,
): readonly EndpointEvent[] => {
  if (circuit.state !== "open" || !isProbeDue(circuit, at)) return [];
  const probe = circuit.probes + 1;
  const next_probe_at = plus(at, Math.max(probeDelayMs(probe), timeoutMs + PROBE_MARGIN_MS));
  return [{ type: "EndpointProbed", data: { endpoint_id, event_id: eventId, probe, next_probe_at, at } }];
};

export const evolveCircuit = (circuit: Circuit, event: EndpointEvent): Circuit => {
  switch (event.type) {
    case "EndpointDegraded":
      return { state: "degraded", since: event.data.at };
    case "EndpointOpened": {
      const { failing_since: failingSince, next_probe_at: nextProbeAt, at } = event.data;
      const next = { nextProbeAt, probeRecordedAt: at };
      return { state: "open", since: at, failingSince, probes: 0, ...next, lastProbed: null, warnedAt: null };
    }
    case "EndpointRecovered":
    case "EndpointEnabled":
      return { state: "healthy" };
  }
  if (circuit.state !== "open") return circuit;
  switch (event.type) {
    case "EndpointProbed": {
      const { probe: probes, next_probe_at: nextProbeAt, event_id: lastProbed, at: probeRecordedAt } = event.data;
      // If a clock was set back meanwhile, the probe would appear to begin before the circuit opened, and its outcome
      // would be ignored.
      const since = probeRecordedAt < circuit.since ? probeRecordedAt : circuit.since;
      return { ...circuit, since, probes, nextProbeAt, probeRecordedAt, lastProbed };
    }
    case "EndpointProbeDeferred":
      return { ...circuit, nextProbeAt: event.data.next_probe_at, probeRecordedAt: event.data.at };
    case "EndpointWarned":
      return { ...circuit, warnedAt: event.data.at };
    case "EndpointChanged":
      // A new address may work, so it is probed at once.
      if (event.data.changes.url === undefined) return circuit;
      return { ...circuit, probes: 0, nextProbeAt: event.data.at, probeRecordedAt: event.data.at, lastProbed: null };
    default:
      return circuit;
  }
};
