import { isOverdue, mayApprove } from "../../../domain/approval/state.ts";
import { defined } from "../../../domain/defined.ts";
import type { Condition, FoundDocument, ViewStore } from "../../../domain/ports/view-store.ts";
import { type ApprovalDocument, type ApprovalStatus, approvals } from "../../../projections/approvals.ts";
import { APPROVAL_STATUSES } from "../../../projections/schemas/approvals.ts";
import { isPage, LISTING_QUERY, pageOf } from "../../http/listing.ts";
import { type Handler, hasRole, type JsonSchema, type Principal } from "../../http/route.ts";
import { typedDocument } from "../../views/typed-documents.ts";
import type { DetailDeps } from "./approval-detail.ts";
import { titlesOfApprovals } from "./approval-list-titles.ts";
import { approvalSummary } from "./approval-summary.ts";

export const LIST_QUERY = {
  status: { enum: APPROVAL_STATUSES, description: "Only approvals with this status" },
  for: {
    enum: ["me", "all", "decided"],
    description: "me: those that your approval would help now; all: all that wait; decided: those on which you voted",
  },
  titles: { enum: ["true"], description: "Each approval of an action with a template has its `title`" },
  ...LISTING_QUERY,
} as const satisfies Record<string, JsonSchema>;

type For = (typeof LIST_QUERY)["for"]["enum"][number];

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

const PENDING: Condition = { field: "status", is: "=", value: "pending" satisfies ApprovalStatus };

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

type ListDeps = DetailDeps & { readonly views: Pick<ViewStore, "page"> };

export const list =
  (deps: ListDeps): Handler<{ query: typeof LIST_QUERY }> =>
  async ({ principal, query, envelope }) => {
    const { views, personal } = deps;
    const { at } = envelope;
    const { status, for: which } = query;
    const where: readonly Condition[] = [
      { field: "account", is: "=", value: principal.account },
      ...(status === undefined ? [] : [{ field: "status", is: "=", value: status } as const]),
      ...(status === undefined && (which === "me" || which === "all") ? [PENDING] : []),
    ];
    const sort = { field: "requested_at", order: "desc" } as const;
    const listing = { view: approvals.schema.name, where, sort };
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
    return { status: 200, body: { ...page, data } };
  };
