import type { Commitment } from "../../../domain/evidence/commitment.ts";
import type { Client } from "../../../domain/personal/events.ts";
import type { Condition, ViewStore } from "../../../domain/ports/view-store.ts";
import { source } from "../../../domain/source/decider.ts";
import { type SignatureFailureDocument, signatureFailures } from "../../../projections/signature-failures.ts";
import type { PersonalData } from "../../erasure/personal-data.ts";
import { isPage, LISTING_QUERY, listOf, pageOf } from "../../http/listing.ts";
import { named } from "../../http/named-schemas.ts";
import { type Handler, type JsonSchema, READERS, type Route, route } from "../../http/route.ts";
import { TIME_RANGE_QUERY, timeRangeOf } from "../../http/time-range.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import { notFound } from "../../streams/problems.ts";

export type SignatureFailuresDeps = {
  readonly aggregates: Pick<Aggregates, "load">;
  readonly views: Pick<ViewStore, "page">;
  readonly personal: Pick<PersonalData, "read">;
};

const VIEW = signatureFailures.schema.name;
const ID = /^src_[a-z2-7]{32}$/;
const REASONS = [
  "missing",
  "malformed",
  "mismatch",
  "stale",
  "unknown-secret",
] as const satisfies readonly SignatureFailureDocument["reason"][];

const QUERY = {
  reason: { enum: REASONS, description: "Only for this reason" },
  ...TIME_RANGE_QUERY,
  ...LISTING_QUERY,
} as const satisfies Record<string, JsonSchema>;

const REJECTION: JsonSchema = named("SignatureFailure", {
  type: "object",
  required: ["minute", "reason", "count", "sample"],
  properties: {
    minute: { type: "string", format: "date-time", description: "Its beginning" },
    reason: { enum: REASONS },
    count: { type: "integer" },
    sample: {
      type: ["object", "null"],
      description: "Where the first of them came from; null once that was erased",
      required: ["ip", "user_agent"],
      properties: { ip: { type: "string" }, user_agent: { type: "string" } },
    },
  },
});

/** The client that sent the request; null if its data were erased, or none were kept. */
const clientOf = async (
  personal: SignatureFailuresDeps["personal"],
  account: string,
  commitment: Commitment | null,
): Promise<Client | null> =>
  // The commitment of a refused request is always one to a `Client`, on which the cast relies.
  commitment === null ? null : ((await personal.read(commitment, account)) as Client | null);

const list =
  ({ aggregates, views, personal }: SignatureFailuresDeps): Handler<{ query: typeof QUERY; params: "id" }> =>
  async ({ principal: { account }, params: { id }, query }) => {
    const range = timeRangeOf(query);
    if ("problem" in range) return range;
    if (!ID.test(id)) return notFound();
    const { state } = await aggregates.load(source, `source-${id}`);
    if (state.phase === "absent" || state.account !== account) return notFound();
    const where: Condition[] = [
      { field: "account", is: "=", value: account },
      { field: "source_id", is: "=", value: id },
      ...(query.reason === undefined ? [] : [{ field: "reason", is: "=", value: query.reason } as const]),
      ...(range.from === null ? [] : [{ field: "minute", is: ">=", value: range.from } as const]),
      ...(range.to === null ? [] : [{ field: "minute", is: "<", value: range.to } as const]),
    ];
    const page = await pageOf(
      views,
      { view: VIEW, where, sort: { field: "minute", order: "desc" } },
      query,
      (document: SignatureFailureDocument) => document,
    );
    if (!isPage(page)) return page;
    const data = await Promise.all(
      page.data.map(async ({ minute, reason, count, client }) => ({
        minute,
        reason,
        count,
        sample: await clientOf(personal, account, client),
      })),
    );
    return { status: 200, body: { ...page, data } };
  };

/** Requests refused for their signatures. They can still be read after their source was deleted. */
export const signatureFailureRoutes = (deps: SignatureFailuresDeps): readonly Route[] => [
  route({
    method: "GET",
    path: "/v1/sources/{id}/rejections",
    who: READERS,
    summary: "Requests refused for their signature, counted by minute and reason, newest first",
    tag: "sources",
    query: QUERY,
    answers: { 200: listOf(REJECTION) },
    reads: [VIEW],
    handle: list(deps),
  }),
];
