import { LRUCache } from "lru-cache";
import type { DeliveryStatus } from "../../domain/delivery/status.ts";
import { eventOf } from "../../domain/events.ts";
import type { Decision } from "../../projections/event-fold.ts";
import type { EventSummary } from "../bodies/event-answer.ts";
import { satisfies } from "../http/with-ids.ts";
import { denialConditions } from "../routes/events/event-text.ts";
import { API_HELP, API_OPTIONS, API_SYNOPSIS, type Api, apiOf, type Query, untilAnswered } from "./api.ts";
import { type Command, type Terminal, UsageError } from "./command.ts";
import { FILTER_OPTIONS, filterQuery, TIMES_HELP } from "./event-filter.ts";
import { changeIn, type EventLine, lineOfRequest, lineOfSummary, shownLine } from "./event-line.ts";
import { withIds } from "./find-named.ts";
import { json, printLines } from "./formats.ts";
import { listedEvents } from "./listed-events.ts";
import { followRecords, type StreamRecord } from "./record-stream.ts";

type Page = { readonly data: readonly EventSummary[]; readonly next_cursor: string | null };

const COUNT = 20;
const COUNT_MAX = 1_000;
const PAGE_MAX = 100;
/** Events whose lines stay in memory while following. About an event that is not in memory, the service is asked. */
const KNOWN_MAX = 10_000;

const DECIDED: Readonly<Record<string, DeliveryStatus>> = {
  EventAdmitted: "queued",
  EventHeld: "held",
  EventBlocked: "blocked",
};

const countOf = (text: string | boolean): number => {
  const count = /^\d{1,4}$/.test(String(text)) ? Number(text) : 0;
  if (count < 1 || count > COUNT_MAX) throw new UsageError(`-n takes a number from 1 to ${COUNT_MAX}.`);
  return count;
};

/** The newest last. */
const newest = async (api: Api, query: Query, count: number): Promise<readonly EventSummary[]> => {
  const found: EventSummary[] = [];
  for (let cursor: string | undefined; ; ) {
    const limit = Math.min(PAGE_MAX, count - found.length);
    const page: Page = await api.get("/v1/events", { ...query, limit, cursor });
    found.push(...page.data);
    if (page.next_cursor === null || found.length >= count) return found.reverse();
    cursor = page.next_cursor;
  }
};

const is = (wanted: string | number | undefined, value: string | null): boolean =>
  wanted === undefined || wanted === value;

/** True if the service's search for `q` would find the event, too (`src/routes/events/event-text.ts`). */
const isMeant = (q: string, { id, delivery_id, type, refused }: EventLine): boolean =>
  id === q ||
  delivery_id === q ||
  type.includes(q) ||
  (refused !== undefined && denialConditions(q).some((by) => satisfies(refused, [by])));

export const matches = (query: Query, line: EventLine): boolean => {
  const { origin, type } = line;
  return (
    is(query.status, line.status) &&
    is(query.source_id, origin.kind === "source" ? origin.id : null) &&
    is(query.agent_id, origin.kind === "agent" ? origin.id : null) &&
    is(query.endpoint_id, line.endpoint_id) &&
    is(query.action, origin.kind === "agent" ? type : null) &&
    (query.q === undefined || isMeant(String(query.q), line))
  );
};

export type EventLines = {
  seen(line: EventLine): void;
  /** The line of the event after the record; null for a record that changes no event. */
  after(record: StreamRecord): Promise<EventLine | null>;
};

/** Derives lines from records, and asks the service only about events whose decision came before the stream began. */
export const eventLines = (api: Api): EventLines => {
  const known = new LRUCache<string, EventLine>({ max: KNOWN_MAX });
  const seen = (line: EventLine): void => {
    known.set(line.id, line);
  };
  const asked = async ({ id, position }: StreamRecord): Promise<EventLine> =>
    lineOfSummary(await untilAnswered(() => api.get<EventSummary>(`/v1/events/${id}`, { after: position })));

  return {
    seen,
    async after(record) {
      if (record.category !== "delivery") return null;
      const decided = DECIDED[record.type];
      let line: EventLine;
      if (decided !== undefined) {
        line = lineOfRequest(decided, eventOf<Decision>(record).data);
      } else {
        const change = changeIn(record);
        if (change === null) return null;
        line = { ...(known.get(record.id) ?? (await asked(record))), ...change, at: record.time };
      }
      seen(line);
      return line;
    },
  };
};

export const eventsTail: Command = {
  synopsis: `[--follow] [-n <count>] [<filters>] ${API_SYNOPSIS}`,
  help: [
    "Prints the newest events, the newest last; with --follow also a line for each change of an event.",
    "-f, --follow       runs until it is interrupted; the key needs the role auditor",
    `-n <count>         number of events at the start (${COUNT})`,
    "--status <status>  blocked, held, queued, delivering, retrying, delivered, failed, rejected, expired,",
    "                   cancelled or recorded",
    "--source <id>      of this source, by id or name; also --agent <id>, --endpoint <id>, --action <name>",
    "--q <text>         an event id, a delivery id, part of a type, or the gate or code that refused it",
    `--from, --to       received between: ${TIMES_HELP}`,
    ...API_HELP,
  ],
  options: {
    ...API_OPTIONS,
    ...FILTER_OPTIONS,
    follow: { type: "boolean", short: "f" },
    count: { type: "string", short: "n" },
  },
  async run(args, env, terminal) {
    const { positionals, options } = args;
    if (positionals.length > 0) throw new UsageError("events tail takes no event; events show does.");
    if (options.follow === true && options.to !== undefined)
      throw new UsageError("--follow and --to exclude each other.");
    const wanted = filterQuery(options, Date.now());
    const count = countOf(options.count ?? String(COUNT));
    const api = apiOf(args, env);
    const query = await withIds(api, wanted);
    const print = (line: EventLine): void =>
      options.json === true ? terminal.out(json(line)) : printLines(terminal, [shownLine(line)]);
    if (options.follow === true) return await follow(api, { query, count, print }, terminal);
    const events = await newest(api, query, count);
    for (const event of events) print(lineOfSummary(event));
    if (events.length === 0) terminal.note("no event matches");
  },
};

type Following = { readonly query: Query; readonly count: number; print(line: EventLine): void };

const follow = async (api: Api, { query, count, print }: Following, { note }: Terminal): Promise<void> => {
  const lines = eventLines(api);
  const listed = listedEvents();
  for await (const item of followRecords(api, note)) {
    if (item.kind === "open") {
      const after = item.position ?? undefined;
      // The stream goes on for as long as the view needs to show what was before it.
      for (const event of await untilAnswered(() => newest(api, { ...query, after }, count))) {
        const line = lineOfSummary(event);
        lines.seen(line);
        listed.add(event);
        print(line);
      }
      continue;
    }
    const line = await lines.after(item.record);
    const isPrinted = listed.shows(item.record, line);
    if (line !== null && !isPrinted && matches(query, line)) print(line);
  }
};
