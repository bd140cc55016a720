/** A delivery that is known to be due. What is left out is read from the log when its turn comes. */
export type Job = {
  readonly eventId: string;
  readonly account: string;
  readonly endpointId: string;
  /** Somebody has asked for this one event now: it is a probe of an endpoint that takes nothing else, and waits for no order. */
  readonly trigger?: "replay";
};

/** Jobs that one endpoint may have waiting in memory; the rest waits on disk, in the log and its `delivery-queue` view. */
export const LANE_MAX = 2_048;
/** Jobs of all endpoints together, at some hundred bytes each. As with requests, none has more than it leaves to the others. */
export const WAITING_MAX = 65_536;
/** An endpoint has these whatever the others have waiting: it goes on while many hang. */
export const LANE_MIN = 32;

export type Lane<J extends Job> = {
  readonly endpointId: string;
  readonly account: string;
  readonly waiting: J[];
  running: number;
  /** More of them are on disk than were taken, or may be. */
  overflowed: boolean;
  /** Of the bodies that wait with the jobs. */
  bodyBytes: number;
};

export type Lanes<J extends Job> = {
  /** False when the endpoint's lane, or memory, is full or the job is already known here: it is found again on disk. */
  put(job: J): boolean;
  /** The next job whose endpoint has room, endpoints taking turns. `room` says how many more an endpoint may run. */
  take(room: (lane: Lane<J>) => number): J | null;
  done(job: J): void;
  /** Forgets what waits for an endpoint, and answers it: it is on disk, and so is what comes until somebody has looked. */
  hold(endpointId: string, account: string): readonly J[];
  /** Whether the endpoint's lane takes no more. */
  isFull(endpointId: string): boolean;
  /** Nothing of the endpoint is on disk any more: its lane goes when nothing is in it either. */
  letGo(endpointId: string): void;
  /** The lane may have room again. */
  wake(lane: Lane<J>): void;
  lane(endpointId: string): Lane<J> | undefined;
  /** Whether a job of this event was taken and is not done. */
  isRunning(eventId: string): boolean;
  all(): IterableIterator<Lane<J>>;
  readonly running: () => number;
  /** Of all endpoints of an account. */
  runningOf(account: string): number;
  readonly waiting: () => number;
};

/** One lane an endpoint, served in turn: a slow receiver fills its own lane and no other. */
export const lanes = <J extends Job>(): Lanes<J> => {
  const byEndpoint = new Map<string, Lane<J>>();
  /** Lanes that may have something to take, in the order in which they get their turn. */
  const ready = new Set<Lane<J>>();
  const known = new Set<string>();
  const runningIds = new Set<string>();
  const runningByAccount = new Map<string, number>();
  /** By account, lanes that had no room although nothing of theirs runs: their account had too much under way. */
  const asideByAccount = new Map<string, Set<Lane<J>>>();
  let waiting = 0;

  const laneOf = (endpointId: string, account: string): Lane<J> => {
    let lane = byEndpoint.get(endpointId);
    if (lane === undefined) {
      lane = { endpointId, account, waiting: [], running: 0, overflowed: false, bodyBytes: 0 };
      byEndpoint.set(endpointId, lane);
    }
    return lane;
  };

  const isFull = ({ waiting: own }: Lane<J>): boolean =>
    own.length >= Math.max(LANE_MIN, Math.min(LANE_MAX, WAITING_MAX - waiting));

  /** One that is held, or has more on disk, says so as long as it is there. */
  const forget = (lane: Lane<J>): void => {
    if (lane.waiting.length === 0 && lane.running === 0 && !lane.overflowed) byEndpoint.delete(lane.endpointId);
  };

  const leaveAside = (lane: Lane<J>): void => {
    const aside = asideByAccount.get(lane.account);
    if (aside === undefined) asideByAccount.set(lane.account, new Set([lane]));
    else aside.add(lane);
  };

  const countRunning = (account: string, more: 1 | -1): void => {
    const count = (runningByAccount.get(account) ?? 0) + more;
    if (count > 0) runningByAccount.set(account, count);
    else runningByAccount.delete(account);
  };

  return {
    put(job) {
      if (known.has(job.eventId)) return false;
      const lane = laneOf(job.endpointId, job.account);
      if (isFull(lane)) {
        lane.overflowed = true;
        return false;
      }
      known.add(job.eventId);
      lane.waiting.push(job);
      ready.add(lane);
      waiting += 1;
      return true;
    },
    take(room) {
      for (const lane of ready) {
        ready.delete(lane);
        if (lane.waiting.length === 0) continue;
        // Without room it comes back by `done` of a job of its own or its account, or by the timer of its rate.
        if (room(lane) <= 0) {
          if (lane.running === 0) leaveAside(lane);
          continue;
        }
        const job = lane.waiting.shift();
        if (job === undefined) continue;
        if (lane.waiting.length > 0) ready.add(lane);
        lane.running += 1;
        runningIds.add(job.eventId);
        countRunning(job.account, 1);
        waiting -= 1;
        return job;
      }
      return null;
    },
    done(job) {
      known.delete(job.eventId);
      if (runningIds.delete(job.eventId)) countRunning(job.account, -1);
      for (const aside of asideByAccount.get(job.account) ?? []) ready.add(aside);
      asideByAccount.delete(job.account);
      const lane = byEndpoint.get(job.endpointId);
      if (lane === undefined) return;
      lane.running -= 1;
      if (lane.waiting.length > 0) ready.add(lane);
      else forget(lane);
    },
    hold(endpointId, account) {
      const lane = laneOf(endpointId, account);
      const forgotten = lane.waiting.splice(0);
      for (const { eventId } of forgotten) known.delete(eventId);
      waiting -= forgotten.length;
      lane.overflowed = true;
      return forgotten;
    },
    isFull(endpointId) {
      const lane = byEndpoint.get(endpointId);
      return lane !== undefined && isFull(lane);
    },
    letGo(endpointId) {
      const lane = byEndpoint.get(endpointId);
      if (lane === undefined) return;
      lane.overflowed = false;
      forget(lane);
    },
    wake(lane) {
      if (lane.waiting.length > 0) ready.add(lane);
    },
    lane: (endpointId) => byEndpoint.get(endpointId),
    all: () => byEndpoint.values(),
    isRunning: (eventId) => runningIds.has(eventId),
    running: () => runningIds.size,
    runningOf: (account) => runningByAccount.get(account) ?? 0,
    waiting: () => waiting,
  };
};
