import type { EventSummary, Page as List } from "./answers.ts";
import type { Page, Screen } from "./page.ts";
import {
  amount,
  article,
  badge,
  button,
  choice,
  field,
  form,
  idShown,
  link,
  moment,
  older,
  sending,
  table,
} from "./parts.ts";
import { hrefOf } from "./place.ts";
import { h, type Tree } from "./tree.ts";
import { whyOf } from "./why.ts";

const STATUSES = [
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

const cameAs = ({ origin, delivery_id, bundle }: EventSummary): string =>
  bundle === undefined || bundle === null
    ? `${origin.type} · ${delivery_id}`
    : `${bundle.undo ? "undo of step" : "step"} ${bundle.index} of ${bundle.id}`;

const rowOf = (event: EventSummary, { now }: Screen): readonly Tree[] => [
  badge(event.status),
  h("div", {}, link(hrefOf("events", event.id), event.type === "" ? "(no type)" : event.type), idShown(event.id)),
  whyOf(event),
  h("div", {}, event.origin.name, h("small", { class: "id", title: event.delivery_id }, cameAs(event))),
  moment(event.received_at, now),
  String(event.attempt_count),
  event.cost_eur === null ? "–" : amount(event.cost_eur),
];

const RARE = ["source_id", "agent_id", "endpoint_id", "action", "from", "to"] as const;

const filters = ({ place: { query }, go }: Screen): Tree =>
  form(
    (fields) => go(hrefOf("events", null, fields)),
    { class: "filters", role: "search" },
    field("Search", {
      type: "search",
      name: "q",
      value: query.q ?? "",
      placeholder: "id, part of a type, gate-budget …",
    }),
    choice("Status", "status", STATUSES, query.status),
    sending("Search"),
    button("Clear", () => go(hrefOf("events"))),
    h(
      "details",
      { open: RARE.some((name) => query[name] !== undefined) },
      h("summary", {}, "More filters"),
      h(
        "div",
        { class: "fields" },
        field("Source", { name: "source_id", value: query.source_id ?? "", placeholder: "src_…" }),
        field("Agent", { name: "agent_id", value: query.agent_id ?? "", placeholder: "agt_…" }),
        field("Endpoint", { name: "endpoint_id", value: query.endpoint_id ?? "", placeholder: "end_…" }),
        field("Action", { name: "action", value: query.action ?? "" }),
        field("From (UTC)", { name: "from", value: query.from ?? "", placeholder: "2026-01-31T12:00:00Z" }),
        field("To (UTC)", { name: "to", value: query.to ?? "", placeholder: "2026-01-31T13:00:00Z" }),
      ),
    ),
  );

const isNarrowed = (query: Readonly<Record<string, string>>): boolean =>
  [...FILTERS, "cursor"].some((name) => query[name] !== undefined);

const HEAD = ["Status", "Event", "Why", "From", "Received", "Attempts", "Cost"];

export const eventsPage: Page<List<EventSummary>> = {
  title: "Events",
  load: (api, { query }) => {
    const asked = Object.fromEntries([...FILTERS, "cursor"].map((name) => [name, query[name]]));
    return api.get<List<EventSummary>>("/v1/events", asked);
  },
  show: ({ data, next_cursor }, screen) =>
    article(
      "Events",
      filters(screen),
      table(
        HEAD,
        data.map((event) => rowOf(event, screen)),
        isNarrowed(screen.place.query)
          ? "No events match."
          : "No events yet. Senders use the address of a source, agents use POST /v1/execute.",
      ),
      older("events", null, screen.place.query, next_cursor),
    ),
  isMoving: () => false,
};
