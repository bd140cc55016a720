import type { Agent, Page as List } from "./answers.ts";
import { may, type Page, type Screen } from "./page.ts";
import { article, badge, button, facts, idShown, link, moment, older, table } from "./parts.ts";
import { hrefOf } from "./place.ts";
import { h, type Tree } from "./tree.ts";

/** The reason is fixed, so that an agent can be suspended with one click. */
const REASON = "Suspended in the console.";

const pathOf = (id: string): string => `/v1/agents/${encodeURIComponent(id)}`;

const switchOf = ({ id, status }: Agent, screen: Screen): Tree => {
  if (!may(screen, "admin")) return "";
  return status === "active"
    ? button(
        "Suspend",
        () =>
          screen.act(
            `${pathOf(id)}/suspend`,
            { reason: REASON },
            "The agent is suspended, and its waiting requests are cancelled.",
          ),
        { class: "danger" },
      )
    : button("Resume", () => screen.act(`${pathOf(id)}/resume`, undefined, "The agent is active again."));
};

const rowOf = (agent: Agent, screen: Screen): readonly Tree[] => [
  badge(agent.status),
  h("div", {}, link(hrefOf("agents", agent.id), agent.name), idShown(agent.id)),
  h("code", {}, agent.scope.actions.join(", ")),
  agent.policy_id ?? "–",
  moment(agent.created_at, screen.now),
  link(hrefOf("events", null, { agent_id: agent.id }), "Requests"),
  switchOf(agent, screen),
];

export const agentsPage: Page<List<Agent>> = {
  title: "Agents",
  load: (api, { query }) => api.get<List<Agent>>("/v1/agents", { cursor: query.cursor }),
  show: ({ data, next_cursor }, screen) =>
    article(
      "Agents",
      table(
        ["Status", "Agent", "Scope", "Policy", "Registered", "", ""],
        data.map((agent) => rowOf(agent, screen)),
        "No agents yet. POST /v1/agents registers one.",
      ),
      older("agents", null, screen.place.query, next_cursor),
    ),
  isMoving: () => false,
};

export const agentPage: Page<Agent> = {
  title: "Agent",
  load: (api, { id }) => api.get<Agent>(pathOf(id ?? "")),
  show: (agent, screen) =>
    article(
      [badge(agent.status), " ", agent.name],
      h("p", {}, h("code", {}, agent.id)),
      h("p", { class: "buttons" }, switchOf(agent, screen)),
      facts([
        ["Suspended because", agent.suspended_reason],
        ["Scope", h("code", {}, agent.scope.actions.join(", "))],
        ["Policy", agent.policy_id ?? "none"],
        ["Key", h("code", {}, `…${agent.last4}`)],
        ["Registered", moment(agent.created_at, screen.now)],
      ]),
      h("p", {}, link(hrefOf("events", null, { agent_id: agent.id }), "Its requests")),
    ),
  isMoving: () => false,
};
