import type { EventLog, Position, RecordedEvent, TypesPage } from "../../domain/ports/event-log.ts";
import { charsOf } from "./page-size.ts";

/** Of a record that this process has appended, only the type and the position are kept: who follows it reads the log. */
type Place = Pick<RecordedEvent, "type" | "position"> & { readonly data?: undefined };
export type Noted = RecordedEvent | Place;

/**
 * All records after `after` up to and including `upTo` whose types are chosen, in the log's order. `after` is null at
 * the log's beginning.
 */
export type Span = { readonly after: Position | null; readonly upTo: Position; readonly records: readonly Noted[] };

/** Whoever reads the log on behalf of all followers. `choice` numbers the types, which only ever become more. */
export type RecordSource = {
  wake(): void;
  choose(types: Types, choice: number): void;
};

/** Null stands for all types. */
export type Types = readonly string[] | null;

export type RecentLimits = {
  readonly recordsMax: number;
  readonly charsMax: number;
  readonly freshMs: number;
  /** Null if the source tells of every record. */
  readonly hintMs: number | null;
};

const LIMITS: RecentLimits = {
  recordsMax: 8_192,
  /** Characters of the records' texts. A follower that is further behind than these limits reads the log by itself. */
  charsMax: 8 * 1024 * 1024,
  /** If the source has not looked for so long (ms), as when its thread has ended, followers read the log themselves. */
  freshMs: 2_500,
  hintMs: null,
};

/** Ms: the log's hints tell of this process's appends as well, so followers are woken by them at most this often. */
export const HINT_MS = 250;

type Follower = { readonly types: ReadonlySet<string> | null; readonly wake: () => void };

const isWhole = (noted: Noted): noted is RecordedEvent => noted.data !== undefined;

const NOWHERE: RecordSource = { wake: () => undefined, choose: () => undefined };

/**
 * The newest records of the log, without gaps, so that each is read and decoded once for all followers of a process. A
 * follower that is not within them reads the log; so does everyone where positions have a gap, as another process may
 * have appended there.
 */
export class RecentRecords {
  readonly #log: Pick<EventLog, "readAll" | "readTypes" | "onAppended">;
  readonly #limits: RecentLimits;
  readonly #followers = new Set<Follower>();
  readonly #growth = new Set<{ readonly wake: () => void }>();
  #types: Set<string> | null = new Set();
  #choice = 0;
  #source = NOWHERE;
  /** Everything after `#begin` up to `#end` is known; "" is the log's beginning, null is unknown. */
  #begin = "";
  #end: Position | null = null;
  #records: Noted[] = [];
  #chars = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #hinted: NodeJS.Timeout | null = null;
  #stopHearing: (() => void) | null = null;

  constructor(log: Pick<EventLog, "readAll" | "readTypes" | "onAppended">, limits: Partial<RecentLimits> = {}) {
    this.#log = log;
    this.#limits = { ...LIMITS, ...limits };
  }

  feedFrom(source: RecordSource): void {
    this.#source = source;
    source.choose(this.types(), this.#choice);
  }

  types(): Types {
    return this.#types === null ? null : [...this.#types];
  }

  wants(type: string): boolean {
    return this.#types === null || this.#types.has(type);
  }

  /** This process has appended, so its source should look. */
  appendedHere(): void {
    this.#source.wake();
  }

  /** The source has read up to `at`, and nothing followed. */
  looked(at: Position | null, choice = this.#choice): void {
    if (choice !== this.#choice) return;
    this.#lookedAt = performance.now();
    if (this.#end === null || (at ?? "") > this.#end) this.#beginAt(at ?? "");
  }

  offer({ after, upTo, records }: Span, choice = this.#choice): void {
    if (choice !== this.#choice || (this.#end !== null && upTo <= this.#end)) return;
    if (this.#end === null || (after ?? "") > this.#end) {
      this.#beginAt(upTo);
      return;
    }
    const known = this.#end;
    this.#end = upTo;
    const added = records.filter(({ type, position }) => position > known && this.wants(type));
    for (const record of added) {
      this.#records.push(record);
      this.#chars += isWhole(record) ? charsOf(record) : 0;
    }
    this.#forgetOldest();
    for (const { types, wake } of [...this.#followers])
      if (types === null || added.some(({ type }) => types.has(type))) wake();
    this.#wakeGrowth();
  }

  /** Calls `wake` when records of these types have come, and whenever some may have been missed. */
  follow(types: Types, wake: () => void): () => void {
    const follower = { types: types === null ? null : new Set(types), wake };
    this.#followers.add(follower);
    this.#hear();
    if (types === null ? this.#types !== null : types.some((type) => !this.wants(type))) {
      this.#types = types === null || this.#types === null ? null : new Set([...this.#types, ...types]);
      this.#choice += 1;
      this.#end = null;
      this.#records = [];
      this.#chars = 0;
      this.#source.choose(this.types(), this.#choice);
    }
    return () => {
      this.#followers.delete(follower);
      if (this.#followers.size > 0) return;
      this.#stopHearing?.();
      this.#stopHearing = null;
    };
  }

  /** Calls `wake` whenever anything was appended, of whatever type. */
  onGrowth(wake: () => void): () => void {
    const listener = { wake };
    this.#growth.add(listener);
    return () => this.#growth.delete(listener);
  }

  async readTypes(types: readonly string[], after: Position | null, limit: number): Promise<TypesPage> {
    const from = after ?? "";
    if (this.#end === null || from < this.#begin || !types.every((type) => this.wants(type)))
      return this.#log.readTypes(types, after, limit);
    if (from >= this.#end)
      return this.#isFresh() ? { events: [], upTo: null } : this.#log.readTypes(types, after, limit);
    const events: RecordedEvent[] = [];
    for (let index = this.#firstAfter(from); index < this.#records.length && events.length < limit; index += 1) {
      const noted = this.#records[index];
      if (noted === undefined || !types.includes(noted.type)) continue;
      // Only the place of this record is known, so the log is read; what was collected comes first.
      if (!isWhole(noted)) {
        const last = events.at(-1);
        return last === undefined ? this.#log.readTypes(types, after, limit) : { events, upTo: last.position };
      }
      events.push(noted);
    }
    const last = events.at(-1);
    return { events, upTo: last !== undefined && events.length === limit ? last.position : this.#end };
  }

  /** Reads all records, which needs a follower of all types, and a source that gives them whole. */
  async readAll(after: Position | null, limit: number): Promise<readonly RecordedEvent[]> {
    const from = after ?? "";
    if (this.#end === null || from < this.#begin || this.#types !== null)
      return this.#log.readAll(after, limit, "records");
    if (from >= this.#end) return this.#isFresh() ? [] : this.#log.readAll(after, limit, "records");
    const first = this.#firstAfter(from);
    const page = this.#records.slice(first, first + limit);
    return page.length > 0 && page.every(isWhole) ? page : this.#log.readAll(after, limit, "records");
  }

  /** Other processes append as well, of which the log gives hints where no source reads it. */
  #hear(): void {
    const { hintMs } = this.#limits;
    if (hintMs === null || this.#stopHearing !== null) return;
    const stop = this.#log.onAppended(() => {
      this.#hinted ??= setTimeout(() => {
        this.#hinted = null;
        this.#wakeAll();
      }, hintMs).unref();
    });
    this.#stopHearing = () => {
      stop();
      if (this.#hinted !== null) clearTimeout(this.#hinted);
      this.#hinted = null;
    };
  }

  #isFresh(): boolean {
    return performance.now() - this.#lookedAt < this.#limits.freshMs;
  }

  #beginAt(position: Position): void {
    this.#begin = position;
    this.#end = position;
    this.#records = [];
    this.#chars = 0;
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const { wake } of [...this.#followers]) wake();
    this.#wakeGrowth();
  }

  #wakeGrowth(): void {
    for (const { wake } of [...this.#growth]) wake();
  }

  #forgetOldest(): void {
    const { recordsMax, charsMax } = this.#limits;
    if (this.#records.length <= recordsMax && this.#chars <= charsMax) return;
    // Half is forgotten at once, so that this is not repeated for each record.
    let forgotten = 0;
    while (this.#records.length - forgotten > recordsMax / 2 || this.#chars > charsMax / 2) {
      const record = this.#records[forgotten];
      if (record === undefined) break;
      this.#chars -= isWhole(record) ? charsOf(record) : 0;
      this.#begin = record.position;
      forgotten += 1;
    }
    this.#records.splice(0, forgotten);
  }

  #firstAfter(position: Position): number {
    let low = 0;
    let high = this.#records.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#records[middle]?.position ?? "") <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
