import { iso } from "../../domain/calendar.ts";
import { isProbeDue, ORDERED_PROBES_MS } from "../../domain/endpoint/circuit.ts";
import { endpoint as endpointDecider, type PresentEndpoint, takesDeliveries } from "../../domain/endpoint/decider.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { QuietPoll } from "../following/quiet-poll.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import type { Backlog } from "./backlog.ts";
import { type EndpointLane, isOrdered } from "./endpoint-lane.ts";
import type { Intake } from "./intake.ts";
import { LANE_MAX, type Lanes, RUNNING_MAX } from "./lanes.ts";
import { type LookTimer, POLL_MS } from "./look-timer.ts";

export const LOOK_GAP_MS = 50;
/** A look at the disk may take long, but one that has not ended by then hangs: the deliverer is unhealthy. */
const LOOK_AGE_MAX_MS = 30_000;
const ENDPOINTS_A_LOOK = 500;
const DELIVERIES_A_LOOK = LANE_MAX + RUNNING_MAX;
const NEVER = Number.POSITIVE_INFINITY;
const NOTHING: ReadonlySet<string> = new Set();

export type DiskRoundsDeps = {
  readonly aggregates: Pick<Aggregates, "load">;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly othersAreGone: boolean;
  readonly backlog: Backlog;
  readonly lanes: Lanes;
  readonly intake: Intake;
  readonly looks: LookTimer;
  readonly onError: (error: unknown) => void;
};

/** Fills the lanes endpoint by endpoint, so that a long queue does not hide a short one. */
export class DiskRounds {
  readonly #deps: DiskRoundsDeps;
  readonly #poll = new QuietPoll(POLL_MS);
  #isLooking = false;
  #lastEndpoint = "";
  /** Whether the last look found an endpoint with deliveries. */
  #hasFound = false;
  readonly #found = new Set<string>();
  /** Time of the last completed look; until then, of the start. Null before the start and after a failed look. */
  #lookedAt: number | null = null;

  constructor(deps: DiskRoundsDeps) {
    this.#deps = deps;
  }

  get isLooking(): boolean {
    return this.#isLooking;
  }

  start(): void {
    this.#lookedAt = this.#deps.clock.now();
    this.#deps.looks.lookIn(0);
  }

  healthy(): boolean {
    return this.#lookedAt !== null && this.#deps.clock.now() - this.#lookedAt < LOOK_AGE_MAX_MS;
  }

  /** Records were appended, perhaps by another process, so that there may be a delivery on disk. */
  appended(): void {
    if (this.#poll.ms > POLL_MS) this.#deps.looks.lookIn(POLL_MS);
    this.#poll.isBusy();
  }

  async look(): Promise<void> {
    const { clock, lanes, looks, onError } = this.#deps;
    if (this.#isLooking) return;
    this.#isLooking = true;
    let soonest = NEVER;
    try {
      soonest = await this.#fillLanes();
      if (this.#hasFound || lanes.running > 0) this.#poll.isBusy();
      else this.#poll.foundNothing();
      this.#lookedAt = clock.now();
    } catch (error) {
      this.#lookedAt = null;
      onError(error);
    }
    this.#isLooking = false;
    const now = clock.now();
    looks.lookAt(Math.min(Math.max(soonest, now + LOOK_GAP_MS), now + this.#poll.ms));
  }

  async #fillLanes(): Promise<number> {
    const { backlog, clock } = this.#deps;
    let soonest = NEVER;
    this.#hasFound = false;
    for (let looked = 0; looked < ENDPOINTS_A_LOOK; looked += 1) {
      const next = await backlog.endpointAfter(this.#lastEndpoint);
      this.#lastEndpoint = next ?? "";
      if (next === null) {
        await this.#releaseLanes();
        return soonest;
      }
      this.#found.add(next);
      this.#hasFound = true;
      soonest = Math.min(soonest, await this.#fillLane(next));
    }
    return clock.now() + LOOK_GAP_MS;
  }

  /** Returns when a delivery of the endpoint falls due next, in ms since 1970; Infinity if no such time is known. */
  async #fillLane(endpointId: string): Promise<number> {
    const { aggregates, backlog, intake, lanes, othersAreGone } = this.#deps;
    const { state } = await aggregates.load(endpointDecider, `endpoint-${endpointId}`);
    if (state.phase === "present") {
      intake.see(endpointId, state);
      if (!takesDeliveries(state)) return this.#fillClosed(endpointId, state);
    }
    const lane = lanes.find(endpointId);
    if (lane !== undefined && lane.waiting.length > LANE_MAX / 2) return NEVER;
    if (lane !== undefined && state.phase === "present" && isOrdered(state)) return this.#fillInOrder(lane, state);
    const look = await backlog.due(endpointId, DELIVERIES_A_LOOK);
    // The lane may have been made, or have become idle, during the read, so it is looked up once more.
    const filling = lanes.find(endpointId);
    if (filling !== undefined && lanes.isBusy(filling)) lanes.setMoreOnDisk(filling, look.listed === null);
    intake.queueAll(othersAreGone ? look.jobs : this.#shuffled(look.jobs));
    return look.soonest;
  }

  async #fillClosed(endpointId: string, state: PresentEndpoint): Promise<number> {
    const { backlog, intake } = this.#deps;
    const { jobs, soonest } = await backlog.undos(endpointId, DELIVERIES_A_LOOK);
    intake.queueAll(jobs);
    return Math.min(soonest, await this.#fillProbe(endpointId, state));
  }

  /** A failed probe may be the event's fault, so the next probe sends another event, as far as the order allows. */
  async #fillProbe(endpointId: string, state: PresentEndpoint): Promise<number> {
    const { clock, backlog, lanes } = this.#deps;
    const { disabled, circuit } = state;
    if (disabled !== null || circuit.state !== "open") return NEVER;
    const { nextProbeAt, lastProbed, since } = circuit;
    const now = clock.now();
    if (!isProbeDue(circuit, iso(now))) return Date.parse(nextProbeAt);
    const isRefused = lanes.find(endpointId)?.refusedProbe === lastProbed;
    const mayPass = !isOrdered(state) || isRefused || now - Date.parse(since) >= ORDERED_PROBES_MS;
    const job = await backlog.toProbe(endpointId, state, mayPass ? lastProbed : null);
    if (job !== null) lanes.put(job);
    return NEVER;
  }

  async #fillInOrder(lane: EndpointLane, state: PresentEndpoint): Promise<number> {
    const { backlog, intake } = this.#deps;
    const hadMore = lane.hasMoreOnDisk;
    const look = await backlog.inOrder(lane.endpointId, state, DELIVERIES_A_LOOK);
    const isFull = !intake.queueAll(look.jobs);
    if (hadMore && !isFull && look.listed !== null && (await backlog.isWhole())) intake.joinOverflow(lane, look.listed);
    return look.soonest;
  }

  /** If a whole round found no delivery of a lane, the lane has none left on disk: other nodes have sent them. */
  async #releaseLanes(): Promise<void> {
    const { backlog, intake, lanes } = this.#deps;
    const hasMore = [...lanes.busy()].some(({ hasMoreOnDisk }) => hasMoreOnDisk);
    if (hasMore && (await backlog.isWhole()))
      for (const lane of lanes.busy()) {
        const isEmpty = lane.waiting.length === 0 && lane.running === 0;
        if (lane.hasMoreOnDisk && isEmpty && !this.#found.has(lane.endpointId)) intake.joinOverflow(lane, NOTHING);
      }
    this.#found.clear();
  }

  /** Nodes that see the same list take it in different orders: wanting the same delivery costs the loser an append. */
  #shuffled<T>(list: readonly T[]): readonly T[] {
    return list
      .map((item) => ({ item, order: this.#deps.randomness.number() }))
      .sort((a, b) => a.order - b.order)
      .map(({ item }) => item);
  }
}
