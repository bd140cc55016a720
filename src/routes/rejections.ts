import type { Condition, Document, ViewStore } from "../../domain/ports.ts";
import { source } from "../../domain/source/decider.ts";
import { type RejectionDocument, rejections } from "../../projections/rejections.ts";
import type { Aggregates } from "../aggregates.ts";
import { notFound } from "../problems.ts";
import { isPage, LISTING_QUERY, listOf, pageOf } from "./listing.ts";
import { type JsonSchema, READERS, type Route } from "./route.ts";
import { TIME_RANGE_QUERY, timeRangeOf } from "./time-range.ts";

export type RejectionsDeps = { readonly aggregates: Pick<Aggregates, "load">; readonly views: Pick<ViewStore, "page"> };

const VIEW = rejections.schema.name;
const ID = /^src_[a-z2-7]{32}$/;
const REASONS = [
  "missing",
  "malformed",
  "mismatch",
  "stale",
  "unknown-secret",
] as const satisfies readonly RejectionDocument["reason"][];

const REJECTION: JsonSchema = {
  type: "object",
  required: ["minute", "reason", "count", "sample"],
  properties: {
    minute: { type: "string", format: "date-time", description: "Its beginning" },
    reason: { enum: REASONS },
    count: { type: "integer" },
    sample: {
      type: ["object", "null"],
      description: "Who the first of them was from",
      required: ["ip", "user_agent"],
      properties: { ip: { type: "string" }, user_agent: { type: "string" } },
    },
  },
};

const shown = (document: Document) => {
  // The view's documents are what its projection writes.
  const { minute, reason, count, sample } = document as RejectionDocument;
  return { minute, reason, count, sample };
};

const list =
  ({ aggregates, views }: RejectionsDeps): Route["handle"] =>
  async ({ principal: { account }, params: { id = "" }, query }) => {
    const range = timeRangeOf(query);
    if ("problem" in range) return range;
    if (!ID.test(id)) return notFound();
    const { state } = await aggregates.load(source, `source-${id}`);
    if (state.phase === "absent" || state.account !== account) return notFound();
    const where: Condition[] = [
      { field: "account", is: "=", value: account },
      { field: "source_id", is: "=", value: id },
      ...(query.reason === undefined ? [] : [{ field: "reason", is: "=", value: String(query.reason) } as const]),
      ...(range.from === null ? [] : [{ field: "minute", is: ">=", value: range.from } as const]),
      ...(range.to === null ? [] : [{ field: "minute", is: "<", value: range.to } as const]),
    ];
    const page = await pageOf(views, { view: VIEW, where, sort: { field: "minute", order: "desc" } }, query, shown);
    return isPage(page) ? { status: 200, body: page } : page;
  };

/** What a source refused before anybody knew whom it was from; a deleted one's as well. */
export const rejectionRoutes = (deps: RejectionsDeps): readonly Route[] => [
  {
    method: "GET",
    path: "/v1/sources/{id}/rejections",
    who: READERS,
    summary: "Requests refused for their signature, counted by minute and reason, newest first",
    tag: "sources",
    query: { reason: { enum: REASONS, description: "Only for this reason" }, ...TIME_RANGE_QUERY, ...LISTING_QUERY },
    answers: { 200: listOf(REJECTION) },
    reads: [VIEW],
    handle: list(deps),
  },
];
