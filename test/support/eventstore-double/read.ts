import type streams from "@eventstore/db-client/generated/streams_pb.js";
import type { Filter } from "./filter.ts";
import { DELETED, indexAt, isRecordStart, readableTo, type State, type StoredRecord } from "./state.ts";

export type Direction = "forwards" | "backwards";
export type From = "start" | "end" | number;

type Options = streams.ReadReq.Options;

export const fromRevision = (options: streams.ReadReq.Options.StreamOptions): From => {
  if (options.hasStart()) return "start";
  return options.hasEnd() ? "end" : Number(options.getRevision());
};

/** The commit position alone: of plain writes the prepare position is the same. */
export const fromPosition = (options: streams.ReadReq.Options.AllOptions): From => {
  const position = options.getPosition();
  if (position !== undefined) return Number(position.getCommitPosition());
  return options.hasEnd() ? "end" : "start";
};

export const directionOf = (options: Options): Direction =>
  options.getReadDirection() === 0 ? "forwards" : "backwards";

const existing = (record: StoredRecord | undefined): record is StoredRecord => record !== undefined;

/** Null when there is no such stream: never written to, or softly deleted. Truncated altogether, it is empty. */
export const readStream = (
  state: State,
  name: string,
  from: From,
  direction: Direction,
  count: number,
): readonly StoredRecord[] | null => {
  const stream = state.streams.get(name);
  if (stream === undefined || stream.truncateBefore === DELETED) return null;
  const to = readableTo(state);
  const isReadable = (record: StoredRecord | undefined) => record === undefined || record.position < to;
  const records = Number.isFinite(to) ? stream.records.filter(isReadable) : stream.records;
  if (records.length === 0) return null;
  const { truncateBefore } = stream;
  if (direction === "forwards") {
    const revision = from === "start" ? 0 : from === "end" ? records.length : from;
    const first = Math.max(revision, truncateBefore);
    return records.slice(first, first + count).filter(existing);
  }
  const revision = from === "start" ? 0 : from === "end" ? records.length - 1 : Math.min(from, records.length - 1);
  const end = revision + 1;
  return records
    .slice(Math.max(end - count, truncateBefore, 0), end)
    .filter(existing)
    .reverse();
};

/** The first `count` of the records that the filter allows; what it leaves out is not counted (observed). */
const allowed = (
  log: readonly StoredRecord[],
  { first, step, count }: { readonly first: number; readonly step: 1 | -1; readonly count: number },
  filter: Filter | null,
): readonly StoredRecord[] => {
  const page: StoredRecord[] = [];
  for (let index = first; page.length < count; index += step) {
    const record = log[index];
    if (record === undefined) break;
    if (filter === null || filter.allows(record)) page.push(record);
  }
  return page;
};

export type AllAsked = { readonly from: From; readonly direction: Direction; readonly count: number };

/**
 * A page of `$all`; null when no record begins at the position. Forwards a position is inclusive and may lie behind the end;
 * backwards the page is what lies before it (AllReader.ReadAllEventsBackwardInternal of the server).
 */
export const readAll = (
  state: State,
  { from, direction, count }: AllAsked,
  filter: Filter | null = null,
): readonly StoredRecord[] | null => {
  const to = Math.min(state.end, readableTo(state));
  const position = from === "start" ? 0 : from === "end" ? to : from;
  if (direction === "forwards") {
    if (position >= to) return [];
    if (!isRecordStart(state, position)) return null;
    const readable = to === state.end ? state.log : state.log.slice(0, indexAt(state, to));
    return allowed(readable, { first: indexAt(state, position), step: 1, count }, filter);
  }
  if (position > to || (position < to && !isRecordStart(state, position))) return null;
  return allowed(state.log, { first: indexAt(state, position) - 1, step: -1, count }, filter);
};
