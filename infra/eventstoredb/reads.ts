import type { EventLog, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import { checkPage } from "../event-log-arguments.ts";
import { parseStreamName } from "../stream-name.ts";
import type { Reading } from "./attempts.ts";
import { ConnectionFailure, type Cursor, type StoredEvent } from "./connection.ts";
import type { Choice, Page, Pages } from "./pages.ts";
import { cursorOf } from "./positions.ts";
import { isErasableStream, recorded } from "./recorded-event.ts";
import { truncatedBefore } from "./stream-metadata.ts";

export type Reads = Pick<EventLog, "read" | "last" | "readAll" | "readTypes" | "head">;

type What = "everything" | "records";

const RECORDS: Choice = { only: "records" };
const ALL_PAGE_MIN = 8;
const ALL_PAGE_MAX = 1_000;
const HEAD_PAGE_MIN = 4;
const TYPES_LOOK_MAX = 500;
const LOOKUPS_AT_ONCE = 16;

const forEachOf = async <T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> => {
  const rest = [...items];
  const worker = async (): Promise<void> => {
    for (let item = rest.pop(); item !== undefined; item = rest.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
};

const isRecord = (event: { readonly stream: string }): boolean => !isErasableStream(event);
const visible = (events: readonly StoredEvent[]): RecordedEvent[] => events.flatMap((event) => recorded(event) ?? []);
const records = (events: readonly StoredEvent[]): RecordedEvent[] => visible(events.filter(isRecord));

export const reads = (pages: Pages, reading: Reading): Reads => {
  // How far a search without result went, so that the next one from the same place skips the server's own events.
  const nothing = new Map<What | "types", { readonly after: Position | null; readonly upTo: Cursor | null }>();

  const hidden = async (event: RecordedEvent): Promise<number> => truncatedBefore(pages, reading, event.stream);

  const withoutErased = async (events: readonly RecordedEvent[]): Promise<readonly RecordedEvent[]> => {
    const erasable = new Map(events.filter(isErasableStream).map((event) => [event.stream, event]));
    const begins = new Map<string, number>();
    await forEachOf([...erasable.values()], LOOKUPS_AT_ONCE, async (event) => {
      begins.set(event.stream, await hidden(event));
    });
    return events.filter(({ stream, revision }) => revision >= (begins.get(stream) ?? 0));
  };

  const choices = {
    everything: (events: readonly StoredEvent[]) => withoutErased(visible(events)),
    records: async (events: readonly StoredEvent[]) => records(events),
    // Erased events stay here, because the page's last event marks how far the search went; `readTypes` removes them.
    types: async (events: readonly StoredEvent[]) => visible(events),
  };

  const startOf = (choice: What | "types", after: Position | null): Cursor | null => {
    const searched = nothing.get(choice);
    if (searched !== undefined && searched.after === after) return searched.upTo;
    return after === null ? null : cursorOf(after);
  };

  const all = async (
    after: Position | null,
    limit: number,
    choice: What | "types",
    asked: Choice = choice === "records" ? RECORDS : {},
  ): Promise<RecordedEvent[]> => {
    let at = startOf(choice, after);
    const found: RecordedEvent[] = [];
    for (let least = ALL_PAGE_MIN; ; least *= 2) {
      const count = Math.min(Math.max(limit - found.length, least), ALL_PAGE_MAX);
      const from = at;
      const page = await reading((idleMs) => pages.allAfter(from, count, idleMs, asked));
      found.push(...(await choices[choice](page.events)));
      at = page.events.at(-1)?.at ?? at;
      if (found.length >= limit) return found.slice(0, limit);
      if (!page.isEnd) continue;
      if (found.length === 0) nothing.set(choice, { after, upTo: at });
      return found;
    }
  };

  const newestOf = async (events: readonly StoredEvent[], what: What): Promise<RecordedEvent | null> => {
    for (const event of what === "records" ? records(events) : visible(events)) {
      if (!isErasableStream(event) || event.revision >= (await hidden(event))) return event;
    }
    return null;
  };

  const headOf = async (what: What, idleMs: number): Promise<Position | null> => {
    let before: Cursor | "end" = "end";
    for (let count = HEAD_PAGE_MIN; ; count = Math.min(4 * count, ALL_PAGE_MAX)) {
      const page: Page = await pages.allBefore(before, count, idleMs, what === "records" ? what : undefined);
      const newest = await newestOf(page.events, what);
      if (newest !== null) return newest.position;
      before = page.events.at(-1)?.at ?? before;
      if (page.isEnd) break;
    }
    // A read that ended too early looks like an empty log, so whether the log has a first event is asked as well.
    if ((await all(null, 1, what)).length === 0) return null;
    throw new ConnectionFailure("unknown", "other", "the server did not give the newest events");
  };

  const streamPage = async (read: (idleMs: number) => Promise<readonly StoredEvent[]>): Promise<RecordedEvent[]> =>
    visible(
      await reading(async (idleMs) => {
        try {
          return await read(idleMs);
        } catch (error) {
          if (error instanceof ConnectionFailure && error.reason === "deleted") return [];
          throw error;
        }
      }),
    );

  return {
    async read(stream, after, limit) {
      checkPage(after, limit);
      parseStreamName(stream);
      return streamPage((idleMs) => pages.stream(stream, after === null ? 0 : after + 1, limit, idleMs));
    },

    async last(stream) {
      parseStreamName(stream);
      // An interrupted erasure may have left a blank event at the end, so two events are read.
      const count = isErasableStream({ stream }) ? 2 : 1;
      return (await streamPage((idleMs) => pages.newest(stream, count, idleMs)))[0] ?? null;
    },

    async readAll(after, limit, what = "everything") {
      checkPage(null, limit);
      return all(after, limit, what);
    },

    async readTypes(types, after, limit) {
      checkPage(null, limit);
      const looked = await all(after, TYPES_LOOK_MAX, "types", { wanted: ({ type }) => types.includes(type) });
      const events = await withoutErased(looked.filter(({ type }) => types.includes(type)));
      if (events.length < limit) return { events, upTo: looked.at(-1)?.position ?? null };
      return { events: events.slice(0, limit), upTo: events[limit - 1]?.position ?? null };
    },

    head: (what = "everything") => reading((idleMs) => headOf(what, idleMs)),
  };
};
