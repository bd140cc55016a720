import type { EndpointEvent, OpenReason } from "./events.ts";

/** All nodes share the circuit. While it is open, events wait, and single probes are sent from `nextProbeAt` on. */
export type Circuit =
  | { readonly state: "healthy" }
  | { readonly state: "degraded"; readonly since: string }
  | {
      readonly state: "open";
      readonly since: string;
      /** When the first of the consecutive failures ended. */
      readonly failingSince: string;
      readonly probes: number;
      readonly nextProbeAt: string;
      readonly probeRecordedAt: string;
      readonly lastProbed: string | null;
      readonly warnedAt: string | null;
    };

export type OpenCircuit = Extract<Circuit, { state: "open" }>;

/** What one node has counted since the endpoint last recovered; `attempts` and `failed` in the last five minutes. */
export type AttemptCounts = {
  readonly consecutiveFailures: number;
  readonly failingSince: string | null;
  readonly lastFailureAt: string | null;
  readonly attempts: number;
  readonly failed: number;
};

export type EndedAttempt = {
  readonly startedAt: string;
  readonly succeeded: boolean;
  readonly notBefore: string | null;
};

/** Five minutes are enough to judge a slow endpoint, and few enough to notice an outage soon. */
export const WINDOW_MS = 5 * 60_000;
const OPEN_FAILURES = 10;
/** From this share of failures on the circuit opens: the endpoint would not recover under all its requests. */
const OPEN_RATE = 0.7;
const OPEN_ATTEMPTS_MIN = 20;
const DEGRADED_FAILURES = 3;
const DEGRADED_RATE = 0.1;
const DEGRADED_ATTEMPTS_MIN = 10;
/** An endpoint near the degrading rate must not alternate, so it recovers at a far lower rate of failures. */
const WELL_RATE = 0.05;
/** A degraded endpoint recovers this long after its last failure, so that failures in bursts are reported once. */
const WELL_MS = 10_000;
const PROBE_MIN_MS = 10_000;
const PROBE_MAX_MS = 5 * 60_000;
/** The next probe is due this long after a probe's timeout, so that the outcome is recorded by then. */
const PROBE_MARGIN_MS = 5_000;
const DISABLE_MS = 5 * 24 * 60 * 60_000;
const WARN_MS = DISABLE_MS / 2;
/** This time always passes between the warning and the disabling, even if rare probes delay the warning. */
const WARNED_MIN_MS = 24 * 60 * 60_000;
const CATCH_UP_PER_SECOND = 10;
const CATCH_UP_DOUBLES_MS = 10_000;
/** How long a recovered endpoint catches up: after ten doublings the rate exceeds every endpoint's own limit. */
export const CATCH_UP_MS = 100_000;
/**
 * For this long only the oldest event of an ordered endpoint is sent as a probe. After it other events are tried too,
 * as the oldest may be the cause of the failures.
 */
export const ORDERED_PROBES_MS = 2 * 60 * 60_000;

/** A record that is further in the future than this was written before a clock was set back. */
const SET_BACK_MS = 60_000;

const plus = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString();
const since = (from: string, at: string): number => Date.parse(at) - Date.parse(from);

/** Requests per second to an endpoint that recovered at `wellAt`; null if only its settings limit it. */
export const catchUpRate = (wellAt: string | null, atMs: number): number | null => {
  if (wellAt === null) return null;
  const elapsed = atMs - Date.parse(wellAt);
  // `wellAt` lies a little ahead if another node's clock does, and far ahead if this clock was set back.
  if (elapsed < 0) return elapsed < -CATCH_UP_MS ? null : CATCH_UP_PER_SECOND;
  return elapsed >= CATCH_UP_MS ? null : CATCH_UP_PER_SECOND * 2 ** (elapsed / CATCH_UP_DOUBLES_MS);
};

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

/** A probe is due at once if a clock was set back: `nextProbeAt` may lie so far ahead that nothing would be sent. */
export const isProbeDue = ({ nextProbeAt, probeRecordedAt }: OpenCircuit, at: string): boolean =>
  at >= nextProbeAt || since(at, probeRecordedAt) > SET_BACK_MS;

/** The record says when the next probe is due, so the crash of a node that probes only delays the recovery. */
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
      // After a clock was set back, the outcome of a probe that began before `since` would be ignored.
      const since = probeRecordedAt < circuit.since ? probeRecordedAt : circuit.since;
      return { ...circuit, since, probes, nextProbeAt, probeRecordedAt, lastProbed };
    }
    case "EndpointProbeDeferred":
      return { ...circuit, nextProbeAt: event.data.next_probe_at, probeRecordedAt: event.data.at };
    case "EndpointWarned":
      return { ...circuit, warnedAt: event.data.at };
    case "EndpointChanged":
      // A new address may work at once, so the next probe is due immediately.
      if (event.data.changes.url === undefined) return circuit;
      return { ...circuit, probes: 0, nextProbeAt: event.data.at, probeRecordedAt: event.data.at, lastProbed: null };
    default:
      return circuit;
  }
};
