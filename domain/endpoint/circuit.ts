import type { EndpointEvent, OpenReason } from "./events.ts";

/**
 * How an endpoint is, for all nodes alike. Times are ISO-8601 UTC. `open`: its events wait, and single ones find out, from
 * `nextProbeAt` on, whether it is well again.
 */
export type Circuit =
  | { readonly state: "healthy" }
  | { readonly state: "degraded"; readonly since: string }
  | {
      readonly state: "open";
      readonly since: string;
      /** Of the first of the failures in a row. */
      readonly failingSince: string;
      /** Made since it opened. */
      readonly probes: number;
      readonly nextProbeAt: string;
      /** When that was said. */
      readonly nextSaidAt: string;
      /** The event of the last of them; null before the first. */
      readonly lastProbed: string | null;
      /** When people were warned that it is about to be disabled; null before. */
      readonly warnedAt: string | null;
    };

export type OpenCircuit = Extract<Circuit, { state: "open" }>;

/** What one node has counted of an endpoint's attempts, those before it was last well again left out. */
export type Counted = {
  readonly consecutiveFailures: number;
  /** When the first of them ended; null without any. */
  readonly failingSince: string | null;
  /** When the last failure ended, whatever came behind it; null without any. */
  readonly lastFailureAt: string | null;
  /** That ended in the last `WINDOW_MS`. */
  readonly attempts: number;
  readonly failed: number;
};

/** One attempt that has ended. */
export type Seen = {
  readonly startedAt: string;
  readonly succeeded: boolean;
  /** The receiver asked (Retry-After) not to be called before; null when it did not. */
  readonly notBefore: string | null;
};

/** What the window of a rate is: long enough for a slow endpoint to be judged, short enough to notice an outage. */
export const WINDOW_MS = 5 * 60_000;
/** So many in a row are no accident. */
const OPEN_FAILURES = 10;
/** An endpoint that answers some of its requests is no better off with all of them. */
const OPEN_RATE = 0.7;
/** With fewer attempts that rate says nothing. */
const OPEN_ATTEMPTS_MIN = 20;
const DEGRADED_FAILURES = 3;
const DEGRADED_RATE = 0.1;
const DEGRADED_ATTEMPTS_MIN = 10;
/** Clearly below the rate that degrades: one on the line between is not told of again and again. */
const WELL_RATE = 0.05;
/** Of an endpoint with many attempts the last failure lies so far back: what fails in bursts is told of once, not each time. */
const WELL_MS = 10_000;
/** Between two probes, doubling. */
const PROBE_MIN_MS = 10_000;
const PROBE_MAX_MS = 5 * 60_000;
/** A probe has ended, and is written down, before the next one begins. */
const PROBE_MARGIN_MS = 5_000;
/** Whoever is on a long weekend finds the endpoint still enabled. */
const DISABLE_MS = 5 * 24 * 60 * 60_000;
const WARN_MS = DISABLE_MS / 2;
/** Between the warning and the end, also where probes were so rare that the warning came late. */
const WARNED_MIN_MS = 24 * 60 * 60_000;
/** What a receiver that has just come back gets in a second, and how soon that doubles. */
const CATCH_UP_PER_SECOND = 10;
const CATCH_UP_DOUBLES_MS = 10_000;
/** Ten doublings: what is more than any endpoint's own limit is none. */
export const CATCH_UP_MS = 100_000;
/**
 * Of an outage up to here the order is kept, where order is asked for: the oldest event alone finds out how the endpoint is.
 * In a longer one that event may be the trouble itself, and may not hold back all the others for days.
 */
export const ORDERED_PROBES_MS = 2 * 60 * 60_000;

/** The clocks of two nodes differ by less: what was written down so much later than it is now came before a clock was set back. */
const SET_BACK_MS = 60_000;

const plus = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString();
const since = (from: string, at: string): number => Date.parse(at) - Date.parse(from);

/** Requests a second that it gets at `atMs`, which was well again at `wellAt` after it got nothing; null: as its settings say. */
export const catchUpRate = (wellAt: string | null, atMs: number): number | null => {
  if (wellAt === null) return null;
  const elapsed = atMs - Date.parse(wellAt);
  // Another node's clock may be a little ahead; further ahead it was this one that was set back.
  if (elapsed < 0) return elapsed < -CATCH_UP_MS ? null : CATCH_UP_PER_SECOND;
  return elapsed >= CATCH_UP_MS ? null : CATCH_UP_PER_SECOND * 2 ** (elapsed / CATCH_UP_DOUBLES_MS);
};

/** From the end of the opening, or the beginning of probe number `probes`, to the next one. */
const probeDelayMs = (probes: number): number => Math.min(PROBE_MAX_MS, PROBE_MIN_MS * 2 ** probes);

const openReason = ({ consecutiveFailures, attempts, failed }: Counted): OpenReason | null => {
  if (consecutiveFailures >= OPEN_FAILURES) return "failures-in-a-row";
  return attempts >= OPEN_ATTEMPTS_MIN && failed / attempts >= OPEN_RATE ? "failure-rate" : null;
};

const isDegraded = ({ consecutiveFailures, attempts, failed }: Counted): boolean =>
  consecutiveFailures >= DEGRADED_FAILURES || (attempts >= DEGRADED_ATTEMPTS_MIN && failed / attempts >= DEGRADED_RATE);

const isWell = ({ attempts, failed, lastFailureAt }: Counted, at: string): boolean =>
  attempts < DEGRADED_ATTEMPTS_MIN ||
  (failed / attempts < WELL_RATE && (lastFailureAt === null || since(lastFailureAt, at) >= WELL_MS));

const latest = (a: string, b: string | null): string => (b !== null && b > a ? b : a);

/** While it is open: an attempt that began before says nothing of how it is now. */
const whileOpen = (
  endpoint_id: string,
  circuit: OpenCircuit,
  { startedAt, succeeded, notBefore }: Seen,
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

/** What follows from an attempt that has ended at `at` and from what was counted with it. */
export const afterAttempt = (
  endpoint_id: string,
  circuit: Circuit,
  seen: Seen,
  counted: Counted,
  at: string,
): readonly EndpointEvent[] => {
  if (circuit.state === "open") return whileOpen(endpoint_id, circuit, seen, at);
  const { consecutiveFailures: consecutive_failures, failingSince, attempts, failed } = counted;
  if (seen.succeeded)
    return circuit.state === "degraded" && isWell(counted, at) ? [recovered(endpoint_id, circuit, at)] : [];
  const reason = openReason(counted);
  const about = { endpoint_id, consecutive_failures, attempts, failed };
  if (reason === null)
    return circuit.state === "healthy" && isDegraded(counted)
      ? [{ type: "EndpointDegraded", data: { ...about, at } }]
      : [];
  const failing_since = failingSince ?? at;
  const next_probe_at = latest(plus(at, probeDelayMs(0)), seen.notBefore);
  return [{ type: "EndpointOpened", data: { ...about, reason, failing_since, next_probe_at, at } }];
};

/** On a clock that was set back it would be due only when that has caught up, and the endpoint get nothing until then. */
export const isProbeDue = ({ nextProbeAt, nextSaidAt }: OpenCircuit, at: string): boolean =>
  at >= nextProbeAt || since(at, nextSaidAt) > SET_BACK_MS;

/**
 * Takes the turn to probe, for one node of all: it says when the next one is, so that a probe whose node died is made again.
 * Nothing when it is not due.
 */
export const probing = (
  endpoint_id: string,
  circuit: Circuit,
  event_id: string,
  timeoutMs: number,
  at: string,
): readonly EndpointEvent[] => {
  if (circuit.state !== "open" || !isProbeDue(circuit, at)) return [];
  const probe = circuit.probes + 1;
  const next_probe_at = plus(at, Math.max(probeDelayMs(probe), timeoutMs + PROBE_MARGIN_MS));
  return [{ type: "EndpointProbed", data: { endpoint_id, event_id, probe, next_probe_at, at } }];
};

/** The circuit behind an event of the endpoint; those that are not about it leave it as it is. */
export const circuitAfter = (circuit: Circuit, event: EndpointEvent): Circuit => {
  switch (event.type) {
    case "EndpointDegraded":
      return { state: "degraded", since: event.data.at };
    case "EndpointOpened": {
      const { failing_since: failingSince, next_probe_at: nextProbeAt, at } = event.data;
      const next = { nextProbeAt, nextSaidAt: at };
      return { state: "open", since: at, failingSince, probes: 0, ...next, lastProbed: null, warnedAt: null };
    }
    case "EndpointRecovered":
    case "EndpointEnabled":
      return { state: "healthy" };
  }
  if (circuit.state !== "open") return circuit;
  switch (event.type) {
    case "EndpointProbed": {
      const { probe: probes, next_probe_at: nextProbeAt, event_id: lastProbed, at: nextSaidAt } = event.data;
      // By a clock that was set back meanwhile the probe began before the circuit opened, and would say nothing of it.
      const since = nextSaidAt < circuit.since ? nextSaidAt : circuit.since;
      return { ...circuit, since, probes, nextProbeAt, nextSaidAt, lastProbed };
    }
    case "EndpointProbeDeferred":
      return { ...circuit, nextProbeAt: event.data.next_probe_at, nextSaidAt: event.data.at };
    case "EndpointWarned":
      return { ...circuit, warnedAt: event.data.at };
    case "EndpointChanged":
      // Somewhere else it may be well: nobody has to wait to find out.
      if (event.data.changes.url === undefined) return circuit;
      return { ...circuit, probes: 0, nextProbeAt: event.data.at, nextSaidAt: event.data.at, lastProbed: null };
    default:
      return circuit;
  }
};
