import { setTimeout as sleep, setImmediate as yieldToOthers } from "node:timers/promises";
import type { EventLog, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import { type PageSize, pageSize } from "./page-size.ts";
import type { RecentRecords, RecordSource } from "./recent-records.ts";
import { wakeablePause } from "./wakeable-pause.ts";

const PAGE_MAX = 1_000;
const POLL_MS = 1_000;
/** After an append the reader waits this long (ms) for more records, because a look costs more than a record. */
const GATHER_MS = 10;
const BACKOFF_MS = 1_000;

export type LogReaderDeps = {
  readonly log: Pick<EventLog, "readAll" | "head" | "onAppended">;
  readonly onPage: (after: Position | null, page: readonly RecordedEvent[]) => void;
  /** Nothing follows `at` for now; called at least once per `POLL_MS` while the log can be read. */
  readonly onLooked: (at: Position | null) => void;
};

/**
 * Reads the log from its present end on. Failures are not reported: whoever is fed by this reader then reads the log
 * itself, and reports what it finds.
 */
export class LogReader {
  readonly #deps: LogReaderDeps;
  readonly #size: PageSize = pageSize(PAGE_MAX);
  readonly #rest = wakeablePause();
  #isStopping = false;
  #unsubscribe: () => void = () => undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(deps: LogReaderDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#unsubscribe = this.#deps.log.onAppended(this.#rest.wake);
    this.#running = this.#follow();
  }

  wake(): void {
    this.#rest.wake();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#unsubscribe();
    this.#rest.wake();
    await this.#running;
  }

  async #follow(): Promise<void> {
    let at: Position | null | undefined;
    while (!this.#isStopping) {
      try {
        if (at === undefined) {
          at = await this.#deps.log.head("records");
          this.#deps.onLooked(at);
        }
        at = await this.#read(at);
      } catch {
        // The reader begins anew at the end: a follower that has missed records reads them from the log.
        at = undefined;
        if (!this.#isStopping) await this.#rest.pause(BACKOFF_MS);
      }
    }
  }

  async #read(from: Position | null): Promise<Position | null> {
    const limit = this.#size.events();
    const page = await this.#deps.log.readAll(from, limit, "records");
    this.#size.learn(page);
    const at = page.at(-1)?.position ?? from;
    if (page.length > 0) this.#deps.onPage(from, page);
    if (page.length >= limit) {
      await yieldToOthers();
      return at;
    }
    this.#deps.onLooked(at);
    if (!this.#isStopping && (await this.#rest.pause(POLL_MS)) && !this.#isStopping) await sleep(GATHER_MS);
    return at;
  }
}

/** The source of a process in which no other thread reads the log. The reader starts with the first follower. */
export const readerSource = (
  log: LogReaderDeps["log"],
  recent: RecentRecords,
): RecordSource & { stop(): Promise<void> } => {
  const reader = new LogReader({
    log,
    onPage: (after, records) => {
      const upTo = records.at(-1)?.position;
      if (upTo !== undefined) recent.offer({ after, upTo, records });
    },
    onLooked: (at) => recent.looked(at),
  });
  let isStarted = false;
  return {
    wake: () => reader.wake(),
    choose(types) {
      if (isStarted || types?.length === 0) return;
      isStarted = true;
      reader.start();
    },
    stop: () => reader.stop(),
  };
};
