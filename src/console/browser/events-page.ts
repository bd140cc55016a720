import type { EventSummary, Page as List } from "./answers.ts";
import { euro } from "./format.ts";
import type { Page, Screen } from "./page.ts";
import { badge, button, choice, field, form, link, moment, older, sending, table } from "./parts.ts";
import { hrefOf } from "./place.ts";
import { h, type Tree } from "./tree.ts";

export const STATUSES = [
  "",
  "blocked",
  "held",
  "queued",
  "delivering",
  "retrying",
  "delivered",
  "failed",
  "rejected",
  "expired",
  "cancelled",
  "recorded",
] as const;

const FILTERS = ["q", "status", "source_id", "agent_id", "endpoint_id", "action", "from", "to"] as const;

/** What says in one look why it is where it is. */
export const whyOf = ({ verdict, failure, duplicates, delivery_id_reused: reused }: EventSummary): string => {
  const stopped = verdict.gates.find(({ outcome }) => outcome !== "allow");
  return [
    failure === null ? "" : `${failure.kind}: ${failure.detail}`,
    failure === null && stopped !== undefined ? `${stopped.gate}: ${stopped.detail}` : "",
    duplicates > 0 ? `${duplicates} duplicate${duplicates === 1 ? "" : "s"}` : "",
    reused > 0 ? `${reused} refused with another body` : "",
  ]
    .filter((it) => it !== "")
    .join("; ");
};

const rowOf = (event: EventSummary, { now }: Screen): readonly Tree[] => [
  badge(event.status),
  h(
    "div",
    {},
    link(hrefOf("events", event.id), event.type === "" ? "(no type)" : event.type),
    h("small", {}, event.id),
  ),
  h("div", {}, event.origin.name, h("small", {}, `${event.origin.type} · ${event.delivery_id}`)),
  moment(event.received_at, now),
  String(event.attempt_count),
  event.cost_eur === null ? "–" : euro(event.cost_eur),
  whyOf(event),
];

const filters = ({ place: { query }, go }: Screen): Tree =>
  form(
    (fields) => go(hrefOf("events", null, fields)),
    { class: "filters", role: "search" },
    field("Search", {
      type: "search",
      name: "q",
      value: query.q ?? "",
      placeholder: "event id, delivery id, part of a type, gate-budget …",
    }),
    choice("Status", "status", STATUSES, query.status),
    field("Source", { name: "source_id", value: query.source_id ?? "", placeholder: "src_…" }),
    field("Agent", { name: "agent_id", value: query.agent_id ?? "", placeholder: "agt_…" }),
    field("Endpoint", { name: "endpoint_id", value: query.endpoint_id ?? "", placeholder: "end_…" }),
    field("Action", { name: "action", value: query.action ?? "" }),
    field("From", { name: "from", value: query.from ?? "", placeholder: "2026-01-31T12:00:00Z" }),
    field("To", { name: "to", value: query.to ?? "", placeholder: "2026-01-31T13:00:00Z" }),
    sending("Search"),
    button("Clear", () => go(hrefOf("events"))),
  );

const HEAD = ["Status", "Event", "From", "Received", "Attempts", "Cost", "Why"];

export const eventsPage: Page<List<EventSummary>> = {
  title: "Events",
  load: (api, { query }) => {
    const asked = Object.fromEntries([...FILTERS, "cursor"].map((name) => [name, query[name]]));
    return api.get<List<EventSummary>>("/v1/events", asked);
  },
  show: ({ data, next_cursor }, screen) =>
    h(
      "article",
      {},
      h("h1", {}, "Events"),
      filters(screen),
      table(
        HEAD,
        data.map((event) => rowOf(event, screen)),
        "No event is like that.",
      ),
      older("events", null, screen.place.query, next_cursor),
    ),
  isMoving: () => false,
};
