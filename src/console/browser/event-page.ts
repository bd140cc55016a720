import type { Attempt, EventDetail, Headers, Stage, Timings, Verdict } from "./answers.ts";
import { bytes, clock, duration, euro, milliseconds, pretty, words } from "./format.ts";
import { may, type Page, type Screen } from "./page.ts";
import {
  article,
  badge,
  button,
  code,
  facts,
  field,
  form,
  link,
  linkTo,
  moment,
  section,
  sending,
  table,
} from "./parts.ts";
import { hrefOf } from "./place.ts";
import { h, type Tree } from "./tree.ts";
import { whyInDetail } from "./why.ts";

const MOVING: ReadonlySet<string> = new Set(["queued", "delivering", "retrying"]);
const REPLAYABLE: ReadonlySet<string> = new Set(["failed", "blocked"]);
const SLOW_MS = 1_000;

const pathOf = (id: string): string => `/v1/events/${encodeURIComponent(id)}`;

const headersShown = (headers: Headers | null): Tree =>
  headers === null
    ? h("p", { class: "empty" }, "The headers were erased or not stored.")
    : table(
        ["Header", "Value"],
        Object.entries(headers).map(([name, value]) => [h("code", {}, name), h("code", {}, value)]),
        "None.",
      );

const sentenceOf = ({ number, reason, by, outcome, count, last_at }: Stage): string =>
  [
    number === undefined ? "" : `number ${number}${outcome === undefined ? "" : `, ${outcome}`}`,
    reason ?? "",
    by === undefined ? "" : `by ${by.kind} ${by.id}`,
    count === undefined ? "" : `${count} times${last_at === undefined ? "" : `, last at ${clock(last_at)}`}`,
  ]
    .filter((it) => it !== "")
    .join("; ");

export const timelineShown = (timeline: readonly Stage[]): Tree =>
  h(
    "ol",
    { class: "timeline" },
    ...timeline.map((stage, index) =>
      h(
        "li",
        {},
        h("span", { class: stage.ms >= SLOW_MS ? "gap slow" : "gap" }, index === 0 ? "" : `+${duration(stage.ms)}`),
        h("strong", {}, words(stage.stage)),
        h("span", {}, sentenceOf(stage)),
        h("time", { datetime: stage.at }, `${clock(stage.at)}.${stage.at.slice(20, 23)}`),
      ),
    ),
  );

export const verdictShown = ({ decision, policy, gates, observed }: Verdict): Tree =>
  section(
    "Verdict",
    h(
      "p",
      {},
      badge(decision),
      policy === null ? " without a policy" : ` by ${policy.id}, version ${policy.version}`,
      observed === true ? "; violated, but the policy only watches" : "",
    ),
    table(
      ["Gate", "Outcome", "Code", "Why"],
      gates.map(({ gate, outcome, code: why, detail }) => [words(gate), badge(outcome), h("code", {}, why), detail]),
      "No gate was evaluated.",
    ),
  );

const PHASES = ["dns", "connect", "tls", "first_byte", "total"] as const;

const timingsShown = (timings: Timings): Tree =>
  h(
    "dl",
    { class: "timings" },
    ...PHASES.flatMap((phase) => {
      const ms = timings[phase];
      const bar = ms === null ? "–" : h("meter", { min: 0, max: Math.max(1, timings.total), value: ms }, String(ms));
      return [h("dt", {}, words(phase)), h("dd", {}, bar, ` ${milliseconds(ms)}`)];
    }),
  );

const responseShown = (response: NonNullable<Attempt["response"]>): Tree => {
  const { headers, encoding, body, truncated, redacted } = response;
  const said = [
    encoding === "base64" ? "as base64" : "",
    truncated ? "cut off" : "",
    redacted ? "the policy hides fields" : "",
  ];
  return h(
    "div",
    {},
    h("h3", {}, "Answer"),
    body === null
      ? h("p", { class: "empty" }, "The policy hides the body.")
      : code(body === "" ? "(empty)" : encoding === "text" && !truncated ? pretty(body) : body),
    h("small", {}, said.filter((it) => it !== "").join(", ")),
    h("details", {}, h("summary", {}, "Response headers"), headersShown(headers)),
  );
};

const attemptShown = (attempt: Attempt, now: number, isOpen: boolean): Tree => {
  const { number, trigger, outcome, status_code, duration_ms, failure, started_at, next_attempt_at } = attempt;
  return h(
    "details",
    { open: isOpen },
    h(
      "summary",
      {},
      h("strong", {}, `Attempt ${number}`),
      " ",
      badge(outcome),
      ` ${status_code ?? ""} ${duration_ms === null ? "" : duration(duration_ms)} `,
      moment(started_at, now),
      trigger === "replay" ? " · a replay" : "",
    ),
    failure === null ? "" : h("p", { class: "bad" }, `${failure.kind}: ${failure.detail}`),
    next_attempt_at === null ? "" : h("p", {}, "Next attempt ", moment(next_attempt_at, now)),
    attempt.timings_ms === null ? "" : timingsShown(attempt.timings_ms),
    attempt.response === null ? "" : responseShown(attempt.response),
    attempt.request === null
      ? ""
      : h("details", {}, h("summary", {}, "Request headers"), headersShown(attempt.request.headers)),
  );
};

const replayForm = (event: EventDetail, screen: Screen): Tree =>
  REPLAYABLE.has(event.status) && may(screen, "admin") && !event.bundle
    ? form(
        ({ reason = "" }) =>
          screen.act(`${pathOf(event.id)}/replay`, { reason: reason || undefined }, "The event is being replayed."),
        { class: "inline" },
        field("Why (optional)", { name: "reason", maxlength: 500 }),
        sending(event.status === "blocked" ? "Replay through the gates" : "Replay"),
      )
    : "";

/** A bundle's step belongs to its bundle here, because the payloads of a bundle are erased together. */
const whoseOf = ({ bundle }: EventDetail) => (bundle === undefined || bundle === null ? "event" : "bundle");
const ERASING = { event: "Erase the payload", bundle: "Erase the bundle's payloads" } as const;
const ERASED = { event: "The payload is erased.", bundle: "The bundle's payloads are erased." } as const;

const eraseForm = (event: EventDetail, screen: Screen): Tree =>
  event.payload.erased_at === null && may(screen, "admin")
    ? form(
        ({ reason = "" }) =>
          screen.act(`${pathOf(event.id)}/payload`, { reason }, ERASED[whoseOf(event)], { method: "DELETE" }),
        { class: "inline" },
        field("Reason for erasing", { name: "reason", required: true, maxlength: 500 }),
        sending(ERASING[whoseOf(event)], { class: "danger" }),
      )
    : "";

const keptText = (screen: Screen, name: string): Tree => {
  const text = screen.kept[name];
  return typeof text === "string" ? code(name === "payload" ? pretty(text) : text) : "";
};

const payloadShown = (event: EventDetail, screen: Screen): Tree => {
  const { content_type, size, sha256, erased_at } = event.payload;
  const path = pathOf(event.id);
  return section(
    "Payload",
    facts([
      ["Content type", h("code", {}, content_type === "" ? "none" : content_type)],
      ["Size", bytes(size)],
      ["SHA-256, salted", h("code", {}, sha256)],
      ["Erased", erased_at === null ? null : moment(erased_at, screen.now)],
    ]),
    erased_at === null
      ? h(
          "p",
          { class: "buttons" },
          button("Show", () => screen.keepText("payload", `${path}/payload`)),
          h("a", { href: `${path}/payload`, download: true }, "Download"),
          button("Repeat with curl", () => screen.keepText("curl", `${path}/curl`)),
        )
      : "",
    keptText(screen, "payload"),
    keptText(screen, "curl"),
    h("details", {}, h("summary", {}, "Received headers"), headersShown(event.headers)),
    eraseForm(event, screen),
  );
};

const bundleLink = ({ bundle }: EventDetail): Tree | null =>
  bundle === undefined || bundle === null
    ? null
    : h(
        "span",
        {},
        link(hrefOf("bundles", bundle.id), bundle.id),
        bundle.undo ? `, the undo of step ${bundle.index}` : `, step ${bundle.index}: replayed only with its bundle`,
      );

const replaysShown = ({ replays = [] }: EventDetail, now: number): Tree =>
  replays.length === 0
    ? ""
    : section(
        "Replays",
        table(
          ["Replay", "By", "Why", "When"],
          replays.map(({ id, by, reason, at }) => [
            h("code", {}, id),
            `${by.kind} ${by.id}`,
            reason ?? "–",
            moment(at, now),
          ]),
          "None.",
        ),
      );

const EXCERPT_LENGTH = 500;

/** The body of the response to the last attempt if that failed and the body is text; else "". */
const lastAnswer = ({ attempts }: EventDetail): string => {
  const { failure, response } = attempts.at(-1) ?? {};
  if (!failure || response?.encoding !== "text" || response.body === null) return "";
  return response.body.slice(0, EXCERPT_LENGTH);
};

const nextShown = ({ status, approval_id: approval, attempts }: EventDetail, now: number): Tree => {
  if (status === "held" && approval !== null) return h("p", {}, link(hrefOf("approvals", approval), "Decide on it"));
  const next = attempts.at(-1)?.next_attempt_at ?? null;
  return status !== "retrying" || next === null ? "" : h("p", {}, "Next attempt ", moment(next, now), ".");
};

const BAD: ReadonlySet<string> = new Set(["failed", "blocked", "rejected", "expired", "cancelled"]);

const whyShown = (event: EventDetail, now: number): Tree => {
  const why = whyInDetail(event);
  if (why === "") return "";
  const answer = lastAnswer(event);
  return h(
    "div",
    { class: BAD.has(event.status) ? "why bad" : "why" },
    h("p", {}, h("strong", {}, why)),
    nextShown(event, now),
    answer === "" ? "" : code(answer),
  );
};

const summaryOf = (event: EventDetail, now: number): Tree =>
  facts([
    ["Received", moment(event.received_at, now)],
    ["From", `${event.origin.name} (${event.origin.type}, ${event.origin.id})`],
    ["Delivery id", h("code", {}, event.delivery_id)],
    ["Endpoint", linkTo("endpoints", event.endpoint_id)],
    ["Approval", event.approval_id === null ? null : linkTo("approvals", event.approval_id)],
    ["Bundle", bundleLink(event)],
    ["Cost", euro(event.cost_eur)],
    ["Duplicates", String(event.duplicates)],
    ["Refused repeats with another body", event.delivery_id_reused === 0 ? null : String(event.delivery_id_reused)],
    ["Trace", h("code", {}, event.trace_id)],
  ]);

export const eventPage: Page<EventDetail> = {
  title: "Event",
  load: (api, { id }) => api.get<EventDetail>(pathOf(id ?? "")),
  show: (event, screen) =>
    article(
      [badge(event.status), " ", event.type === "" ? "(no type)" : event.type],
      h("p", {}, h("code", {}, event.id)),
      whyShown(event, screen.now),
      replayForm(event, screen),
      summaryOf(event, screen.now),
      section("Timeline", timelineShown(event.timeline)),
      verdictShown(event.verdict),
      section(
        "Attempts",
        ...(event.attempts.length === 0 ? [h("p", { class: "empty" }, "None yet.")] : []),
        ...event.attempts.map((attempt) => attemptShown(attempt, screen.now, attempt === event.attempts.at(-1))),
        ...((event.attempts_left_out ?? 0) > 0
          ? [h("p", { class: "empty" }, `${event.attempts_left_out} attempts in the middle are not shown.`)]
          : []),
      ),
      replaysShown(event, screen.now),
      payloadShown(event, screen),
    ),
  isMoving: ({ status }) => MOVING.has(status),
};
