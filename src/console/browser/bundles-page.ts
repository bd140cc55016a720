import type { Bundle, Page as List, Step } from "./answers.ts";
import { verdictShown } from "./event-page.ts";
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
import { stoppedBy } from "./why.ts";

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
const CANCELLABLE: ReadonlySet<string> = new Set(["held", "running"]);

const pathOf = (id: string): string => `/v1/bundles/${encodeURIComponent(id)}`;

const whyOf = ({ reason, verdict, status }: Bundle): string => reason ?? stoppedBy(verdict, status === "held");

const rowOf = (bundle: Bundle, { now }: Screen): readonly Tree[] => [
  badge(bundle.status),
  h("div", {}, link(hrefOf("bundles", bundle.id), bundle.name ?? "(no name)"), idShown(bundle.id)),
  whyOf(bundle),
  h("span", { class: "steps" }, ...bundle.steps.map(({ status }) => badge(status))),
  linkTo("agents", bundle.agent_id, "Agent"),
  amount(bundle.cost_eur),
  moment(bundle.created_at, now),
];

export const bundlesPage: Page<List<Bundle>> = {
  title: "Bundles",
  load: (api, { query }) => api.get<List<Bundle>>("/v1/bundles", { status: query.status, cursor: query.cursor }),
  show: ({ data, next_cursor }, screen) =>
    article(
      "Bundles",
      form(
        ({ status = "" }) => screen.go(hrefOf("bundles", null, { status })),
        { class: "filters" },
        choice("Status", "status", STATUSES, screen.place.query.status),
        sending("Show"),
      ),
      table(
        ["Status", "Bundle", "Why", "Steps", "By", "Cost", "Begun"],
        data.map((bundle) => rowOf(bundle, screen)),
        screen.place.query.status === undefined
          ? "No bundles yet. Agents request them by POST /v1/bundles."
          : "No bundles match.",
      ),
      older("bundles", null, screen.place.query, next_cursor),
    ),
  isMoving: ({ data }) => data.some(({ status }) => MOVING.has(status)),
};

const noteOf = ({ refusal, resolution }: Step): string =>
  [
    refusal ? `${refusal.code}: ${refusal.detail}` : "",
    resolution ? `undone by hand (${resolution.by}): ${resolution.comment}` : "",
  ]
    .filter((it) => it !== "")
    .join("; ");

/** What is shown instead of an undo for a step without a compensation. */
const TAKEN_BACK: Readonly<Record<string, string>> = { reversible: "undone by itself", irreversible: "none" };

const undoShown = ({ compensation, compensation_event_id: event, reversibility }: Step): Tree => {
  if (event !== null) return linkTo("events", event, compensation ?? "undo");
  return h(
    "span",
    { class: "quiet" },
    compensation === null ? (TAKEN_BACK[reversibility] ?? "–") : `${compensation}, not begun`,
  );
};

const stepRow = (step: Step): readonly Tree[] => [
  String(step.index),
  badge(step.status),
  h("code", {}, step.action),
  linkTo("events", step.event_id, "event"),
  undoShown(step),
  amount(step.cost_eur),
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
            `${pathOf(id)}/cancel`,
            { reason: reason || undefined },
            "The bundle is cancelled: no further step starts, and completed steps are undone.",
          ),
        { class: "inline" },
        field("Why (optional)", { name: "reason", maxlength: 500 }),
        sending("Cancel and roll back", { class: "danger" }),
      )
    : "";

const leftShown = ({ id, left = [] }: Bundle, screen: Screen): Tree =>
  left.length === 0
    ? ""
    : section(
        "Steps to undo by hand",
        ...left.map(({ index, action, why }) =>
          h(
            "div",
            {},
            h("p", {}, h("strong", {}, `Step ${index}, ${action}: `), why),
            may(screen, "approver")
              ? form(
                  ({ comment = "" }) =>
                    screen.act(
                      `${pathOf(id)}/steps/${index}/resolve`,
                      { comment },
                      "The step is recorded as undone by hand.",
                    ),
                  { class: "inline" },
                  field("How it was undone", { name: "comment", required: true, maxlength: 1_000 }),
                  sending("Mark as undone"),
                )
              : "",
          ),
        ),
      );

const BAD: ReadonlySet<string> = new Set(["blocked", "rollback_incomplete"]);

const whyShown = (bundle: Bundle): Tree => {
  const why = [bundle.hold_outcome ?? "", whyOf(bundle)].filter((it) => it !== "").join(": ");
  if (why === "") return "";
  return h(
    "div",
    { class: BAD.has(bundle.status) ? "why bad" : "why" },
    h("p", {}, h("strong", {}, why)),
    bundle.status === "held" && bundle.approval_id !== undefined
      ? h("p", {}, link(hrefOf("approvals", bundle.approval_id), "Decide on it"))
      : "",
  );
};

export const bundlePage: Page<Bundle> = {
  title: "Bundle",
  load: (api, { id }) => api.get<Bundle>(pathOf(id ?? "")),
  show: (bundle, screen) =>
    article(
      [badge(bundle.status), " ", bundle.name ?? "Bundle"],
      h("p", {}, h("code", {}, bundle.id)),
      whyShown(bundle),
      cancelForm(bundle, screen),
      leftShown(bundle, screen),
      facts([
        ["Agent", linkTo("agents", bundle.agent_id)],
        ["Run", bundle.run_id],
        ["Approval", bundle.approval_id === undefined ? null : linkTo("approvals", bundle.approval_id)],
        ["Cost", euro(bundle.cost_eur)],
        ["Begun", moment(bundle.created_at, screen.now)],
        ["Ended", bundle.ended_at === null ? null : moment(bundle.ended_at, screen.now)],
        ["Payloads erased", bundle.payload_erased_at ? moment(bundle.payload_erased_at, screen.now) : null],
      ]),
      section(
        "Steps",
        table(
          ["Step", "Status", "Action", "Sent", "Undo", "Cost", "Answer", "Note"],
          bundle.steps.map(stepRow),
          "None.",
        ),
      ),
      verdictShown(bundle.verdict),
    ),
  isMoving: ({ status }) => MOVING.has(status),
};
