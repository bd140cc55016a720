import type { Approval, ApprovalDetail, Page as List } from "./answers.ts";
import { euro } from "./format.ts";
import { may, type Page, type Screen } from "./page.ts";
import {
  amount,
  article,
  badge,
  choice,
  code,
  facts,
  field,
  form,
  idShown,
  link,
  linkTo,
  moment,
  older,
  section,
  sending,
  table,
} from "./parts.ts";
import { hrefOf } from "./place.ts";
import { h, type Tree } from "./tree.ts";

const STATUSES = ["", "pending", "approved", "consumed", "rejected", "expired", "cancelled", "void"] as const;

const rowOf = (approval: Approval, { now }: Screen): readonly Tree[] => [
  badge(approval.status),
  h("div", {}, link(hrefOf("approvals", approval.id), approval.summary), idShown(approval.id)),
  approval.requested_by.name,
  amount(approval.cost_eur),
  moment(approval.requested_at, now),
  moment(approval.expires_at, now),
  `${approval.votes.filter(({ decision }) => decision === "approve").length} of ${approval.min_approvals}`,
];

export const approvalsPage: Page<List<Approval>> = {
  title: "Approvals",
  load: (api, { query }) =>
    api.get<List<Approval>>("/v1/approvals", { status: query.status ?? "pending", cursor: query.cursor }),
  show: ({ data, next_cursor }, screen) =>
    article(
      "Approvals",
      form(
        ({ status = "" }) => screen.go(hrefOf("approvals", null, { status })),
        { class: "filters" },
        choice("Status", "status", STATUSES.slice(1), screen.place.query.status ?? "pending"),
        sending("Show"),
      ),
      table(
        ["Status", "What", "Asked by", "Cost", "Asked", "Expires", "Approvals"],
        data.map((approval) => rowOf(approval, screen)),
        (screen.place.query.status ?? "pending") === "pending" ? "No pending approvals." : "No approvals match.",
      ),
      older("approvals", null, screen.place.query, next_cursor),
    ),
  isMoving: () => false,
};

/** The vote carries the digest of what the screen shows, so it counts only for that content. */
const decision = ({ id, digest, shown_digest, status }: ApprovalDetail, screen: Screen): Tree => {
  if (status !== "pending" || !may(screen, "approver")) return "";
  const path = `/v1/approvals/${encodeURIComponent(id)}`;
  return section(
    "Decide",
    form(
      ({ comment = "" }) =>
        screen.act(
          `${path}/approve`,
          { digest, shown_digest, comment: comment || undefined },
          "Your approval is recorded.",
        ),
      { class: "inline" },
      field("Comment (optional)", { name: "comment", maxlength: 1_000 }),
      sending("Approve"),
    ),
    form(
      ({ comment = "" }) =>
        screen.act(`${path}/reject`, { digest, shown_digest, comment }, "Your rejection is recorded."),
      { class: "inline" },
      field("Why not", { name: "comment", required: true, maxlength: 1_000 }),
      sending("Reject", { class: "danger" }),
    ),
  );
};

const LINKS: Readonly<Record<string, string>> = { invitation: "an invitation", reset: "a reset link" };

/** Without mail, the maker of a link hands it to a member, and could use it to vote as that member. */
const handOversShown = ({ hand_overs, votes }: ApprovalDetail, now: number): readonly Tree[] =>
  hand_overs.map(({ member_id, link: kind, by, at }) => {
    const voter = votes.find((vote) => vote.member_id === member_id)?.email ?? member_id;
    const text = `${voter} used ${LINKS[kind] ?? kind} that ${by}, a requester or another voter, had made, `;
    return h("p", {}, text, moment(at, now));
  });

const votesShown = (approval: ApprovalDetail, now: number): Tree =>
  section(
    "Votes",
    ...handOversShown(approval, now),
    table(
      ["Who", "Decision", "Comment", "When"],
      approval.votes.map(({ email, decision: voted, comment, at }) => [
        email,
        badge(voted),
        comment ?? "",
        moment(at, now),
      ]),
      "No votes yet.",
    ),
  );

export const approvalPage: Page<ApprovalDetail> = {
  title: "Approval",
  load: (api, { id }) => api.get<ApprovalDetail>(`/v1/approvals/${encodeURIComponent(id ?? "")}`),
  show: (approval, screen) =>
    article(
      [badge(approval.status), " ", approval.summary],
      h("p", {}, h("code", {}, approval.id)),
      facts([
        ["Asked by", approval.requested_by.name],
        ["Action", approval.action === null ? null : h("code", {}, approval.action)],
        [
          "Goes to",
          approval.endpoint === null ? null : (approval.endpoint.url ?? approval.endpoint.name ?? approval.endpoint.id),
        ],
        ["Event", approval.event_id === null ? null : linkTo("events", approval.event_id)],
        ["Bundle", approval.bundle_id === null ? null : linkTo("bundles", approval.bundle_id)],
        ["Cost", euro(approval.cost_eur)],
        ["Asked", moment(approval.requested_at, screen.now)],
        ["Expires", moment(approval.expires_at, screen.now)],
        ["Needs", `${approval.min_approvals} ${approval.min_approvals === 1 ? "approval" : "approvals"}`],
        ["Digest", h("code", {}, approval.digest)],
        ["Ended because", approval.reason],
        ["Came to", approval.status === "pending" ? null : badge(approval.outcome.status)],
      ]),
      section("Why approval is needed", h("ul", {}, ...approval.reasons.map((reason) => h("li", {}, reason)))),
      section(
        "Requested action",
        approval.redacted ? h("p", {}, "The policy hides fields from you.") : "",
        approval.payload_damaged === true
          ? h(
              "p",
              {},
              "The stored payload does not match its hash. It cannot be approved until it is restored from a backup.",
            )
          : "",
        code(typeof approval.payload === "string" ? approval.payload : JSON.stringify(approval.payload, null, 2)),
      ),
      decision(approval, screen),
      votesShown(approval, screen.now),
    ),
  isMoving: () => false,
};
