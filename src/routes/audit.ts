import type { EventLog, ViewStore } from "../../domain/ports.ts";
import { type AuditDocument, audit } from "../../projections/audit.ts";
import { leafBytes, leafHash } from "../audit/leaf.ts";
import { eventOf } from "../audit/records.ts";
import { withoutSealed } from "../audit/sealed.ts";
import { searchAudit } from "../audit/search.ts";
import { isPage, LISTING_QUERY, listOf, pageOf } from "./listing.ts";
import type { JsonSchema, Route } from "./route.ts";
import { TIME_RANGE_QUERY, timeRangeOf } from "./time-range.ts";

export type AuditDeps = {
  readonly views: Pick<ViewStore, "get" | "getMany" | "page" | "count">;
  readonly log: Pick<EventLog, "read" | "last">;
};

const VIEW = audit.schema.name;
const TEXT_LENGTH_MAX = 512;
const text = (description: string): JsonSchema => ({
  type: "string",
  minLength: 1,
  maxLength: TEXT_LENGTH_MAX,
  description,
});

const QUERY: Readonly<Record<string, JsonSchema>> = {
  ...TIME_RANGE_QUERY,
  type: text("Only records of this type, as EventAdmitted"),
  actor: text("Only what this member, key, source or system part did"),
  subject: text("Only records about this id"),
  stream: text("Only records of this stream: its name, or the id in it"),
  order: { enum: ["asc", "desc"], description: "Newest first unless `asc`" },
  ...LISTING_QUERY,
};

const RECORD: JsonSchema = {
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
    "metadata",
    "leaf_hash",
    "sealed",
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
      properties: { kind: { enum: ["member", "key", "agent", "source", "system"] }, id: { type: "string" } },
    },
    subject: { type: "string" },
    data: { type: "object", description: "As recorded, but for values that are stored sealed: those are `[sealed]`" },
    metadata: { type: "object" },
    leaf_hash: { type: "string", pattern: "^[0-9a-f]{64}$", description: "RFC 6962 leaf hash of the record" },
    sealed: { type: "boolean", description: "A signed checkpoint covers it" },
  },
};

const shown = async (log: AuditDeps["log"], record: AuditDocument) => {
  const { index, stream, revision, type, recorded_at, actor_kind, actor_id, subject } = record;
  const event = await eventOf(log, record);
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
    metadata: event.meta,
    leaf_hash: leafHash(leafBytes(index, event)),
    sealed: false,
  };
};

const isIndex = (value: unknown): value is number => Number.isSafeInteger(value);

const optional = (name: string, value: unknown) => (value === undefined ? {} : { [name]: String(value) });

const search =
  ({ views, log }: AuditDeps): Route["handle"] =>
  async ({ principal, query }) => {
    const range = timeRangeOf(query);
    if ("problem" in range) return range;
    const filter = {
      account: principal.account,
      ...range,
      ...optional("type", query.type),
      ...optional("actor", query.actor),
      ...optional("subject", query.subject),
      ...optional("stream", query.stream),
      order: query.order === "asc" ? "asc" : "desc",
    } as const;
    const records: Pick<ViewStore, "page"> = {
      async page(_view, { after, limit }) {
        const seen = after?.value ?? null;
        // A cursor of another list, or of nobody's: there is no record half-way between two.
        if (seen !== null && !isIndex(seen)) return [];
        const found = await searchAudit({ views, log }, { ...filter, after: seen }, limit);
        return found.map((document) => ({ id: String(document.index), document }));
      },
    };
    const sort = { field: "index", order: filter.order } as const;
    // Found by `records` alone, which gives records.
    const page = await pageOf(records, { view: VIEW, where: [], sort }, query, (document) => document as AuditDocument);
    if (!isPage(page)) return page;
    const data = await Promise.all(page.data.map((record) => shown(log, record)));
    return { status: 200, body: { data, next_cursor: page.next_cursor } };
  };

export const auditRoutes = (deps: AuditDeps): readonly Route[] => [
  {
    method: "GET",
    path: "/v1/audit",
    who: { session: "auditor", key: "auditor" },
    summary: "Search the account's records",
    tag: "audit",
    query: QUERY,
    answers: { 200: listOf(RECORD) },
    reads: [VIEW],
    handle: search(deps),
  },
];
