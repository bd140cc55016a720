import { LRUCache } from "lru-cache";
import type { Clock } from "../../domain/ports/clock.ts";
import type { Timers } from "../following/timers.ts";
import { EndpointLane } from "./endpoint-lane.ts";
import { bypassesCircuit, type Job, type JobKey } from "./job.ts";

/** The most requests under way to all receivers together, which bounds sockets and bodies in memory. */
export const RUNNING_MAX = 512;
export const LANE_MAX = 2_048;
/** The most jobs waiting, some hundred bytes each. An endpoint may have at most as many as it leaves to the others. */
export const WAITING_MAX = 65_536;
/** An endpoint always has room for this many, so it goes on while many others hang. */
export const LANE_MIN = 32;
/** Bytes of the bodies of waiting jobs; any further body is dropped, and read from the log when its turn comes. */
const BODY_BYTES_MAX = 32 * 1_048_576;
/** Waiting jobs that keep their delivery's state, some kilobytes each; for further jobs it is read from the log. */
const KNOWN_MAX = 16_384;
/** Idle lanes that are remembered. A forgotten endpoint starts anew as one that was never seen. */
const IDLE_MAX = 10_000;

/** Endpoints take turns, so that a slow receiver fills its own lane and no other. */
export class Lanes {
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #busy = new Map<string, EndpointLane>();
  readonly #idle = new LRUCache<string, EndpointLane>({ max: IDLE_MAX });
  /** Lanes that may have a job to take, in the order of their turns. */
  readonly #ready = new Set<EndpointLane>();
  readonly #eventIds = new Set<string>();
  readonly #runningIds = new Set<string>();
  readonly #runningByAccount = new Map<string, number>();
  /** By account, lanes without room although nothing of theirs runs: their account had too much under way. */
  readonly #asideByAccount = new Map<string, Set<EndpointLane>>();
  #waiting = 0;
  #bodyBytes = 0;

  constructor(clock: Clock, timers: Timers) {
    this.#clock = clock;
    this.#timers = timers;
  }

  get running(): number {
    return this.#runningIds.size;
  }

  get waiting(): number {
    return this.#waiting;
  }

  runningOf(account: string): number {
    return this.#runningByAccount.get(account) ?? 0;
  }

  isRunning(eventId: string): boolean {
    return this.#runningIds.has(eventId);
  }

  busy(): Iterable<EndpointLane> {
    return this.#busy.values();
  }

  find(endpointId: string): EndpointLane | undefined {
    return this.#busy.get(endpointId) ?? this.#idle.get(endpointId);
  }

  of(key: Pick<JobKey, "endpointId" | "account">): EndpointLane {
    const found = this.find(key.endpointId);
    if (found !== undefined) return found;
    const lane = new EndpointLane(key, this.#clock, this.#timers);
    this.#rest(lane);
    return lane;
  }

  isFull({ waiting }: EndpointLane): boolean {
    return waiting.length >= Math.max(LANE_MIN, Math.min(LANE_MAX, WAITING_MAX - this.#waiting));
  }

  /** False if the lane or memory is full, or already has the event. A job that is left out is found on disk later. */
  put(job: Job): boolean {
    if (this.#eventIds.has(job.eventId)) return false;
    const lane = this.of(job);
    if (this.isFull(lane)) {
      this.setMoreOnDisk(lane, true);
      return false;
    }
    this.#eventIds.add(job.eventId);
    lane.waiting.push(this.#withinMemory(lane, job));
    this.#waiting += 1;
    this.#wakeUp(lane);
    this.#ready.add(lane);
    return true;
  }

  /** False if the lane has other jobs, which go first, or already has the event. */
  mayBegin(lane: EndpointLane, eventId: string): boolean {
    return lane.waiting.length === 0 && !lane.hasMoreOnDisk && !this.#eventIds.has(eventId);
  }

  /** Begins a job that has not waited, which `mayBegin` allows. */
  begin(lane: EndpointLane, job: Job): void {
    this.#eventIds.add(job.eventId);
    this.#run(lane, job);
    this.#wakeUp(lane);
  }

  take(hasRoom: (lane: EndpointLane) => boolean): Job | null {
    for (const lane of this.#ready) {
      this.#ready.delete(lane);
      if (lane.waiting.length === 0) continue;
      // A lane without room is ready again when a job of its endpoint or account is done, or by the timer of its rate.
      if (!hasRoom(lane)) {
        if (lane.running === 0) this.#leaveAside(lane);
        continue;
      }
      const job = lane.waiting.shift();
      if (job === undefined) continue;
      if (lane.waiting.length > 0) this.#ready.add(lane);
      this.#run(lane, job);
      this.#forgetWaiting(lane, job);
      return job;
    }
    return null;
  }

  done(job: Job): void {
    this.#eventIds.delete(job.eventId);
    if (this.#runningIds.delete(job.eventId)) this.#countRunning(job.account, -1);
    for (const lane of this.#asideByAccount.get(job.account) ?? []) this.#ready.add(lane);
    this.#asideByAccount.delete(job.account);
    const lane = this.#busy.get(job.endpointId);
    if (lane === undefined) return;
    lane.running -= 1;
    if (lane.waiting.length > 0) this.#ready.add(lane);
    else this.#rest(lane);
  }

  leaveToDisk(lane: EndpointLane): Job | undefined {
    const waiting = lane.waiting.splice(0);
    let newest: Job | undefined;
    for (const job of waiting) {
      if (bypassesCircuit(job)) {
        lane.waiting.push(job);
        continue;
      }
      newest = job;
      this.#eventIds.delete(job.eventId);
      this.#forgetWaiting(lane, job);
    }
    this.wake(lane);
    this.setMoreOnDisk(lane, true);
    return newest;
  }

  setMoreOnDisk(lane: EndpointLane, hasMore: boolean): void {
    lane.hasMoreOnDisk = hasMore;
    if (hasMore) this.#wakeUp(lane);
    else this.#rest(lane);
  }

  isBusy({ endpointId }: EndpointLane): boolean {
    return this.#busy.has(endpointId);
  }

  wake(lane: EndpointLane): void {
    if (lane.waiting.length > 0) this.#ready.add(lane);
  }

  #run(lane: EndpointLane, job: Job): void {
    lane.running += 1;
    this.#runningIds.add(job.eventId);
    this.#countRunning(job.account, 1);
  }

  #wakeUp(lane: EndpointLane): void {
    if (this.#idle.delete(lane.endpointId)) this.#busy.set(lane.endpointId, lane);
  }

  /** Makes the lane idle if it has nothing to do; the lane that was idle longest may be forgotten. */
  #rest(lane: EndpointLane): void {
    if (lane.waiting.length > 0 || lane.running > 0 || lane.hasMoreOnDisk) return;
    this.#busy.delete(lane.endpointId);
    this.#idle.set(lane.endpointId, lane);
  }

  /** Drops a body or state that memory has no room for. An endpoint's bodies take at most what they leave to others. */
  #withinMemory(lane: EndpointLane, job: Job): Job {
    let lean = job;
    const bytes = job.body?.length ?? 0;
    if (lane.bodyBytes + bytes <= BODY_BYTES_MAX - this.#bodyBytes) this.#countBytes(lane, bytes);
    else {
      const { body: _body, ...withoutBody } = lean;
      lean = withoutBody;
    }
    if (this.#waiting >= KNOWN_MAX) {
      const { known: _known, ...withoutState } = lean;
      lean = withoutState;
    }
    return lean;
  }

  #forgetWaiting(lane: EndpointLane, job: Job): void {
    this.#waiting -= 1;
    this.#countBytes(lane, -(job.body?.length ?? 0));
  }

  #countBytes(lane: EndpointLane, bytes: number): void {
    this.#bodyBytes += bytes;
    lane.bodyBytes += bytes;
  }

  #leaveAside(lane: EndpointLane): void {
    const aside = this.#asideByAccount.get(lane.account);
    if (aside === undefined) this.#asideByAccount.set(lane.account, new Set([lane]));
    else aside.add(lane);
  }

  #countRunning(account: string, more: 1 | -1): void {
    const count = this.runningOf(account) + more;
    if (count > 0) this.#runningByAccount.set(account, count);
    else this.#runningByAccount.delete(account);
  }
}
