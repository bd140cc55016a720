import type { JsonObject } from "../../domain/json.ts";
import type { Revision } from "../../domain/ports/event-log.ts";

/**
 * What the event log needs of a connection to EventStoreDB, and no more: `client.ts` and its neighbours `client-*.ts` say
 * it in the words of one client, and are all that another client would replace.
 */
export type Connection = {
  /** One try. Rejects with a `ConnectionFailure` after `timeoutMs` at the latest. */
  append(
    stream: string,
    expected: "absent" | Revision,
    events: readonly ProposedEvent[],
    timeoutMs: number,
  ): Promise<Answered>;
  /** At most `count` events; none when there is no such stream. Rejects when nothing has come for `idleMs`. */
  readStream(stream: string, page: StreamPage, idleMs: number): Promise<readonly StoredEvent[]>;
  /** As `readStream`, of the whole log, system events included. */
  readAll(page: AllPage, idleMs: number): Promise<readonly StoredEvent[]>;
  /** Follows the records from here on: system events and payloads are left out. Returns how to stop, silently. */
  follow(follower: Follower): () => void;
  /** Ends all calls; whoever waits for one is told. */
  close(): Promise<void>;
};

/** `data` and `meta` are JSON as UTF-8; an event of the server's own kind has no `meta`. */
export type ProposedEvent = {
  readonly id: string;
  readonly type: string;
  readonly data: Uint8Array;
  readonly meta: Uint8Array | null;
};

/** `at` is null when the server did not say where, as for some repeats. */
export type Answered =
  | { readonly outcome: "appended"; readonly at: Cursor | null }
  | { readonly outcome: "conflict"; readonly actual: Revision | "absent" }
  /** The server was set to take less than it does by default. */
  | { readonly outcome: "too-large"; readonly bytesMax: number };

/** A place in the whole log, in bytes. */
export type Cursor = { readonly commit: bigint; readonly prepare: bigint };

/** What is not JSON, or has no metadata, was not written by an event log: `data` or `meta` is then null. */
export type StoredEvent = {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: Revision;
  readonly at: Cursor;
  /** When the server wrote it, by its clock; null when it does not say. */
  readonly writtenMs: number | null;
  /** Null for what is no JSON object, as is `meta`. */
  readonly data: JsonObject | null;
  readonly meta: JsonObject | null;
  /** An event log wrote it, and its data or metadata are no JSON object any more. */
  readonly isDamaged: boolean;
};

export type StreamPage =
  | { readonly direction: "forwards"; readonly from: Revision; readonly count: number }
  | { readonly direction: "backwards"; readonly from: "end"; readonly count: number };

/** Forwards a page begins with the event at `from` itself, backwards with the one before it. */
export type AllPage = (
  | { readonly direction: "forwards"; readonly from: Cursor | "start"; readonly count: number }
  | { readonly direction: "backwards"; readonly from: Cursor | "end"; readonly count: number }
) & {
  /** Of all other events the data are left out, {} instead: those of a page of payloads are hundreds of MB. */
  readonly wanted?: (event: Pick<StoredEvent, "stream" | "type">) => boolean;
};

export type Follower = {
  /** It is open: what is appended from here on is told. */
  readonly opened: () => void;
  readonly appended: (at: Cursor) => void;
  /** It has ended, for whatever reason, and tells nothing more. Called once. */
  readonly dropped: () => void;
};

/**
 * `unsent`: the server was not reached, so surely nothing was done. `unknown`: it may have been done. `refused`: it was
 * not done, and will not be when it is asked again.
 */
export type FailureKind = "unsent" | "unknown" | "refused";

/** Why, where that makes a difference to somebody. */
export type FailureReason =
  | "access"
  | "closed"
  | "deleted"
  | "hung-up"
  | "not-eventstoredb"
  | "not-found"
  | "not-reached"
  | "other"
  | "position"
  | "silent"
  | "tls"
  | "too-old";

export class ConnectionFailure extends Error {
  override readonly name = "ConnectionFailure";
  readonly kind: FailureKind;
  readonly reason: FailureReason;

  constructor(kind: FailureKind, reason: FailureReason, message: string) {
    super(message);
    this.kind = kind;
    this.reason = reason;
  }
}
