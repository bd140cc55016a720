import { randomUUID } from "node:crypto";
import type { JsonObject } from "../../domain/json.ts";
import type { EventLog, GroupedAppend, GroupedOutcome, NewEvent, RecordedEvent } from "../../domain/ports/event-log.ts";
import { APPEND_BYTES_MAX } from "../../infra/event-log-arguments.ts";
import { AppendTooLarge } from "../../infra/log-errors.ts";

/** Ways to get the event log wrong, each as a wrapper around a log that is right. */

type Break = (log: EventLog) => EventLog;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Every event that is read passes through `change`; null drops it. */
const reading =
  (change: (event: RecordedEvent, index: number) => RecordedEvent | null): Break =>
  (log) => {
    const each = (page: readonly RecordedEvent[]): RecordedEvent[] =>
      page.flatMap((event, index) => change(event, index) ?? []);
    return {
      ...log,
      read: async (stream, after, limit) => each(await log.read(stream, after, limit)),
      last: async (stream) => {
        const last = await log.last(stream);
        return last === null ? null : change(last, 0);
      },
      readAll: async (after, limit) => each(await log.readAll(after, limit)),
    };
  };

/** Every event is changed before it is appended. */
const writing =
  (change: (event: NewEvent) => NewEvent): Break =>
  (log) => ({ ...log, append: (stream, expected, events) => log.append(stream, expected, events.map(change)) });

/** Streams are kept under another name. */
const naming =
  (rename: (stream: string) => string): Break =>
  (log) => ({
    ...log,
    append: (stream, expected, events) => log.append(rename(stream), expected, events),
    read: (stream, after, limit) => log.read(rename(stream), after, limit),
    last: (stream) => log.last(rename(stream)),
    erase: (stream, upTo) => log.erase(rename(stream), upTo),
  });

const mapJson = (data: JsonObject, change: (text: string) => string): JsonObject =>
  // What the break makes of the text is meant to be wrong, but is still an object.
  JSON.parse(change(JSON.stringify(data))) as JsonObject;

const emptied = (event: NewEvent): NewEvent => ({ ...event, data: {} });

const headOf = async (log: EventLog, stream: string): Promise<number> => (await log.last(stream))?.revision ?? -1;

const appending: Readonly<Record<string, Break>> = {
  "'absent' is taken as 'any'": (log) => ({
    ...log,
    append: (stream, expected, events) => log.append(stream, expected === "absent" ? "any" : expected, events),
  }),
  "'absent' looks first and writes later": (log) => ({
    ...log,
    async append(stream, expected, events) {
      if (expected !== "absent" || (await log.last(stream)) !== null) return log.append(stream, expected, events);
      await turn();
      return log.append(stream, "any", events);
    },
  }),
  "an exact revision looks first and writes later": (log) => ({
    ...log,
    async append(stream, expected, events) {
      if (typeof expected !== "number" || (await headOf(log, stream)) !== expected)
        return log.append(stream, expected, events);
      await turn();
      return log.append(stream, "any", events);
    },
  }),
  "the events of an append are written one by one": (log) => ({
    ...log,
    async append(stream, expected, events) {
      if (expected !== "any" || events.length < 2) return log.append(stream, expected, events);
      for (const event of events.slice(0, -1)) {
        await log.append(stream, "any", [event]);
        await turn();
      }
      return log.append(stream, "any", events.slice(-1));
    },
  }),
  "a stale revision is not noticed": (log) => ({
    ...log,
    async append(stream, expected, events) {
      const head = await headOf(log, stream);
      return log.append(stream, typeof expected === "number" && expected < head ? head : expected, events);
    },
  }),
  "a future revision is not noticed": (log) => ({
    ...log,
    async append(stream, expected, events) {
      const head = await headOf(log, stream);
      if (typeof expected !== "number" || expected <= head) return log.append(stream, expected, events);
      return log.append(stream, head === -1 ? "absent" : head, events);
    },
  }),
  "a conflict writes all the same": (log) => ({
    ...log,
    async append(stream, expected, events) {
      const appended = await log.append(stream, expected, events);
      if (appended.outcome === "conflict") await log.append(stream, "any", events);
      return appended;
    },
  }),
  "a conflict always reports revision 0": (log) => ({
    ...log,
    async append(stream, expected, events) {
      const appended = await log.append(stream, expected, events);
      return appended.outcome === "conflict" ? { outcome: "conflict", actual: 0 } : appended;
    },
  }),
  "a conflict fails the next append": (log) => {
    let isPoisoned = false;
    return {
      ...log,
      async append(stream, expected, events) {
        if (isPoisoned) throw new Error("the whole group failed");
        const appended = await log.append(stream, expected, events);
        isPoisoned = appended.outcome === "conflict";
        return appended;
      },
    };
  },
  "the first event's revision and position are answered": (log) => ({
    ...log,
    async append(stream, expected, events) {
      const appended = await log.append(stream, expected, events);
      if (appended.outcome === "conflict") return appended;
      const revision = appended.revision - events.length + 1;
      const [first] = await log.read(stream, revision === 0 ? null : revision - 1, 1);
      return { ...appended, revision, position: first?.position ?? appended.position };
    },
  }),
  "'any' refuses a new stream": (log) => ({
    ...log,
    async append(stream, expected, events) {
      if (expected === "any" && (await log.last(stream)) === null) return { outcome: "conflict", actual: "absent" };
      return log.append(stream, expected, events);
    },
  }),
  "bugs of the caller are swallowed": (log) => {
    const swallowing = async <T>(call: () => Promise<T>, instead: T): Promise<T> => {
      try {
        return await call();
      } catch (error) {
        if (error instanceof TypeError) return instead;
        throw error;
      }
    };
    const nothing = { outcome: "conflict", actual: "absent" } as const;
    return {
      ...log,
      append: (stream, expected, events) => swallowing(() => log.append(stream, expected, events), nothing),
      read: (stream, after, limit) => swallowing(() => log.read(stream, after, limit), []),
      readAll: (after, limit) => swallowing(() => log.readAll(after, limit), []),
      last: (stream) => swallowing(() => log.last(stream), null),
      erase: (stream, upTo) => swallowing(() => log.erase(stream, upTo), undefined),
    };
  },
  "closing has no effect": (log) => ({ ...log, close: async () => undefined }),
  "names are cut at the second dash": naming((stream) => {
    const [category, ...key] = stream.split("-");
    return `${category}-${key.slice(0, 5).join("_")}`;
  }),
  "names are compared without case": naming((stream) => stream.toLowerCase()),
  "names are normalised": naming((stream) => stream.normalize("NFC")),
  "the category is left out of the name": naming((stream) => stream.replace(/^delivery-/, "payload-")),
};

const repeating: Readonly<Record<string, Break>> = {
  "a repeat is not recognised": writing((event) => ({ ...event, id: randomUUID() })),
  "a repeat is answered with the head": (log) => ({
    ...log,
    async append(stream, expected, events) {
      const appended = await log.append(stream, expected, events);
      const last = await log.last(stream);
      if (appended.outcome === "conflict" || last === null) return appended;
      return { outcome: "appended", revision: last.revision, position: last.position };
    },
  }),
  "a repeat is only recognised at the head": (log) => ({
    ...log,
    async append(stream, expected, events) {
      const appended = await log.append(stream, expected, events);
      const head = await headOf(log, stream);
      if (appended.outcome === "conflict" || appended.revision === head) return appended;
      return { outcome: "conflict", actual: head };
    },
  }),
  "a repeat is recognised by its first id alone": (log) => ({
    ...log,
    async append(stream, expected, events) {
      const appended = await log.append(stream, expected, events);
      if (appended.outcome === "appended") return appended;
      const stored = (await log.read(stream, null, 1_000)).find(({ id }) => id === events[0]?.id);
      return stored === undefined
        ? appended
        : { outcome: "appended", revision: stored.revision, position: stored.position };
    },
  }),
  "a repeat of 'any' is written again": (log) => ({
    ...log,
    append: (stream, expected, events) =>
      log.append(
        stream,
        expected,
        expected === "any" ? events.map((event) => ({ ...event, id: randomUUID() })) : events,
      ),
  }),
  "ids are unique over all streams": (log) => {
    const streamOf = new Map<string, string>();
    return {
      ...log,
      async append(stream, expected, events) {
        if (events.some(({ id }) => (streamOf.get(id) ?? stream) !== stream))
          return { outcome: "conflict", actual: "absent" };
        for (const { id } of events) streamOf.set(id, stream);
        return log.append(stream, expected, events);
      },
    };
  },
};

const readingWrongly: Readonly<Record<string, Break>> = {
  "positions are not padded": reading((event) => ({ ...event, position: String(Number(event.position)) })),
  "the whole log leaves out every tenth event": (log) => ({
    ...log,
    readAll: async (after, limit) =>
      (await log.readAll(after, limit)).filter(({ position }) => Number(position) % 10 !== 0),
  }),
  "the whole log begins each page with the last event of the one before": (log) => ({
    ...log,
    async readAll(after, limit) {
      const inclusive = after === null ? null : String(Math.max(Number(after) - 1, 0)).padStart(16, "0");
      return (await log.readAll(after, 1)).length === 0 ? [] : log.readAll(inclusive, limit);
    },
  }),
  "the whole log is read newest first": (log) => ({
    ...log,
    readAll: async (after, limit) => [...(await log.readAll(after, limit))].reverse(),
  }),
  "the whole log ends before its last event": (log) => ({
    ...log,
    async readAll(after, limit) {
      const head = await log.head();
      return (await log.readAll(after, limit)).filter(({ position }) => position !== head);
    },
  }),
  "a page of the whole log has one event too many": (log) => ({
    ...log,
    readAll: (after, limit) => log.readAll(after, limit + 1),
  }),
  "a stream is always read from its beginning": (log) => ({
    ...log,
    read: (stream, _after, limit) => log.read(stream, null, limit),
  }),
  "a stream's page includes the revision that it begins after": (log) => ({
    ...log,
    read: (stream, after, limit) => log.read(stream, after === null || after === 0 ? null : after - 1, limit),
  }),
  "the limit of a page is exceeded": (log) => ({ ...log, read: (stream, after) => log.read(stream, after, 1_000) }),
  "the last event is the first": (log) => ({
    ...log,
    last: async (stream) => (await log.read(stream, null, 1))[0] ?? null,
  }),
  "a missing stream has a last event": (log) => ({
    ...log,
    last: async (stream) => (await log.last(stream)) ?? (await log.readAll(null, 1))[0] ?? ({} as RecordedEvent),
  }),
  "the head is an older event's": (log) => ({
    ...log,
    async head() {
      const head = await log.head();
      return head === null ? null : String(Math.max(Number(head) - 1, 1)).padStart(16, "0");
    },
  }),
  "the head of the records may be a payload": (log) => ({ ...log, head: () => log.head() }),
  "reads are a moment late": (log) => {
    let before: readonly RecordedEvent[] = [];
    return {
      ...log,
      async read(stream, after, limit) {
        const stale = before;
        before = await log.read(stream, after, limit);
        return stale;
      },
    };
  },
  "metadata is lost": reading((event) => ({ ...event, meta: { ...event.meta, causation_id: "", schema: 0 } })),
  "data loses lone surrogates": reading((event) => ({
    ...event,
    data: mapJson(event.data, (text) => text.replaceAll("\\ud800", "\ufffd")),
  })),
  "data is cut at 64 KiB": reading((event) => ({
    ...event,
    data: JSON.stringify(event.data).length > 65_536 ? {} : event.data,
  })),
  "a recorded event hides its members": reading((event) =>
    Object.defineProperty({ ...event }, "data", { enumerable: false, value: event.data }),
  ),
  "the caller's object is stored, not copied": (log) => {
    const kept = new Map<string, JsonObject>();
    const sharing = reading((event) => ({ ...event, data: kept.get(event.id) ?? event.data }))(log);
    return {
      ...sharing,
      append(stream, expected, events) {
        for (const { id, data } of events) kept.set(id, data);
        return log.append(stream, expected, events);
      },
    };
  },
  "its name is that of its last event": (log) => ({ ...log, identity: async () => (await log.head()) ?? "" }),
  "no listener is ever woken": (log) => ({ ...log, onAppended: () => () => undefined }),
  "stopping to listen has no effect": (log) => ({
    ...log,
    onAppended(wake) {
      log.onAppended(wake);
      return () => undefined;
    },
  }),
};

const erasing: Readonly<Record<string, Break>> = {
  "erasing does nothing": (log) => ({ ...log, erase: async () => undefined }),
  "an erasure takes the whole stream": (log) => ({ ...log, erase: (stream) => log.erase(stream) }),
  "an erasure up to a revision takes one too few": (log) => ({
    ...log,
    async erase(stream, upTo) {
      if (upTo !== 0) await log.erase(stream, upTo === undefined ? upTo : upTo - 1);
    },
  }),
  "every stream may be erased": (log) => {
    const gone = new Set<string>();
    const hiding = reading((event) => (gone.has(event.stream) ? null : event))(log);
    return {
      ...hiding,
      async erase(stream) {
        gone.add(stream);
      },
    };
  },
  "erased events are still in the whole log": (log) => {
    const kept: RecordedEvent[] = [];
    return {
      ...log,
      async erase(stream, upTo) {
        kept.push(...(await log.read(stream, null, 1_000)));
        await log.erase(stream, upTo);
      },
      readAll: async (after, limit) =>
        [...kept.filter(({ position }) => position > (after ?? "")), ...(await log.readAll(after, limit))]
          .sort((a, b) => (a.position < b.position ? -1 : 1))
          .slice(0, limit),
    };
  },
  "an erased stream begins again": (log) => {
    // Each erasure moves the stream to a new name: nothing of the old one is known any more.
    const lives = new Map<string, number>();
    const nameOf = (stream: string): string => {
      const life = lives.get(stream) ?? 0;
      return life === 0 ? stream : `${stream}-${life}`;
    };
    return {
      ...naming(nameOf)(log),
      async erase(stream, upTo) {
        await log.erase(nameOf(stream), upTo);
        lives.set(stream, (lives.get(stream) ?? 0) + 1);
      },
    };
  },
  "an erased stream takes nothing more": (log) => {
    const gone = new Set<string>();
    return {
      ...log,
      async append(stream, expected, events) {
        if (gone.has(stream)) return { outcome: "conflict", actual: "absent" };
        return log.append(stream, expected, events);
      },
      async erase(stream, upTo) {
        await log.erase(stream, upTo);
        gone.add(stream);
      },
    };
  },
  "an erasure takes no revision": (log) => {
    const ends = new Map<string, number>();
    return {
      ...log,
      append: (stream, expected, events) =>
        log.append(stream, typeof expected === "number" && ends.get(stream) === expected ? "any" : expected, events),
      async erase(stream, upTo) {
        ends.set(stream, await headOf(log, stream));
        await log.erase(stream, upTo);
      },
    };
  },
  "a second erasure fails": (log) => {
    const gone = new Set<string>();
    return {
      ...log,
      async erase(stream, upTo) {
        if (gone.has(stream)) throw new Error("there is nothing to erase");
        await log.erase(stream, upTo);
        gone.add(stream);
      },
    };
  },
  "an erasure gives its positions to the next": (log) => {
    let given = 0;
    return {
      ...log,
      async append(stream, expected, events) {
        const appended = await log.append(stream, expected, events);
        if (appended.outcome === "conflict" || given === 0) return appended;
        return { ...appended, position: String(Number(appended.position) - given).padStart(16, "0") };
      },
      async erase(stream, upTo) {
        // The erasure takes a revision, and a position with it.
        given += (await log.read(stream, null, 1_000)).length + 1;
        await log.erase(stream, upTo);
      },
    };
  },
};

/** As if nothing were too large: what is above the limit is written without its data. */
const lettingAllThrough: Break = (log) => ({
  ...log,
  async append(stream, expected, events) {
    try {
      return await log.append(stream, expected, events);
    } catch (error) {
      if (!(error instanceof AppendTooLarge)) throw error;
      return log.append(stream, expected, events.map(emptied));
    }
  },
});

const measuring: Readonly<Record<string, Break>> = {
  "an append of any size is taken": lettingAllThrough,
  "an append that is too large is written in part": (log) => ({
    ...log,
    async append(stream, expected, events) {
      try {
        return await log.append(stream, expected, events);
      } catch (error) {
        if (error instanceof AppendTooLarge) await log.append(stream, "any", events.slice(0, 1).map(emptied));
        throw error;
      }
    },
  }),
  "an append that is too large fails the next ones": (log) => {
    let isPoisoned = false;
    return {
      ...log,
      async append(stream, expected, events) {
        if (isPoisoned) throw new Error("the connection is of no use any more");
        try {
          return await log.append(stream, expected, events);
        } catch (error) {
          isPoisoned = error instanceof AppendTooLarge;
          throw error;
        }
      },
    };
  },
  "characters are counted, not bytes": (log) => ({
    ...log,
    async append(stream, expected, events) {
      const length = JSON.stringify(events).length;
      return (length < APPEND_BYTES_MAX ? lettingAllThrough(log) : log).append(stream, expected, events);
    },
  }),
  "the limit is a little lower": (log) => ({
    ...log,
    async append(stream, expected, events) {
      const length = JSON.stringify(events).length;
      if (length > APPEND_BYTES_MAX - 10_000) throw new AppendTooLarge(length, APPEND_BYTES_MAX);
      return log.append(stream, expected, events);
    },
  }),
};

const grouping: Readonly<Record<string, Break>> = {
  "a group does not look at what its appends follow": (log) => ({
    ...log,
    appendGroup: (appends) => log.appendGroup(appends.map((one) => ({ ...one, follows: [] }))),
  }),
  "a group is written backwards": (log) => ({
    ...log,
    async appendGroup(appends) {
      const backwards = appends.toReversed().map((one) => ({ ...one, follows: [] }));
      return (await log.appendGroup(backwards)).toReversed();
    },
  }),
  "a repeat of a group is not recognised": (log) => ({
    ...log,
    appendGroup: (appends) =>
      log.appendGroup(
        appends.map((one) => ({ ...one, events: one.events.map((event) => ({ ...event, id: randomUUID() })) })),
      ),
  }),
  "one conflict refuses the whole group": (log) => ({
    ...log,
    async appendGroup(appends) {
      const heads = await Promise.all(appends.map(({ stream }) => headOf(log, stream)));
      const isStale = ({ expected }: GroupedAppend, index: number): boolean =>
        heads[index] !== (expected === "absent" ? -1 : expected);
      if (!appends.some(isStale)) return log.appendGroup(appends);
      return appends.map((): GroupedOutcome => ({ outcome: "refused" }));
    },
  }),
  "a group of any size is taken, and its bugs are swallowed": (log) => ({
    ...log,
    async appendGroup(appends) {
      try {
        return await log.appendGroup(appends);
      } catch (error) {
        if (!(error instanceof AppendTooLarge) && !(error instanceof TypeError)) throw error;
        return [];
      }
    },
  }),
  "the limits of a group are lower": (log) => ({
    ...log,
    async appendGroup(appends) {
      if (appends.length > 100) throw new TypeError("too many");
      return log.appendGroup(appends);
    },
  }),
};

export const brokenLogs: Readonly<Record<string, Break>> = {
  ...appending,
  ...repeating,
  ...readingWrongly,
  ...grouping,
  ...measuring,
  ...erasing,
};
