import type { Page as List, Replay, ReplayPlan } from "./answers.ts";
import { clock, duration, words } from "./format.ts";
import { may, type Page, type Screen } from "./page.ts";
import {
  article,
  badge,
  button,
  choice,
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
import { type Fields, h, type Tree } from "./tree.ts";

const FILTER = ["status", "source_id", "endpoint_id", "from", "to"] as const;

const pathOf = (id: string): string => `/v1/replays/${encodeURIComponent(id)}`;

export const replayAsked = (fields: Fields): Record<string, unknown> => {
  const given = FILTER.flatMap((name) => (fields[name] ? [[name, fields[name]] as const] : []));
  const rate = Number(fields.rate_per_second);
  return {
    filter: Object.fromEntries(given),
    ...(fields.rate_per_second && Number.isFinite(rate) ? { rate_per_second: rate } : {}),
    ...(fields.reason ? { reason: fields.reason } : {}),
  };
};

const progressShown = ({ total, done }: Replay): Tree =>
  h("span", {}, h("progress", { max: Math.max(1, total), value: done }, `${done}`), ` ${done} of ${total}`);

const stopButton = ({ id, status }: Replay, screen: Screen): Tree =>
  status === "running" && may(screen, "admin")
    ? button(
        "Cancel",
        () =>
          screen.act(`${pathOf(id)}/cancel`, undefined, "The replay is cancelled. Events that it has sent stay sent."),
        {
          class: "danger",
        },
      )
    : "";

const filterOf = ({ filter }: Replay): string =>
  Object.entries(filter)
    .map(([name, value]) => `${words(name)} ${value}`)
    .join(", ");

const rowOf = (replay: Replay, screen: Screen): readonly Tree[] => [
  badge(replay.status),
  h("div", {}, link(hrefOf("replays", replay.id), replay.reason ?? "(no reason)"), idShown(replay.id)),
  filterOf(replay),
  progressShown(replay),
  String(replay.delivered),
  String(replay.failed),
  String(replay.skipped),
  stopButton(replay, screen),
];

type Asked = { readonly filter: Fields; readonly rate_per_second?: number; readonly reason?: string };

type Planned = { readonly asked: Record<string, unknown>; readonly plan: ReplayPlan };

/** The request that was planned is kept with its plan, so that the replay starts exactly as planned. */
const planShown = (screen: Screen): Tree => {
  const answer = screen.kept.plan;
  if (typeof answer !== "object" || answer === null) return "";
  const { asked, plan } = { asked: screen.kept["plan asked"], plan: answer } as Planned;
  const { dry_run: _, ...started } = asked;
  return section(
    "Plan",
    facts([
      ["Events", String(plan.count)],
      ["Oldest", plan.oldest === null ? null : `${clock(plan.oldest)} UTC`],
      ["Newest", plan.newest === null ? null : `${clock(plan.newest)} UTC`],
      ["Takes about", duration(plan.estimated_s * 1_000)],
    ]),
    table(
      ["Endpoint", "Events"],
      plan.endpoints.map(({ id, count }) => [linkTo("endpoints", id), String(count)]),
      "Nothing matches.",
    ),
    plan.count === 0
      ? ""
      : button(`Replay ${plan.count} ${plan.count === 1 ? "event" : "events"}`, () =>
          screen.act("/v1/replays", started, "The replay started.", {
            to: (answer) => hrefOf("replays", (answer as Pick<Replay, "id">).id),
          }),
        ),
  );
};

const fieldsAgain = ({ place, kept }: Screen): Fields => {
  const asked = kept["plan asked"];
  if (typeof asked !== "object" || asked === null) return place.query;
  const { filter, rate_per_second: rate, reason } = asked as Asked;
  return { ...filter, rate_per_second: rate === undefined ? "" : String(rate), reason: reason ?? "" };
};

const planForm = (screen: Screen): Tree => {
  const query = fieldsAgain(screen);
  if (!may(screen, "admin")) return "";
  return section(
    "Replay many",
    form(
      (fields) => screen.keepAnswer("plan", "/v1/replays", { ...replayAsked(fields), dry_run: true }),
      { class: "filters" },
      choice("Status", "status", ["failed", "blocked"], query.status ?? "failed"),
      field("Source", { name: "source_id", value: query.source_id ?? "", placeholder: "src_…" }),
      field("Endpoint", { name: "endpoint_id", value: query.endpoint_id ?? "", placeholder: "end_…" }),
      field("From (UTC)", { name: "from", value: query.from ?? "", placeholder: "2026-01-31T12:00:00Z" }),
      field("To (UTC)", { name: "to", value: query.to ?? "", placeholder: "2026-01-31T13:00:00Z" }),
      field("Events per second", {
        name: "rate_per_second",
        type: "number",
        min: 1,
        max: 1_000,
        placeholder: "10",
        value: query.rate_per_second ?? "",
      }),
      field("Why", { name: "reason", maxlength: 500, value: query.reason ?? "" }),
      sending("Plan it"),
    ),
    planShown(screen),
  );
};

export const replaysPage: Page<List<Replay>> = {
  title: "Replays",
  load: (api, { query }) => api.get<List<Replay>>("/v1/replays", { cursor: query.cursor }),
  show: ({ data, next_cursor }, screen) =>
    article(
      "Replays",
      planForm(screen),
      section(
        "So far",
        table(
          ["Status", "Replay", "Of", "Progress", "Delivered", "Failed", "Skipped", ""],
          data.map((replay) => rowOf(replay, screen)),
          "No replays yet.",
        ),
        older("replays", null, screen.place.query, next_cursor),
      ),
    ),
  isMoving: ({ data }) => data.some(({ status }) => status === "running"),
};

const eventsOf = ({ filter: { status: _, ...rest } }: Replay): Tree =>
  link(hrefOf("events", null, rest), "Matching events");

export const replayPage: Page<Replay> = {
  title: "Replay",
  load: (api, { id }) => api.get<Replay>(pathOf(id ?? "")),
  show: (replay, screen) =>
    article(
      [badge(replay.status), " Replay"],
      h("p", {}, h("code", {}, replay.id)),
      h("p", {}, progressShown(replay)),
      facts([
        ["Delivered", String(replay.delivered)],
        ["Failed", String(replay.failed)],
        ["Skipped", String(replay.skipped)],
        ["Of", filterOf(replay)],
        ["At most", `${replay.rate_per_second} a second`],
        ["Begun by", `${replay.by.kind} ${replay.by.id}`],
        ["Why", replay.reason],
        ["Begun", moment(replay.started_at, screen.now)],
        ["Cancelled by", replay.cancelled === null ? null : `${replay.cancelled.by.kind} ${replay.cancelled.by.id}`],
        ["Cancelled because", replay.cancelled?.reason ?? null],
        ["Ended", replay.ended_at === null ? null : moment(replay.ended_at, screen.now)],
      ]),
      h("p", {}, eventsOf(replay)),
      stopButton(replay, screen),
    ),
  // After the last event was replayed, deliveries may still be running, so the page is still refreshed.
  isMoving: ({ status, delivered, failed, skipped, done }) =>
    status === "running" || delivered + failed + skipped < done,
};
