import type { ActorKind, Position, RecordedEvent } from "../domain/ports/event-log.ts";
import { documentOf, type Projection } from "./projection.ts";
import { categoryOf, subjectOf } from "./streams.ts";

/** The search fields of one record; its content is in the log, at `stream` and `revision`. */
export type AuditDocument = {
  readonly account: string;
  /** Counts an account's records from 0, in the order of the log, without a gap. */
  readonly index: number;
  readonly stream: string;
  readonly revision: number;
  readonly position: Position;
  readonly type: string;
  readonly recorded_at: string;
  readonly actor_kind: ActorKind;
  readonly actor_id: string;
  /** The part of the stream's name after the first dash. */
  readonly subject: string;
  /** The latest `recorded_at` up to and including this record; absent if it is the record's own. */
  readonly latest?: string;
};

/** The document has the account's id and no search fields. */
export type AuditHead = {
  readonly count: number;
  readonly latest: string;
  /**
   * The longest time in ms by which a record was older than an earlier one, as nodes' clocks differ. `latest` never
   * falls, so a search by time can bisect: records before the first with `latest >= from` are earlier than `from`,
   * those from the first with `latest > to + disorder_ms` on are later than `to`.
   */
  readonly disorder_ms: number;
  /** The categories of all streams of the account, by which an id leads to its streams. */
  readonly categories: readonly string[];
};

/** A fixed width that no account outgrows: new records come last in every store. */
const INDEX_DIGITS = 12;

export const recordId = (account: string, index: number): string =>
  `${account}/${String(index).padStart(INDEX_DIGITS, "0")}`;

/** Erasable streams are no records; checkpoints are about the records. */
const NO_RECORDS: ReadonlySet<string> = new Set(["payload", "personal", "checkpoint"]);

const isRecord = ({ stream, meta }: RecordedEvent): boolean =>
  meta.account !== "" && !NO_RECORDS.has(categoryOf(stream));

const EMPTY: AuditHead = { count: 0, latest: "", disorder_ms: 0, categories: [] };

export const audit: Projection<AuditDocument | AuditHead> = {
  schema: {
    name: "audit.v1",
    fields: { account: "text", index: "number", type: "text", actor_id: "text" },
    // An account's records are found by index. There is none by subject: the log finds its streams, and every event
    // would write such an index in a new place.
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
    const head = documentOf<AuditHead>(documents, account) ?? EMPTY;
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
