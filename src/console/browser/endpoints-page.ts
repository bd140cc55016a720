import type { Endpoint, Page as List, Tested } from "./answers.ts";
import { milliseconds, percent } from "./format.ts";
import { may, type Page, type Screen } from "./page.ts";
import { article, badge, button, facts, link, moment, older, table } from "./parts.ts";
import { hrefOf } from "./place.ts";
import { h, type Tree } from "./tree.ts";

const CLOSED: ReadonlySet<string> = new Set(["open", "disabled"]);

const pathOf = (id: string): string => `/v1/endpoints/${encodeURIComponent(id)}`;

const testedShown = (answer: unknown): Tree => {
  if (typeof answer !== "object" || answer === null) return "";
  const { outcome, status_code, failure } = answer as Tested;
  return h(
    "span",
    {},
    badge(outcome),
    ` ${status_code ?? ""} ${failure === null ? "" : `${failure.kind}: ${failure.detail}`}`,
  );
};

const buttons = ({ id, health: { state } }: Endpoint, screen: Screen): Tree =>
  may(screen, "admin")
    ? h(
        "div",
        { class: "buttons" },
        button("Test", () => screen.keepAnswer(id, `${pathOf(id)}/test`, undefined)),
        CLOSED.has(state)
          ? button("Enable", () =>
              screen.act(`${pathOf(id)}/enable`, undefined, "The endpoint is enabled, and waiting events are sent."),
            )
          : "",
        testedShown(screen.kept[id]),
      )
    : "";

const lastFailure = ({ health: { last_failure: failure } }: Endpoint, now: number): Tree =>
  failure === null ? "none" : h("span", {}, `${failure.kind} ${failure.status_code ?? ""} `, moment(failure.at, now));

const HEALTH: Readonly<Record<string, string>> = {
  degraded: "Some deliveries fail. Events are sent as before.",
  open: "Too many failures. New events wait while single probes are sent; the first success resumes delivery.",
  disabled: "Events wait until the endpoint is enabled.",
};

const meaningOf = ({ health: { state } }: Endpoint): Tree => {
  if (!Object.hasOwn(HEALTH, state)) return "";
  return h("div", { class: state === "degraded" ? "why" : "why bad" }, h("p", {}, String(HEALTH[state])));
};

const rowOf = (endpoint: Endpoint, screen: Screen): readonly Tree[] => {
  const { health } = endpoint;
  return [
    badge(health.state),
    h("div", {}, link(hrefOf("endpoints", endpoint.id), endpoint.name), h("small", {}, endpoint.url)),
    percent(health.success_rate_1h),
    `${milliseconds(health.p50_ms)} / ${milliseconds(health.p99_ms)}`,
    String(health.queued),
    moment(health.last_success_at, screen.now),
    lastFailure(endpoint, screen.now),
    moment(health.next_probe_at, screen.now),
    buttons(endpoint, screen),
  ];
};

export const endpointsPage: Page<List<Endpoint>> = {
  title: "Endpoints",
  load: (api, { query }) => api.get<List<Endpoint>>("/v1/endpoints", { cursor: query.cursor }),
  show: ({ data, next_cursor }, screen) =>
    article(
      "Endpoints",
      table(
        [
          "Health",
          "Endpoint",
          "Success, 1 h",
          "p50 / p99",
          "Waiting",
          "Last success",
          "Last failure",
          "Next probe",
          "",
        ],
        data.map((endpoint) => rowOf(endpoint, screen)),
        "No endpoints yet. POST /v1/endpoints registers one.",
      ),
      older("endpoints", null, screen.place.query, next_cursor),
    ),
  isMoving: ({ data }) => data.some(({ health }) => health.state !== "healthy" || health.queued > 0),
};

export const endpointPage: Page<Endpoint> = {
  title: "Endpoint",
  load: (api, { id }) => api.get<Endpoint>(pathOf(id ?? "")),
  show: (endpoint, screen) => {
    const { health } = endpoint;
    return article(
      [badge(health.state), " ", endpoint.name],
      h("p", {}, h("code", {}, endpoint.id)),
      meaningOf(endpoint),
      buttons(endpoint, screen),
      facts([
        ["Address", h("code", {}, endpoint.url)],
        ["Success in the last hour", percent(health.success_rate_1h)],
        ["Median response time", milliseconds(health.p50_ms)],
        ["99 % of the answers within", milliseconds(health.p99_ms)],
        ["Consecutive failures", String(health.consecutive_failures)],
        ["Last success", moment(health.last_success_at, screen.now)],
        ["Last failure", lastFailure(endpoint, screen.now)],
        ["Next probe", health.next_probe_at === null ? null : moment(health.next_probe_at, screen.now)],
        ["Waiting", String(health.queued)],
      ]),
      h(
        "p",
        { class: "buttons" },
        link(hrefOf("events", null, { endpoint_id: endpoint.id }), "Its events"),
        link(hrefOf("events", null, { endpoint_id: endpoint.id, status: "failed" }), "Failed events"),
        link(hrefOf("replays", null, { endpoint_id: endpoint.id, status: "failed" }), "Replay failed events"),
      ),
    );
  },
  isMoving: ({ health }) => health.state !== "healthy" || health.queued > 0,
};
