import { type Endpoint, type PresentEndpoint, takesDeliveries } from "../../domain/endpoint/decider.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import { type EndpointLane, isOrdered } from "./endpoint-lane.ts";
import { bypassesCircuit, type Job } from "./job.ts";
import type { Lanes } from "./lanes.ts";
import type { LookTimer } from "./look-timer.ts";

type IntakeDeps = { readonly lanes: Lanes; readonly looks: LookTimer; readonly clock: Clock };

/**
 * Decides whether a job may wait in its lane, and whether it may be sent. While an endpoint is disabled or its circuit is
 * open, its jobs wait on disk; while an ordered endpoint has older events on disk, newer jobs wait in the ordered overflow.
 * Replays and undos need not wait.
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

  /** Returns the state seen before, or null. `job`, about to be sent, may be left to the disk with the waiting jobs. */
  see(endpointId: string, state: PresentEndpoint, job?: Job): PresentEndpoint | null {
    const lane = this.#lanes.of({ endpointId, account: state.account });
    const before = lane.seen;
    lane.seen = state;
    if (before === state) return before;
    const takes = takesDeliveries(state);
    // An ordered endpoint may have events on disk from before this process first saw it, and they go first.
    const took = before === null ? !isOrdered(state) : takesDeliveries(before);
    const hasOlderOnDisk = isOrdered(state) && (before === null || (takes && !took));
    if (hasOlderOnDisk || (took && !takes)) this.#leaveToDisk(lane, takes && before !== null ? undefined : job);
    if (takes) lane.refusedProbe = null;
    if (takes && !took) this.#looks.lookIn(0);
    if (state.circuit.state === "open") this.#looks.lookAt(Date.parse(state.circuit.nextProbeAt));
    return before;
  }

  maySend(job: Job, endpoint: Endpoint): boolean {
    if (endpoint.phase !== "present") return true;
    const before = this.see(job.endpointId, endpoint, job);
    if (endpoint.disabled !== null) return job.kind === "undo";
    if (endpoint.circuit.state === "open") return job.kind === "probe" || bypassesCircuit(job);
    return before !== null || !isOrdered(endpoint);
  }

  /** False if the job has to wait on disk or in the ordered overflow, and not in its lane. */
  mayQueue(job: Job): boolean {
    const lane = this.#lanes.find(job.endpointId);
    const state = lane?.seen ?? null;
    if (lane === undefined || state === null || bypassesCircuit(job)) return true;
    if (!takesDeliveries(state)) {
      lane.overflow.miss(job.eventId, this.#clock.now());
      return false;
    }
    if (!isOrdered(state) || !lane.hasMoreOnDisk) return true;
    const { body: _body, known: _known, ...lean } = job;
    lane.overflow.add(lean, this.#clock.now());
    return false;
  }

  queueAll(jobs: readonly Job[]): boolean {
    let areTaken = true;
    for (const job of jobs) {
      const lane = this.#lanes.find(job.endpointId);
      if (lane !== undefined && this.#lanes.isFull(lane)) areTaken = false;
      this.#lanes.put(job);
    }
    return areTaken;
  }

  /** Queues the overflow after the disk's events, which are `listed`, unless an event may be missing from both. */
  joinOverflow(lane: EndpointLane, listed: ReadonlySet<string>): void {
    const later = lane.overflow.take(listed, this.#clock.now());
    if (later === null) return;
    this.#lanes.setMoreOnDisk(lane, false);
    this.queueAll(later);
  }

  #leaveToDisk(lane: EndpointLane, job: Job | undefined): void {
    const newest = this.#lanes.leaveToDisk(lane) ?? job;
    if (newest !== undefined) lane.overflow.miss(newest.eventId, this.#clock.now());
  }
}
