import { defined } from "../../../domain/defined.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { PersonalValue } from "../../../domain/personal/events.ts";
import type { EventLog, RecordedEvent } from "../../../domain/ports/event-log.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import { type AuditDocument, audit } from "../../../projections/audit.ts";
import { type LeafReads, type LeafState, withLeaves } from "../../audit/record-leaves.ts";
import { eventOf } from "../../audit/records.ts";
import { withoutSealed } from "../../audit/sealed.ts";
import { searchAudit } from "../../audit/search.ts";
import { commitmentsIn, erasureStream, type PersonalData } from "../../erasure/personal-data.ts";
import { PERSONAL_DATA_ERASED, REASON_BODY } from "../../http/json-schema.ts";
import { isPage, LISTING_QUERY, listOf, pageOf } from "../../http/listing.ts";
import { named } from "../../http/named-schemas.ts";
import { type Handler, type JsonSchema, positionOf, type Route, route } from "../../http/route.ts";
import { TIME_RANGE_QUERY, timeRangeOf } from "../../http/time-range.ts";
import { notFound } from "../../streams/problems.ts";
import type { Named } from "../directory/names.ts";

export type AuditDeps = {
  readonly views: Pick<ViewStore, "get" | "getMany" | "page" | "count">;
  readonly log: Pick<EventLog, "read" | "last" | "bytesRemoved">;
  readonly personal: Pick<PersonalData, "read" | "keep" | "forget" | "isKnown" | "erase">;
  /** Null on a node that folds no evidence. */
  readonly evidence: LeafReads | null;
  readonly namesOf: (account: string, ids: readonly string[]) => Promise<Readonly<Record<string, Named>>>;
  /** Names of events, approvals and bundles, which the directory does not have. */
  readonly titlesOf: (account: string, ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;
};

const VIEW = audit.schema.name;
const TEXT_LENGTH_MAX = 512;
const searched = (description: string) =>
  ({ type: "string", minLength: 1, maxLength: TEXT_LENGTH_MAX, description }) as const satisfies JsonSchema;

const QUERY = {
  ...TIME_RANGE_QUERY,
  type: searched("Only records of this type, such as EventAdmitted"),
  actor: searched("Only records of what this member, key, source or part of the system did"),
  subject: searched("Only records about this id"),
  stream: searched("Only records of this stream: its name, or the id in it"),
  order: { enum: ["asc", "desc"], description: "Newest first unless `asc`" },
  ...LISTING_QUERY,
} as const satisfies Record<string, JsonSchema>;

const RECORD: JsonSchema = named("AuditRecord", {
  type: "object",
  required: [
    "index",
    "stream",
    "revision",
    "id",
    "type",
    "recorded_at",
    "actor",
    "subject",
    "data",
    "personal",
    "metadata",
    "leaf_hash",
    "sealed",
    "witnessed",
  ],
  properties: {
    index: { type: "integer", description: "0, 1, 2 … in the account, in the order of the log, without a gap" },
    stream: { type: "string" },
    revision: { type: "integer" },
    id: { type: "string", format: "uuid" },
    type: { type: "string" },
    recorded_at: { type: "string", format: "date-time" },
    actor: {
      type: "object",
      required: ["kind", "id"],
      properties: {
        kind: { enum: ["member", "key", "agent", "source", "system"] },
        id: { type: "string" },
        name: { type: ["string", "null"], description: "Not part of the record, and so not of its proof" },
      },
    },
    subject: { type: "string" },
    subject_name: { type: ["string", "null"], description: "As that of the actor; an event's is its type" },
    data: { type: "object", description: "As recorded; values that are stored sealed are `[sealed]`" },
    personal: {
      type: "object",
      description:
        "The values of the commitments in `data` (`{id, commitment, size}`) by their ids; erased values are missing",
      additionalProperties: { type: ["string", "object"] },
    },
    metadata: { type: "object" },
    leaf_hash: {
      type: ["string", "null"],
      pattern: "^[0-9a-f]{64}$",
      description: "RFC 6962 leaf hash of the record; null for a moment, until this node has folded the record",
    },
    sealed: { type: "boolean", description: "A signed checkpoint covers it" },
    witnessed: { type: "boolean", description: "A checkpoint that witnesses have cosigned covers it" },
  },
});

type Shown = { readonly record: AuditDocument; readonly event: RecordedEvent; readonly leaf: LeafState };

const personalOf = async (
  personal: AuditDeps["personal"],
  account: string,
  data: JsonObject,
): Promise<Record<string, PersonalValue>> => {
  const values = await Promise.all(
    commitmentsIn(data).map(async (it) => [it.id, await personal.read(it, account)] as const),
  );
  return Object.fromEntries(values.flatMap(([id, value]) => (value === null ? [] : [[id, value]])));
};

const shown = async (personal: AuditDeps["personal"], { record, event, leaf }: Shown) => {
  const { index, stream, revision, type, recorded_at, actor_kind, actor_id, subject } = record;
  return {
    index,
    stream,
    revision,
    id: event.id,
    type,
    recorded_at,
    actor: { kind: actor_kind, id: actor_id },
    subject,
    data: withoutSealed(event.data),
    personal: await personalOf(personal, event.meta.account, event.data),
    metadata: event.meta,
    ...leaf,
  };
};

const isIndex = (value: unknown): value is number => Number.isSafeInteger(value);

const search =
  (deps: AuditDeps): Handler<{ query: typeof QUERY }> =>
  async ({ principal, query }) => {
    const { views, log } = deps;
    const { type, actor, subject, stream, order = "desc" } = query;
    const range = timeRangeOf(query);
    if ("problem" in range) return range;
    const filter = {
      account: principal.account,
      ...range,
      ...defined({ type, actor, subject, stream }),
      order,
    };
    const records: Pick<ViewStore, "page"> = {
      async page(_view, { after, limit }) {
        const seen = after?.value ?? null;
        // A cursor without an index is one of another list, after which nothing follows here.
        if (seen !== null && !isIndex(seen)) return [];
        const found = await searchAudit({ views, log }, { ...filter, after: seen }, limit);
        return found.map((document) => ({ id: String(document.index), document }));
      },
    };
    const sort = { field: "index", order: filter.order } as const;
    const page = await pageOf(records, { view: VIEW, where: [], sort }, query, (document: AuditDocument) => document);
    if (!isPage(page)) return page;
    const { account } = principal;
    const subjects = page.data.map(({ subject: about }) => about);
    const [names, titles] = await Promise.all([
      deps.namesOf(account, [...page.data.map(({ actor_id }) => actor_id), ...subjects]),
      deps.titlesOf(account, subjects),
    ]);
    const named = (id: string): string | null => (Object.hasOwn(names, id) ? (names[id]?.name ?? null) : null);
    const found = await Promise.all(
      page.data.map(async (record) => ({ record, index: record.index, event: await eventOf(log, record) })),
    );
    const data = await Promise.all(
      (await withLeaves(deps.evidence, account, found)).map(async (record) => {
        const it = await shown(deps.personal, record);
        return {
          ...it,
          actor: { ...it.actor, name: named(it.actor.id) },
          subject_name: titles.get(it.subject) ?? named(it.subject),
        };
      }),
    );
    return { status: 200, body: { data, next_cursor: page.next_cursor } };
  };

const eraseOne =
  ({ log, personal }: AuditDeps): Handler<{ body: typeof REASON_BODY; params: "id" }> =>
  async ({ params: { id }, body, envelope }) => {
    if (!(await personal.isKnown(id, envelope.account))) return notFound();
    const reason = await personal.keep(erasureStream(id), body.reason, envelope);
    const ran = await personal.erase(id, reason, envelope);
    if (ran?.outcome !== "accepted") await personal.forget(reason);
    if (ran === null || ran.outcome === "rejected") return notFound();
    const { erasedAt } = ran.known.state;
    return { status: 200, body: { id, erased_at: erasedAt, bytes_removed: log.bytesRemoved }, ...positionOf(ran) };
  };

export const auditRoutes = (deps: AuditDeps): readonly Route[] => [
  route({
    method: "GET",
    path: "/v1/audit",
    who: { session: "auditor", key: "auditor" },
    summary: "Search the account's records",
    tag: "audit",
    query: QUERY,
    answers: { 200: listOf(RECORD) },
    reads: [VIEW],
    handle: search(deps),
  }),
  route({
    method: "DELETE",
    path: "/v1/audit/personal/{id}",
    who: { session: "owner" },
    summary: "Erase the personal data of one commitment; the records that name it stay as they are",
    tag: "audit",
    body: REASON_BODY,
    answers: { 200: PERSONAL_DATA_ERASED },
    handle: eraseOne(deps),
  }),
];
