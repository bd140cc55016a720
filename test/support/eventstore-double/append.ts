import {
  DELETED,
  isTombstoned,
  LARGEST_INT64,
  lastRevision,
  metastreamOf,
  type Proposed,
  type State,
  type StoredRecord,
  write,
  writeTombstone,
  writeTruncateBefore,
} from "./state.ts";

export type Expected = "any" | "no-stream" | "stream-exists" | number;

export type AppendRequest = {
  readonly stream: string;
  readonly expected: Expected;
  readonly events: readonly Proposed[];
};

export type Decision =
  /** Written, or written before; `revision` of the last event of the request, null when the stream has none. */
  | { readonly outcome: "appended"; readonly revision: number | null; readonly position: number | null }
  /** `current` -1: the stream does not exist. */
  | { readonly outcome: "conflict"; readonly current: number }
  | { readonly outcome: "deleted" };

/** Servers differ in what they answer; whoever appends has to survive each of them. */
export type PositionRule = {
  /** Of which event of an append of several the position is answered. */
  readonly ofSeveral: "last" | "first";
  readonly onRepeat: "original" | "none";
};

type Check = Decision | "may-write";

/** A repeat of what is hidden by truncation or deletion succeeds without a position: the server cannot read it. */
const repeated = (state: State, last: StoredRecord, rule: PositionRule): Decision => {
  const hidden = last.revision < (state.streams.get(last.stream)?.truncateBefore ?? 0);
  const position = hidden || rule.onRepeat === "none" ? null : last.position;
  return { outcome: "appended", revision: last.revision, position };
};

const conflict = (current: number): Decision => ({ outcome: "conflict", current });

/** With ANY only what the server still remembers makes a repeat recognizable. */
const checkAny = (state: State, { stream, events }: AppendRequest, current: number, rule: PositionRule): Check => {
  let last: StoredRecord | undefined;
  for (const { id } of events) {
    const recent = state.recentIds.get(id);
    if (recent === undefined || recent.stream !== stream) return last === undefined ? "may-write" : conflict(current);
    last = recent;
  }
  return last === undefined ? "may-write" : repeated(state, last, rule);
};

/** The revisions behind the expected one are taken: a repeat when all ids of the request are found there in order. */
const checkTaken = (
  state: State,
  { stream, expected, events }: AppendRequest,
  before: number,
  rule: PositionRule,
): Check => {
  const known = state.streams.get(stream);
  const current = lastRevision(known);
  let last: StoredRecord | undefined;
  for (const [index, { id }] of events.entries()) {
    const there = known?.records[before + 1 + index];
    if (there?.id === id) {
      last = there;
      continue;
    }
    if (index === 0 && expected === "no-stream" && known?.truncateBefore === DELETED) return "may-write";
    return conflict(current);
  }
  return last === undefined ? conflict(current) : repeated(state, last, rule);
};

/** IndexWriter.CheckCommit of the server, release 23.10. */
const check = (state: State, request: AppendRequest, rule: PositionRule): Check => {
  const { stream, expected } = request;
  if (isTombstoned(state, stream)) return { outcome: "deleted" };
  const known = state.streams.get(stream);
  const current = lastRevision(known);
  if (expected === "stream-exists") {
    if (known?.truncateBefore === DELETED) return { outcome: "deleted" };
    if (current < 0 && lastRevision(state.streams.get(metastreamOf(stream))) < 0) return conflict(current);
  }
  if (expected === "any" || expected === "stream-exists") return checkAny(state, request, current, rule);
  const before = expected === "no-stream" ? -1 : expected;
  if (before < current) return checkTaken(state, request, before, rule);
  return before > current ? conflict(current) : "may-write";
};

/** Appends, finds a repeat, or refuses. Only ids tell a repeat: other data under the same ids are ignored. */
export const append = (state: State, request: AppendRequest, rule: PositionRule): Decision => {
  const checked = check(state, request, rule);
  if (checked !== "may-write") return checked;
  const current = lastRevision(state.streams.get(request.stream));
  const undeletes = state.streams.get(request.stream)?.truncateBefore === DELETED;
  const written = write(state, request.stream, request.events);
  if (undeletes) writeTruncateBefore(state, request.stream, String(current + 1));
  const answered = rule.ofSeveral === "first" ? written[0] : written.at(-1);
  const revision = current + written.length;
  return { outcome: "appended", revision: revision < 0 ? null : revision, position: answered?.position ?? null };
};

type Removal = Omit<AppendRequest, "events">;

const removal = (state: State, request: Removal, remove: () => StoredRecord | undefined): Decision => {
  const nothing = { type: "", contentType: "", data: new Uint8Array(), metadata: new Uint8Array() };
  const rule: PositionRule = { ofSeveral: "last", onRepeat: "original" };
  const checked = check(state, { ...request, events: [{ id: crypto.randomUUID(), ...nothing }] }, rule);
  if (checked !== "may-write") return checked;
  return { outcome: "appended", revision: null, position: remove()?.position ?? null };
};

/** Soft deletion: metadata say that everything is truncated. A stream that never was is a conflict, even with ANY. */
export const deleteStream = (state: State, request: Removal): Decision =>
  lastRevision(state.streams.get(request.stream)) < 0 &&
  lastRevision(state.streams.get(metastreamOf(request.stream))) < 0 &&
  !isTombstoned(state, request.stream)
    ? conflict(-1)
    : removal(state, request, () => writeTruncateBefore(state, request.stream, LARGEST_INT64));

export const tombstoneStream = (state: State, request: Removal): Decision =>
  removal(state, request, () => writeTombstone(state, request.stream));
