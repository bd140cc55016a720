import type { ActorKind, Position, RecordedEvent } from "../domain/ports/event-log.ts";
import { documentOf, type Projection } from "./projection.ts";
import { categoryOf, subjectOf } from "./streams.ts";

/** The fields by which an audit record is searched. Its content is in the log, at `stream` and `revision`. */
export type AuditDocument = {
  readonly account: string;
  /** The number of the record among its account's records: from 0, in the order of the log, without a gap. */
  readonly index: number;
  readonly stream: string;
  readonly revision: number;
  readonly position: Position;
  readonly type: string;
  readonly recorded_at: string;
  readonly actor_kind: ActorKind;
  readonly actor_id: string;
  /** What follows the first dash of the stream's name. */
  readonly subject: string;
  /** The latest `recorded_at` of all records up to this one; absent if it is this record's own time. */
  readonly latest?: string;
};

/** One document for each account, whose id is the account's. It has no search fields, so no search finds it. */
export type AuditHead = {
  readonly count: number;
  readonly latest: string;
  /**
   * Nodes' clocks differ, so a record may be older than an earlier one: by at most this many ms so far. `latest` never
   * falls, so a search by time can bisect: records before the first with `latest >= from` are earlier than `from`, and
   * those from the first with `latest > to + disorder_ms` on are later than `to`.
   */
  readonly disorder_ms: number;
  /** The categories of all the account's streams, by which a search by id tries the names of streams. */
  readonly categories: readonly string[];
};

/** Digits of an index in an id. No account outgrows them, so new records come last in every store. */
const INDEX_DIGITS = 12;

export const recordId = (account: string, index: number): string =>
  `${account}/${String(index).padStart(INDEX_DIGITS, "0")}`;

/** Not audited: payloads and personal data, which are erased, and checkpoints, which are about the records. */
const NO_RECORDS: ReadonlySet<string> = new Set(["payload", "personal", "checkpoint"]);

/** True if the event is one of its account's records, which are numbered, and are the leaves of the account's tree. */
export const isRecord = ({ stream, meta }: Pick<RecordedEvent, "stream" | "meta">): boolean =>
  meta.account !== "" && !NO_RECORDS.has(categoryOf(stream));

const EMPTY: AuditHead = { count: 0, latest: "", disorder_ms: 0, categories: [] };

export const audit: Projection<AuditDocument | AuditHead> = {
  schema: {
    name: "audit.v1",
    fields: { account: "text", index: "number", type: "text", actor_id: "text" },
    // The ids number an account's records, so no index has to. There is none by subject either: the log finds a
    // subject's streams, and each event would write such an index in a new place.
    indexes: [
      ["account", "type", "index"],
      ["account", "actor_id", "index"],
    ],
    packing: {
      members: {
        account: "word",
        type: "word",
        actor_id: "word",
        stream: "text",
        revision: "number",
        position: "position",
        recorded_at: "time",
        actor_kind: "word",
        subject: "subject",
        latest: "time",
      },
      numbered: ["account", "index"],
    },
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
