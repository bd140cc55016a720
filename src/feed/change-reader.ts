import { setTimeout as sleep } from "node:timers/promises";
import type { EventLog, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import { wakeablePause } from "../following/wakeable-pause.ts";
import type { ViewProgress } from "../views/view-progress.ts";
import { ChangeFollower } from "./change-follower.ts";
import { type Change, changesOf, type Topic, VIEW_OF } from "./topics.ts";

export type ChangeReaderDeps = {
  readonly log: Pick<EventLog, "readAll" | "head" | "onAppended">;
  readonly views: Pick<ViewStore, "position">;
  readonly progress: Pick<ViewProgress, "onProgress">;
  readonly onError: (error: unknown) => void;
};

const PAGE = 1_000;
/** The log is read at most this often (ms), so that the changes of one thing become one frame. */
const GATHER_MS = 100;
/** The hints of the log and of a projector in this process may be missing. */
const POLL_MS = 1_000;
/** How often views are asked for their positions, if no projector of this process tells them. */
const LOOK_MS = 100;
const RETRY_MS = 1_000;
/** A client that missed more records than this is told that something has changed, but not what. */
export const MISSED_MAX = 5_000;

const ofAccounts = (page: readonly RecordedEvent[], accounts: ReadonlySet<string>): ReadonlyMap<string, Change[]> => {
  const found = new Map<string, Change[]>();
  for (const record of page) {
    const { account } = record.meta;
    if (!accounts.has(account)) continue;
    const own = found.get(account) ?? [];
    own.push(...changesOf(record));
    found.set(account, own);
  }
  return found;
};

/**
 * Reads the log once for all streams of this process, and only while there is one. A change is told when the views have
 * folded it, by whichever node.
 */
export class ChangeReader {
  readonly #deps: ChangeReaderDeps;
  readonly #followers = new Set<ChangeFollower>();
  readonly #rest = wakeablePause();
  #position: Position | null = null;
  #isReading = false;

  constructor(deps: ChangeReaderDeps) {
    this.#deps = deps;
  }

  /** Follows from now on, or after the position from which a client resumes. */
  async follow(account: string, topics: readonly Topic[], after?: Position): Promise<ChangeFollower> {
    const head = this.#isReading ? null : await this.#deps.log.head("records");
    // Another stream may have begun meanwhile. What the reader has not given by now, it will give to this one, too.
    if (!this.#isReading) this.#start(head);
    const follower = new ChangeFollower(account, topics, this.#position);
    this.#followers.add(follower);
    if (after !== undefined) this.#giveMissed(follower, after).catch(() => follower.giveUnknown());
    return follower;
  }

  end(follower: ChangeFollower): void {
    this.#followers.delete(follower);
    this.#rest.wake();
  }

  async #giveMissed(follower: ChangeFollower, after: Position): Promise<void> {
    const upTo = follower.position();
    if (upTo === null || after >= upTo) return;
    const hasCaughtUp = follower.catchUp();
    try {
      const missed = await this.#deps.log.readAll(after, MISSED_MAX, "records");
      const known = missed.filter(({ position }) => position <= upTo);
      if (missed.length === MISSED_MAX && known.length === MISSED_MAX) return follower.giveUnknown();
      await this.#folded(known);
      follower.give(known.filter(({ meta }) => meta.account === follower.account).flatMap(changesOf));
    } finally {
      hasCaughtUp();
    }
  }

  #start(position: Position | null): void {
    this.#isReading = true;
    this.#position = position;
    // The first look comes after the caller has added its follower.
    setImmediate(() => void this.#read());
  }

  async #read(): Promise<void> {
    const { log, progress, onError } = this.#deps;
    const stops = [log.onAppended(this.#rest.wake), progress.onProgress(this.#rest.wake)];
    while (this.#followers.size > 0) {
      try {
        const page = await log.readAll(this.#position, PAGE, "records");
        await this.#folded(page);
        this.#give(page);
        if (page.length < PAGE) await this.#rest.pause(POLL_MS);
        await sleep(GATHER_MS);
      } catch (error) {
        onError(error);
        await sleep(RETRY_MS);
      }
    }
    for (const stop of stops) stop();
    this.#isReading = false;
  }

  #give(page: readonly RecordedEvent[]): void {
    const last = page.at(-1);
    if (last === undefined) return;
    const changes = ofAccounts(page, new Set([...this.#followers].map(({ account }) => account)));
    for (const follower of this.#followers) {
      follower.give(changes.get(follower.account) ?? []);
      follower.reach(last.position);
    }
    this.#position = last.position;
  }

  /** Resolves when the views show these records, or when nobody follows any more. */
  async #folded(page: readonly RecordedEvent[]): Promise<void> {
    const needed = new Map<string, Position>();
    for (const { topic, position } of page.flatMap(changesOf)) needed.set(VIEW_OF[topic], position);
    while (needed.size > 0 && this.#followers.size > 0) {
      for (const [view, position] of needed)
        if (((await this.#deps.views.position(view)) ?? "") >= position) needed.delete(view);
      if (needed.size > 0) await sleep(LOOK_MS);
    }
  }
}
