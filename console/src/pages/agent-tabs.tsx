import { hrefOf } from "../shell/addresses.ts";

type Tab = "agents" | "actions";

/** Agents, and the actions that they ask for, are two tabs of one place. */
export const AgentTabs = ({ tab }: { readonly tab: Tab }) => (
  <nav class="tabs" aria-label="Agents and actions">
    <a href="/agents" aria-current={tab === "agents" ? "page" : undefined}>
      Agents
    </a>
    <a href={hrefOf("/agents", { tab: "actions" })} aria-current={tab === "actions" ? "page" : undefined}>
      Actions
    </a>
  </nav>
);
