import type { ActorKind, Position, RecordedEvent } from "../domain/ports/event-log.ts";
import type { Projection } from "./projection.ts";
import { categoryOf, subjectOf } from "./streams.ts";

/** One record of an account's audit log, to search by; what it says is in the log, at `stream` and `revision`. */
export type AuditDocument = {
  readonly account: string;
  /** 0, 1, 2 … in an account, in the order of the log, without a gap. */
  readonly index: number;
  readonly stream: string;
  readonly revision: number;
  /** The record's in the log; rises with the index. */
  readonly position: Position;
  readonly type: string;
  readonly recorded_at: string;
  readonly actor_kind: ActorKind;
  readonly actor_id: string;
  /** The id behind the stream's first dash. */
  readonly subject: string;
  /** The latest `recorded_at` up to and with this record; left out when it is the record's own. */
  readonly latest?: string;
};

/** Under the account's id, without the fields that the search uses. */
export type AuditHead = {
  readonly count: number;
  readonly latest: string;
  /**
   * How far a record's time ever was behind that of one before it, in ms: clocks of several nodes differ and are set
   * back. `latest` never falls, so a search by time can halve its way: records before the first with `latest >= from`
   * are earlier than `from`, and those at and behind the first with `latest > to + disorder_ms` are later than `to`.
   */
  readonly disorder_ms: number;
  /** Before the first dash of the streams seen: with them an id leads to its streams. */
  readonly categories: readonly string[];
};

/** Digits for more records than an account can have; of one width, so that new records come last in every store. */
const INDEX_DIGITS = 12;

export const recordId = (account: string, index: number): string =>
  `${account}/${String(index).padStart(INDEX_DIGITS, "0")}`;

/** Payloads and personal data can be erased, so they are no records; checkpoints are about the records. */
const NO_RECORDS: ReadonlySet<string> = new Set(["payload", "personal", "checkpoint"]);

const isRecord = ({ stream, meta }: RecordedEvent): boolean =>
  meta.account !== "" && !NO_RECORDS.has(categoryOf(stream));

const EMPTY: AuditHead = { count: 0, latest: "", disorder_ms: 0, categories: [] };

export const audit: Projection = {
  schema: {
    name: "audit.v1",
    fields: { account: "text", index: "number", type: "text", actor_id: "text" },
    // None for the account alone: its records are found by counting. None by subject: the log itself knows its streams,
    // and of all indexes that one would be written to in a new place by every event.
    indexes: [
      ["account", "type", "index"],
      ["account", "actor_id", "index"],
    ],
  },
  idsOf: (event) => (isRecord(event) ? [event.meta.account] : []),
  apply(event, documents) {
    if (!isRecord(event)) return;
    const { stream, revision, position, type } = event;
    const { account, actor, recorded_at } = event.meta;
    // The view's own documents come back as they were put.
    const head = (documents.get(account) as AuditHead | null) ?? EMPTY;
    const late = recorded_at < head.latest;
    const record = {
      account,
      index: head.count,
      stream,
      revision,
      position,
      type,
      recorded_at,
      actor_kind: actor.kind,
      actor_id: actor.id,
      subject: subjectOf(stream),
    };
    documents.put(recordId(account, head.count), late ? { ...record, latest: head.latest } : record);
    const category = categoryOf(stream);
    documents.put(account, {
      categories: head.categories.includes(category) ? head.categories : [...head.categories, category].sort(),
      count: head.count + 1,
      latest: late ? head.latest : recorded_at,
      disorder_ms: late
        ? Math.max(head.disorder_ms, Date.parse(head.latest) - Date.parse(recorded_at))
        : head.disorder_ms,
    });
  },
};
