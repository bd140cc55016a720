import type { JsonObject } from "../../domain/json.ts";
import type { Revision } from "../../domain/ports/event-log.ts";

/** Only `client.ts` and `client-*.ts` know `@eventstore/db-client`; everything else in this folder uses this type. */
export type Connection = {
  append(
    stream: string,
    expected: "absent" | Revision,
    events: readonly ProposedEvent[],
    timeoutMs: number,
  ): Promise<AppendAnswer>;
  /** Resolves with no events if the stream is absent. Rejects when the server has been silent for `idleMs`. */
  readStream(stream: string, page: StreamPage, idleMs: number): Promise<readonly StoredEvent[]>;
  readAll(page: AllPage, idleMs: number): Promise<readonly StoredEvent[]>;
  /** Reports new records, but neither system events nor payloads. The returned function ends the reports. */
  follow(follower: Follower): () => void;
  close(): Promise<void>;
};

/** An event to append. `meta` is null for what is no record: the server's own kinds, and an erasure's blank event. */
export type ProposedEvent = {
  readonly id: string;
  readonly type: string;
  readonly data: Uint8Array;
  readonly meta: Uint8Array | null;
};

/** `at` is the position that the server reported; null if it reported none, as for some repeats. */
export type AppendAnswer =
  | { readonly outcome: "appended"; readonly at: Cursor | null }
  | { readonly outcome: "conflict"; readonly actual: Revision | "absent" }
  | { readonly outcome: "too-large"; readonly bytesMax: number };

export type Cursor = { readonly commit: bigint; readonly prepare: bigint };

export type StoredEvent = {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: Revision;
  readonly at: Cursor;
  /** The server's clock at the write, in ms since 1970; null if the server reports no time. */
  readonly writtenMs: number | null;
  readonly data: JsonObject | null;
  readonly meta: JsonObject | null;
  /** True if an event log of ours wrote the event, but its data or metadata are no longer a JSON object. */
  readonly isDamaged: boolean;
};

export type StreamPage =
  | { readonly direction: "forwards"; readonly from: Revision; readonly count: number }
  | { readonly direction: "backwards"; readonly from: "end"; readonly count: number };

/** Forwards, a page begins with the event at `from`; backwards, with the event before `from`. */
export type AllPage = (
  | { readonly direction: "forwards"; readonly from: Cursor | "start"; readonly count: number }
  | { readonly direction: "backwards"; readonly from: Cursor | "end"; readonly count: number }
) & {
  /** Absent: every event. With "records" the server leaves out the erasable streams, and neither sends nor counts them. */
  readonly only?: "records";
  /** Events for which this is false get `{}` as data, because a page of payloads can take hundreds of MB. */
  readonly wanted?: (event: Pick<StoredEvent, "stream" | "type">) => boolean;
};

export type Follower = {
  readonly opened: () => void;
  readonly appended: (at: Cursor) => void;
  readonly dropped: () => void;
};

/** `unsent`: the server did nothing. `unknown`: it may have done it. `refused`: it would refuse a repeat as well. */
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
