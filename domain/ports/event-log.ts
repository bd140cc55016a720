import type { JsonObject } from "../json.ts";

/** 0-based, without gaps within a stream. */
export type Revision = number;
/** Opaque, of fixed width: positions of the same log compare as text. */
export type Position = string;
export type Expected = "absent" | "any" | Revision;

export type ActorKind = "member" | "key" | "agent" | "source" | "system";
export type Actor = { readonly kind: ActorKind; readonly id: string };

export type Metadata = {
  readonly account: string;
  readonly actor: Actor;
  readonly command_id: string;
  /** 32 and 16 lower-case hex characters (W3C Trace Context, section 3.2.2). */
  readonly trace_id: string;
  readonly span_id: string;
  /** The caller's span, from its `traceparent`: the parent of `span_id`. Missing if the trace begins here. */
  readonly parent_span_id?: string;
  /** The id of the event that a reactor reacted to. */
  readonly causation_id: string | null;
  /** ISO-8601 UTC with milliseconds. */
  readonly recorded_at: string;
  /** The version of the shape of `data`. */
  readonly schema: number;
};

export type NewEvent = {
  /** A UUID derived from the command and the index: a repeated append carries the same ids. */
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

/** `upTo`: how far the log was searched, to continue from; null if nothing follows the given position. */
export type TypesPage = { readonly events: readonly RecordedEvent[]; readonly upTo: Position | null };

/**
 * When the bytes of erased events leave the files: by itself, or when an operator scavenges the server and the 256 MB
 * chunk that holds them is full by then.
 */
export type BytesRemoved = "within-seconds" | "with-the-next-scavenge";

/**
 * Adapters throw `LogUnavailable` if nothing was written, and `OutcomeUnknown` if that is uncertain (`infra/log-
 * errors.ts`): then the same call, with the same ids and revision, is safe to repeat.
 */
export type EventLog = {
  /** Durable when it resolves; `revision` and `position` are the last event's. Repeating an append adds nothing. */
  append(stream: string, expected: Expected, events: readonly NewEvent[]): Promise<AppendOutcome>;
  /** An empty page is the end of the stream. */
  read(stream: string, after: Revision | null, limit: number): Promise<readonly RecordedEvent[]>;
  last(stream: string): Promise<RecordedEvent | null>;
  /** The whole log in one total order; "records" leaves out `payload-` and `personal-` streams. */
  readAll(after: Position | null, limit: number, what?: "everything" | "records"): Promise<readonly RecordedEvent[]>;
  /** For a follower that needs few of all events. */
  readTypes(types: readonly string[], after: Position | null, limit: number): Promise<TypesPage>;
  /** The position of the last event; null if there is none. "records" leaves out `payload-` and `personal-` streams. */
  head(what?: "everything" | "records"): Promise<Position | null>;
  /** A permanent name of this log. A copy has another, because its positions differ. */
  identity(): Promise<string>;
  /**
   * Erases a `payload-` or `personal-` stream up to and including `upTo`, or all of it; throws for any other stream.
   * Later events stay. Erasing twice has the same effect as once. If no later event exists, the erasure takes a
   * revision: an append under way that expects the last erased one is a conflict.
   */
  erase(stream: string, upTo?: Revision): Promise<void>;
  /** Erased events are hidden from every reader at once; their bytes may stay in the files for longer. */
  readonly bytesRemoved: BytesRemoved;
  /** A hint that may be lost: followers of the log also poll. Returns a function that stops listening. */
  onAppended(wake: () => void): () => void;
  close(): Promise<void>;
};
