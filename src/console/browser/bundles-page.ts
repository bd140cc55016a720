import type { Bundle, Page as List, Step } from "./answers.ts";
import { euro } from "./format.ts";
import { may, type Page, type Screen } from "./page.ts";
import {
  badge,
  choice,
  code,
  facts,
  field,
  form,
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

const STATUSES = [
  "",
  "held",
  "running",
  "committed",
  "rolling_back",
  "rolled_back",
  "rollback_incomplete",
  "blocked",
  "cancelled",
] as const;
const MOVING: ReadonlySet<string> = new Set(["running", "rolling_back"]);
/** What can still be taken back. */
const CANCELLABLE: ReadonlySet<string> = new Set(["held", "running"]);

const pathOf = (id: string): string => `/v1/bundles/${encodeURIComponent(id)}`;

const rowOf = (bundle: Bundle, { now }: Screen): readonly Tree[] => [
  badge(bundle.status),
  h("div", {}, link(hrefOf("bundles", bundle.id), bundle.name ?? "(no name)"), h("small", {}, bundle.id)),
  linkTo("agents", bundle.agent_id),
  h("span", { class: "steps" }, ...bundle.steps.map(({ status }) => badge(status))),
  euro(bundle.cost_eur),
  moment(bundle.created_at, now),
  bundle.reason ?? "",
];

export const bundlesPage: Page<List<Bundle>> = {
  title: "Bundles",
  load: (api, { query }) => api.get<List<Bundle>>("/v1/bundles", { status: query.status, cursor: query.cursor }),
  show: ({ data, next_cursor }, screen) =>
    h(
      "article",
      {},
      h("h1", {}, "Bundles"),
      form(
        ({ status = "" }) => screen.go(hrefOf("bundles", null, { status })),
        { class: "filters" },
        choice("Status", "status", STATUSES, screen.place.query.status),
        sending("Show"),
      ),
      table(
        ["Status", "Bundle", "Agent", "Steps", "Cost", "Begun", "Why"],
        data.map((bundle) => rowOf(bundle, screen)),
        "No bundle is like that.",
      ),
      older("bundles", null, screen.place.query, next_cursor),
    ),
  isMoving: ({ data }) => data.some(({ status }) => MOVING.has(status)),
};

/** Why a step stands as it does, of what is known. */
const noteOf = ({ refusal, resolution }: Step): string =>
  [
    refusal ? `${refusal.code}: ${refusal.detail}` : "",
    resolution ? `taken back by hand (${resolution.by}): ${resolution.comment}` : "",
  ]
    .filter((it) => it !== "")
    .join("; ");

const stepRow = (step: Step): readonly Tree[] => [
  String(step.index + 1),
  badge(step.status),
  h("code", {}, step.action),
  linkTo("events", step.event_id, "event"),
  linkTo("events", step.compensation_event_id, step.compensation ?? "undo"),
  step.cost_eur === undefined ? "–" : euro(step.cost_eur),
  step.result
    ? h(
        "details",
        {},
        h("summary", {}, String(step.result.status_code ?? "no answer")),
        code(JSON.stringify(step.result.body, null, 2)),
      )
    : "–",
  noteOf(step),
];

const cancelForm = ({ id, status }: Bundle, screen: Screen): Tree =>
  CANCELLABLE.has(status) && may(screen, "admin")
    ? form(
        ({ reason = "" }) =>
          screen.act(
            "POST",
            `${pathOf(id)}/cancel`,
            reason === "" ? {} : { reason },
            "Nothing more of it begins; what was done is taken back.",
          ),
        { class: "inline" },
        field("Why (optional)", { name: "reason", maxlength: 500 }),
        sending("Cancel and roll back"),
      )
    : "";

const leftShown = ({ id, left = [] }: Bundle, screen: Screen): Tree =>
  left.length === 0
    ? ""
    : section(
        "Left for people to take back",
        ...left.map(({ index, action, why }) =>
          h(
            "div",
            {},
            h("p", {}, h("strong", {}, `Step ${index + 1}, ${action}: `), why),
            may(screen, "approver")
              ? form(
                  ({ comment = "" }) =>
                    screen.act(
                      "POST",
                      `${pathOf(id)}/steps/${index}/resolve`,
                      { comment },
                      "It is recorded as taken back by hand.",
                    ),
                  { class: "inline" },
                  field("How it was taken back", { name: "comment", required: true, maxlength: 1_000 }),
                  sending("It is taken back"),
                )
              : "",
          ),
        ),
      );

export const bundlePage: Page<Bundle> = {
  title: "Bundle",
  load: (api, { id }) => api.get<Bundle>(pathOf(id ?? "")),
  show: (bundle, screen) =>
    h(
      "article",
      {},
      h("h1", {}, badge(bundle.status), " ", bundle.name ?? "Bundle"),
      h("p", {}, h("code", {}, bundle.id)),
      cancelForm(bundle, screen),
      facts([
        ["Agent", linkTo("agents", bundle.agent_id)],
        ["Run", bundle.run_id],
        ["Approval", bundle.approval_id === undefined ? null : linkTo("approvals", bundle.approval_id)],
        ["Cost", euro(bundle.cost_eur)],
        ["Begun", moment(bundle.created_at, screen.now)],
        ["Ended", bundle.ended_at === null ? null : moment(bundle.ended_at, screen.now)],
        ["Why", bundle.reason ?? null],
      ]),
      section(
        "Steps",
        table(["", "Status", "Action", "Sent", "Undo", "Cost", "Answer", "Note"], bundle.steps.map(stepRow), "None."),
      ),
      leftShown(bundle, screen),
    ),
  isMoving: ({ status }) => MOVING.has(status),
};
