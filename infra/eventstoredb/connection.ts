import type { JsonObject } from "../../domain/json.ts";
import type { Revision } from "../../domain/ports/event-log.ts";

/** Another client would replace `client.ts` and `client-*.ts` alone. */
export type Connection = {
  /** One try. Rejects with a `ConnectionFailure` after `timeoutMs` at the latest. */
  append(
    stream: string,
    expected: "absent" | Revision,
    events: readonly ProposedEvent[],
    timeoutMs: number,
  ): Promise<Answered>;
  /** At most `count` events; none if the stream does not exist. Rejects after `idleMs` of silence. */
  readStream(stream: string, page: StreamPage, idleMs: number): Promise<readonly StoredEvent[]>;
  /** Includes system events. */
  readAll(page: AllPage, idleMs: number): Promise<readonly StoredEvent[]>;
  /** Follows new records, without system events and payloads. The returned function stops it silently. */
  follow(follower: Follower): () => void;
  /** Ends all calls and rejects their promises. */
  close(): Promise<void>;
};

/** UTF-8 JSON; the server's own kinds of events have no `meta`. */
export type ProposedEvent = {
  readonly id: string;
  readonly type: string;
  readonly data: Uint8Array;
  readonly meta: Uint8Array | null;
};

/** `at` is null if the server did not report it, as for some repeats. */
export type Answered =
  | { readonly outcome: "appended"; readonly at: Cursor | null }
  | { readonly outcome: "conflict"; readonly actual: Revision | "absent" }
  /** The server is configured with a lower limit than its default. */
  | { readonly outcome: "too-large"; readonly bytesMax: number };

/** A byte position in the whole log. */
export type Cursor = { readonly commit: bigint; readonly prepare: bigint };

export type StoredEvent = {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: Revision;
  readonly at: Cursor;
  /** The server's time of the write; null if it does not report one. */
  readonly writtenMs: number | null;
  /** Null if it is no JSON object; so is `meta`. */
  readonly data: JsonObject | null;
  readonly meta: JsonObject | null;
  /** An event log wrote it, but its data or metadata are no longer a JSON object. */
  readonly isDamaged: boolean;
};

export type StreamPage =
  | { readonly direction: "forwards"; readonly from: Revision; readonly count: number }
  | { readonly direction: "backwards"; readonly from: "end"; readonly count: number };

/** Forwards, a page begins with the event at `from`; backwards, with the one before it. */
export type AllPage = (
  | { readonly direction: "forwards"; readonly from: Cursor | "start"; readonly count: number }
  | { readonly direction: "backwards"; readonly from: Cursor | "end"; readonly count: number }
) & {
  /** Other events get `{}` as data: the data of a page of payloads are hundreds of MB. */
  readonly wanted?: (event: Pick<StoredEvent, "stream" | "type">) => boolean;
};

export type Follower = {
  /** Appends from here on are reported. */
  readonly opened: () => void;
  readonly appended: (at: Cursor) => void;
  /** Called once, for any reason. */
  readonly dropped: () => void;
};

/** `unsent`: nothing was done. `unknown`: it may have been done. `refused`: a repeat would be refused as well. */
export type FailureKind = "unsent" | "unknown" | "refused";

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
