import { isOverdue, mayApprove } from "../../../domain/approval/state.ts";
import { defined } from "../../../domain/defined.ts";
import type { Condition, FoundDocument, ViewStore } from "../../../domain/ports/view-store.ts";
import { type ApprovalDocument, type ApprovalStatus, approvals } from "../../../projections/approvals.ts";
import { APPROVAL_STATUSES } from "../../../projections/schemas/approvals.ts";
import {
  countsOf,
  countsOfStatuses,
  invalid,
  isPage,
  LISTING_QUERY,
  type Listing,
  pageOf,
} from "../../http/listing.ts";
import { type Handler, hasRole, type JsonSchema, type Principal } from "../../http/route.ts";
import { severalOf, valuesOf } from "../../http/several-values.ts";
import { TIME_RANGE_QUERY, timeRangeOf } from "../../http/time-range.ts";
import { idsOf, withIds } from "../../http/with-ids.ts";
import { withStatuses } from "../../http/with-statuses.ts";
import type { Problem } from "../../streams/problems.ts";
import { typedDocument } from "../../views/typed-documents.ts";
import type { DetailDeps } from "./approval-detail.ts";
import { titlesOfApprovals } from "./approval-list-titles.ts";
import { approvalSummary } from "./approval-summary.ts";

const ASKED_QUERY = {
  from: { ...TIME_RANGE_QUERY.from, description: "Asked for at this time or later" },
  to: { ...TIME_RANGE_QUERY.to, description: "Asked for before this time" },
} as const satisfies Record<string, JsonSchema>;

export const LIST_QUERY = {
  ids: idsOf("apr_"),
  status: severalOf(APPROVAL_STATUSES, "Only approvals with one of these statuses"),
  counts: countsOfStatuses(APPROVAL_STATUSES),
  for: {
    enum: ["me", "all", "decided"],
    description: "me: those that your approval would help now; all: all that wait; decided: those on which you voted",
  },
  order: {
    enum: ["newest", "expiry"],
    default: "newest",
    description: "expiry: what expires first comes first; only of what waits, with `for=me` or `for=all`",
  },
  ...ASKED_QUERY,
  titles: {
    enum: ["true"],
    description: "Each approval of a bundle, or of an action with a template, has its `title`",
  },
  ...LISTING_QUERY,
} as const satisfies Record<string, JsonSchema>;

type For = (typeof LIST_QUERY)["for"]["enum"][number];
type Queried = { readonly [name in "order" | "for" | "status" | "ids"]?: string | undefined };

const CHUNK = 200;
/** The list ends after so many approvals that were looked at for one page. */
const LOOKED_AT_MAX = 2_000;

const votedOn = ({ votes }: ApprovalDocument, { id }: Principal): boolean => votes.some((it) => it.member_id === id);

const concerns = (which: For, document: ApprovalDocument, principal: Principal, at: string): boolean => {
  if (which === "decided") return votedOn(document, principal);
  if (document.status !== "pending" || isOverdue(document, at)) return false;
  if (which === "all") return true;
  const isPerson = principal.kind === "member" && hasRole(principal, "approver");
  return isPerson && mayApprove(document, principal.id) && !votedOn(document, principal);
};

const PENDING = { field: "status", is: "=", value: "pending" satisfies ApprovalStatus } as const;

/** A list of which this process filters the documents, as who may vote is no field of the view. */
const filtered = (
  views: Pick<ViewStore, "page">,
  passes: (document: ApprovalDocument) => boolean,
): Pick<ViewStore, "page"> => ({
  async page(view, query) {
    const passed: FoundDocument[] = [];
    let { after } = query;
    for (let seen = 0; seen < LOOKED_AT_MAX && passed.length < query.limit; seen += CHUNK) {
      const found = await views.page(view, { ...query, limit: CHUNK, ...(after === undefined ? {} : { after }) });
      passed.push(...found.filter(({ document }) => passes(typedDocument<ApprovalDocument>(document))));
      const last = found.at(-1);
      if (last === undefined || found.length < CHUNK) break;
      after = { value: String(last.document[query.sort.field]), id: last.id };
    }
    return passed.slice(0, query.limit);
  },
});

const WAITING_MAX = 1_000;

/** The pending approvals that this person's vote would help now, the newest first, up to `WAITING_MAX`. */
export const waitingFor = (
  views: Pick<ViewStore, "page">,
  principal: Principal,
  at: string,
): Promise<readonly FoundDocument[]> =>
  filtered(views, (document) => concerns("me", document, principal, at)).page(approvals.schema.name, {
    where: [{ field: "account", is: "=", value: principal.account }, PENDING],
    sort: { field: "requested_at", order: "desc" },
    limit: WAITING_MAX,
  });

/** The store has an index by expiry for each status, and only a pending approval still expires. */
const orderOf = ({ order, for: which, status, ids }: Queried): Pick<Listing, "sort" | "order"> | Problem => {
  if (order !== "expiry") return { sort: { field: "requested_at", order: "desc" } };
  const isWaiting = (which === "me" || which === "all") && status === undefined && ids === undefined;
  return isWaiting
    ? { sort: { field: "expires_at", order: "asc" }, order }
    : invalid("order", "can be expiry only with for=me or for=all, without status and ids");
};

export type ListDeps = DetailDeps & { readonly views: Pick<ViewStore, "page" | "count" | "getMany"> };

export const list =
  (deps: ListDeps): Handler<{ query: typeof LIST_QUERY }> =>
  async ({ principal, query, envelope }) => {
    const { personal } = deps;
    const { at } = envelope;
    const { for: which } = query;
    const range = timeRangeOf(query);
    if ("problem" in range) return range;
    const ordered = orderOf(query);
    if ("problem" in ordered) return ordered;
    const named = valuesOf(query.status);
    const asked = query.ids === undefined ? deps.views : withIds(deps.views, valuesOf(query.ids));
    const views = withStatuses(
      asked,
      named.length === 0 && (which === "me" || which === "all") ? [PENDING.value] : named,
    );
    const where: readonly Condition[] = [
      { field: "account", is: "=", value: principal.account },
      ...(range.from === null ? [] : [{ field: "requested_at", is: ">=", value: range.from } as const]),
      ...(range.to === null ? [] : [{ field: "requested_at", is: "<", value: range.to } as const]),
    ];
    const listing = { view: approvals.schema.name, where, ...ordered };
    const chosen =
      which === undefined ? views : filtered(views, (document) => concerns(which, document, principal, at));
    const page = await pageOf(chosen, listing, query, (document: ApprovalDocument, id) =>
      approvalSummary(id, document, at),
    );
    if (!isPage(page)) return page;
    const words = await personal.shown(
      page.data.map(({ votes, reason }) => ({ votes, reason })),
      principal.account,
    );
    const ids = query.titles === undefined ? [] : page.data.map(({ id }) => id);
    const titles = await titlesOfApprovals(deps, ids, { principal, at });
    const data = page.data.map((it, index) => ({ ...it, ...words[index], ...defined({ title: titles.get(it.id) }) }));
    const counts =
      query.counts === undefined || which !== undefined
        ? undefined
        : await countsOf(valuesOf(query.counts), (status, atMost) =>
            withStatuses(asked, [status]).count(listing.view, where, atMost),
          );
    return { status: 200, body: { ...page, ...defined({ counts }), data } };
  };
