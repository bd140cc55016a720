/** A request under way. `Deadlines` alone changes the links; `earlier` and `later` are null at the ends of a list. */
export type Timed = {
  readonly limitMs: number;
  /** By `performance.now()`. */
  readonly dueAt: number;
  earlier: Timed | null;
  later: Timed | null;
  expire(): void;
  giveUp(): void;
};

type Queue = { first: Timed | null; last: Timed | null; readonly timer: { now: NodeJS.Timeout } };

/**
 * Calls `expire` on each request whose limit has passed. Requests with the same limit expire in the order in which they
 * were added, so one list and one timer serve all of them. The lists are linked, and not a `Set`: tables that a `Set`
 * has outgrown keep what was deleted alive until the next full collection, which makes each small collection slow.
 */
export class Deadlines {
  readonly #queues = new Map<number, Queue>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(timed: Timed): void {
    this.#size += 1;
    const queue = this.#queues.get(timed.limitMs) ?? this.#open(timed.limitMs);
    timed.earlier = queue.last;
    if (queue.last === null) {
      queue.first = timed;
      queue.timer.now.ref();
    } else queue.last.later = timed;
    queue.last = timed;
  }

  /** Takes out a request that was added and has not expired. */
  remove(timed: Timed): void {
    const queue = this.#queues.get(timed.limitMs);
    if (queue === undefined) return;
    this.#size -= 1;
    const { earlier, later } = timed;
    if (earlier === null) queue.first = later;
    else earlier.later = later;
    if (later === null) queue.last = earlier;
    else later.earlier = earlier;
    timed.earlier = null;
    timed.later = null;
    // The timer goes on for the next request, but without one it does not keep the process alive.
    if (queue.first === null) queue.timer.now.unref();
  }

  all(): readonly Timed[] {
    const found: Timed[] = [];
    for (const { first } of this.#queues.values()) {
      for (let timed = first; timed !== null; timed = timed.later) found.push(timed);
    }
    return found;
  }

  #open(limitMs: number): Queue {
    const queue: Queue = { first: null, last: null, timer: { now: this.#timer(limitMs, limitMs) } };
    this.#queues.set(limitMs, queue);
    return queue;
  }

  #timer(limitMs: number, ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#look(limitMs), Math.max(1, Math.ceil(ms)));
  }

  #look(limitMs: number): void {
    const queue = this.#queues.get(limitMs);
    if (queue === undefined) return;
    const now = performance.now();
    for (let { first } = queue; first !== null && first.dueAt <= now; first = queue.first) {
      first.expire();
      if (queue.first === first) this.remove(first);
    }
    if (queue.first === null) this.#queues.delete(limitMs);
    else queue.timer.now = this.#timer(limitMs, queue.first.dueAt - now);
  }
}
