import type { Position } from "../../domain/ports/event-log.ts";
import { type WakeablePause, wakeablePause } from "../following/wakeable-pause.ts";
import type { Change, Topic } from "./topics.ts";

/** So many frames of a topic are sent in a second at most. */
export const FRAMES_PER_SECOND = 10;
const WINDOW_MS = 1_000;

/** Changes of one topic that wait for their frames. */
type Waiting = {
  /** By id, the newest position. */
  readonly changes: Map<string, Position>;
  /** Changes of further ids, of which only the number is kept. */
  more: number;
  windowEnds: number;
  sent: number;
};

/** `changed`: how many changes came, without saying which; null if that is unknown. */
export type Due =
  | { readonly topic: Topic; readonly changes: ReadonlyMap<string, Position> }
  | { readonly topic: Topic; readonly changed: number | null };

/** What one stream has still to tell its client. It keeps at most a few changes for each topic, however slow that is. */
export class ChangeFollower {
  readonly account: string;
  readonly #rest: WakeablePause = wakeablePause();
  readonly #topics: ReadonlyMap<Topic, Waiting>;
  #position: Position | null;
  #isUnknown = false;
  #catchingUp = 0;

  constructor(account: string, topics: readonly Topic[], position: Position | null) {
    this.account = account;
    this.#position = position;
    this.#topics = new Map(
      topics.map((topic) => [topic, { changes: new Map(), more: 0, windowEnds: 0, sent: 0 }] as const),
    );
  }

  wake = (): void => this.#rest.wake();

  position(): Position | null {
    return this.#position;
  }

  give(changes: readonly Change[]): void {
    for (const { topic, id, position } of changes) {
      const waiting = this.#topics.get(topic);
      if (waiting === undefined) continue;
      const known = waiting.changes.get(id);
      if (known === undefined && waiting.changes.size >= FRAMES_PER_SECOND) waiting.more += 1;
      else if (known === undefined || known < position) waiting.changes.set(id, position);
    }
    if (changes.length > 0) this.wake();
  }

  /** Everything up to here was given, except what is still caught up with. */
  reach(position: Position): void {
    this.#position = position;
  }

  /** Until the returned function is called, the client must not resume from here. */
  catchUp(): () => void {
    this.#catchingUp += 1;
    return () => {
      this.#catchingUp -= 1;
      this.wake();
    };
  }

  /** Too much has happened since the client's last frame to say what. */
  giveUnknown(): void {
    this.#isUnknown = true;
    this.wake();
  }

  /** What may be sent now, which is then no longer kept. */
  take(nowMs: number): readonly Due[] {
    if (this.#isUnknown) {
      this.#isUnknown = false;
      return [...this.#topics.keys()].map((topic) => ({ topic, changed: null }));
    }
    const due: Due[] = [];
    for (const [topic, waiting] of this.#topics) {
      const one = this.#takeOf(topic, waiting, nowMs);
      if (one !== null) due.push(one);
    }
    return due;
  }

  /** The position from which the client may resume; null while something before it is still to be sent. */
  resumable(): Position | null {
    const isWaiting = this.#catchingUp > 0 || [...this.#topics.values()].some(({ changes }) => changes.size > 0);
    return isWaiting ? null : this.#position;
  }

  /** Until more is given, or may be sent; `ms` at most. */
  async pause(nowMs: number, ms: number): Promise<void> {
    const ends = [...this.#topics.values()].flatMap(({ changes, windowEnds }) =>
      changes.size > 0 ? [windowEnds] : [],
    );
    await this.#rest.pause(Math.max(1, Math.min(ms, ...ends.map((end) => end - nowMs))));
  }

  #takeOf(topic: Topic, waiting: Waiting, nowMs: number): Due | null {
    if (nowMs >= waiting.windowEnds) {
      waiting.windowEnds = nowMs + WINDOW_MS;
      waiting.sent = 0;
    }
    const { changes, more } = waiting;
    const size = changes.size + more;
    const left = FRAMES_PER_SECOND - waiting.sent;
    if (size === 0 || left === 0) return null;
    if (size <= left) {
      waiting.sent += size;
      const sent = new Map(changes);
      changes.clear();
      return { topic, changes: sent };
    }
    // Single frames were sent in this second, so the number waits for its end: more will add to it.
    if (waiting.sent > 0) return null;
    waiting.sent = FRAMES_PER_SECOND;
    changes.clear();
    waiting.more = 0;
    return { topic, changed: size };
  }
}
