import { type Endpoint, type PresentEndpoint, takesDeliveries } from "../../domain/endpoint/decider.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import { type EndpointLane, isOrdered } from "./endpoint-lane.ts";
import { bypassesCircuit, type Job } from "./job.ts";
import type { Lanes } from "./lanes.ts";
import type { LookTimer } from "./look-timer.ts";

type IntakeDeps = { readonly lanes: Lanes; readonly looks: LookTimer; readonly clock: Clock };

/**
 * Decides which jobs an endpoint may have in memory. An endpoint that takes nothing, and one with `concurrency: 1` that has
 * older events on disk, have theirs on disk, where they are found in order.
 */
export class Intake {
  readonly #lanes: Lanes;
  readonly #looks: LookTimer;
  readonly #clock: Clock;

  constructor({ lanes, looks, clock }: IntakeDeps) {
    this.#lanes = lanes;
    this.#looks = looks;
    this.#clock = clock;
  }

  /**
   * Takes the endpoint's newest state into its lane and returns the one before; null when it is seen for the first time.
   * `job` is the one about to be sent, if any: it is left to the disk with the others.
   */
  see(endpointId: string, state: PresentEndpoint, job?: Job): PresentEndpoint | null {
    const lane = this.#lanes.of({ endpointId, account: state.account });
    const before = lane.seen;
    lane.seen = state;
    if (before === state) return before;
    const takes = takesDeliveries(state);
    // What was admitted before this process saw an endpoint for the first time may be on disk.
    const took = before === null ? !isOrdered(state) : takesDeliveries(before);
    // What waited on disk in the meantime is older than what is offered from now on.
    const hasOlderOnDisk = isOrdered(state) && (before === null || (takes && !took));
    if (hasOlderOnDisk || (took && !takes)) this.#leaveToDisk(lane, takes && before !== null ? undefined : job);
    if (takes) lane.refusedProbe = null;
    if (takes && !took) this.#looks.lookIn(0);
    if (state.circuit.state === "open") this.#looks.lookAt(Date.parse(state.circuit.nextProbeAt));
    return before;
  }

  /** Whether the job may be sent to the endpoint as it is; otherwise it is found on disk again. */
  maySend(job: Job, endpoint: Endpoint): boolean {
    // Without an endpoint the delivery has to end.
    if (endpoint.phase !== "present") return true;
    const before = this.see(job.endpointId, endpoint, job);
    if (endpoint.disabled !== null) return job.kind === "undo";
    if (endpoint.circuit.state === "open") return job.kind === "probe" || bypassesCircuit(job);
    return before !== null || !isOrdered(endpoint);
  }

  /** Whether an offered job may wait in memory; otherwise it waits on disk or, in order, among the arrivals. */
  mayQueue(job: Job): boolean {
    const lane = this.#lanes.find(job.endpointId);
    const state = lane?.seen ?? null;
    if (lane === undefined || state === null || bypassesCircuit(job)) return true;
    if (!takesDeliveries(state)) {
      lane.arrivals.miss(job.eventId, this.#clock.now());
      return false;
    }
    if (!isOrdered(state) || !lane.hasMoreOnDisk) return true;
    const { body: _body, known: _known, ...lean } = job;
    lane.arrivals.add(lean, this.#clock.now());
    return false;
  }

  /** False when the lane of one of them was full. */
  queueAll(jobs: readonly Job[]): boolean {
    let areTaken = true;
    for (const job of jobs) {
      const lane = this.#lanes.find(job.endpointId);
      if (lane !== undefined && this.#lanes.isFull(lane)) areTaken = false;
      this.#lanes.put(job);
    }
    return areTaken;
  }

  /** Queues the arrivals after all that was on disk (`listed`), once none is missing; new offers are queued after those. */
  joinArrivals(lane: EndpointLane, listed: ReadonlySet<string>): void {
    const later = lane.arrivals.take(listed, this.#clock.now());
    if (later === null) return;
    this.#lanes.setMoreOnDisk(lane, false);
    this.queueAll(later);
  }

  #leaveToDisk(lane: EndpointLane, job: Job | undefined): void {
    const newest = this.#lanes.leaveToDisk(lane) ?? job;
    if (newest !== undefined) lane.arrivals.miss(newest.eventId, this.#clock.now());
  }
}
