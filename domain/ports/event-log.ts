import type { JsonObject } from "../json.ts";

/** The number of a record in its stream: from 0, without gaps. */
export type Revision = number;
/** The place of a record in the whole log: opaque text of fixed width, so positions of one log compare as text. */
export type Position = string;
export type Expected = "absent" | "any" | Revision;

export type ActorKind = "member" | "key" | "agent" | "source" | "system";
export type Actor = { readonly kind: ActorKind; readonly id: string };

export type Metadata = {
  readonly account: string;
  readonly actor: Actor;
  readonly command_id: string;
  readonly trace_id: string;
  readonly span_id: string;
  /** The caller's span, the parent of `span_id`; absent if the trace begins here. */
  readonly parent_span_id?: string;
  readonly causation_id: string | null;
  readonly recorded_at: string;
  readonly schema: number;
};

export type NewEvent = {
  /** A UUID derived from the command and the index: a repeated append has the same ids, so the log recognises it. */
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly meta: Metadata;
};

export type RecordedEvent = NewEvent & {
  readonly stream: string;
  readonly revision: Revision;
  readonly position: Position;
};

export type AppendOutcome =
  | { readonly outcome: "appended"; readonly revision: Revision; readonly position: Position }
  | { readonly outcome: "conflict"; readonly actual: Revision | "absent" };

/** One append of a group. */
export type GroupedAppend = {
  readonly stream: string;
  readonly expected: Exclude<Expected, "any">;
  readonly events: readonly NewEvent[];
  /** Indexes of earlier appends of the group. If one of them is not appended, this append is refused. */
  readonly follows: readonly number[];
};

export type GroupedOutcome = AppendOutcome | { readonly outcome: "refused" };

/** Hears the answer of one append of a group, by its index, before the whole group is answered. */
export type AppendAnswered = (index: number, outcome: GroupedOutcome) => void;

/** `upTo`: where the next search has to begin; null if nothing follows the position that was asked for. */
export type TypesPage = { readonly events: readonly RecordedEvent[]; readonly upTo: Position | null };

/** When erased bytes leave the disk: in EventStoreDB with an operator's scavenge, once their 256 MB chunk is full. */
export type BytesRemoved = "within-seconds" | "with-the-next-scavenge";

/** Adapters throw `LogUnavailable` if nothing was written; after `OutcomeUnknown` the same call is safe to repeat. */
export type EventLog = {
  /** Durable when it resolves; `revision` and `position` are the last event's. Repeating an append adds nothing. */
  append(stream: string, expected: Expected, events: readonly NewEvent[]): Promise<AppendOutcome>;
  /**
   * Decides the appends in their order, and answers each. On the embedded log a group is one transaction; elsewhere an
   * append goes out when those that it follows are answered, and earlier ones to its stream. After `OutcomeUnknown` any of
   * them may have been written: when the same group is sent again, those are recognised by their ids.
   *
   * A log that answers the appends one by one calls `onAnswer` for each, even if the group then fails, and again if the
   * same group is sent again. The others never call it.
   */
  appendGroup(appends: readonly GroupedAppend[], onAnswer?: AppendAnswered): Promise<readonly GroupedOutcome[]>;
  read(stream: string, after: Revision | null, limit: number): Promise<readonly RecordedEvent[]>;
  last(stream: string): Promise<RecordedEvent | null>;
  /** Reads all streams in one total order; "records" leaves out `payload-` and `personal-` streams. */
  readAll(after: Position | null, limit: number, what?: "everything" | "records"): Promise<readonly RecordedEvent[]>;
  readTypes(types: readonly string[], after: Position | null, limit: number): Promise<TypesPage>;
  /** The position of the last event, or null. "records" leaves out `payload-` and `personal-` streams. */
  head(what?: "everything" | "records"): Promise<Position | null>;
  /** A copy of a log has another identity, because its positions differ. */
  identity(): Promise<string>;
  /**
   * Erases a `payload-` or `personal-` stream up to and including `upTo`, or all of it. If nothing is left, the erasure
   * takes a revision, so that an append which expects the last erased revision conflicts.
   */
  erase(stream: string, upTo?: Revision): Promise<void>;
  readonly bytesRemoved: BytesRemoved;
  /** `wake` is a hint that may be lost, so followers also poll. The returned function stops listening. */
  onAppended(wake: () => void): () => void;
  close(): Promise<void>;
};
