import type { Column } from "../../design/table.tsx";
import { Breaking, Time } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { useNames } from "../api/names.ts";
import { hrefOf } from "../shell/addresses.ts";
import { useList } from "../shell/use-list.ts";
import { costText, undoText } from "./action-definition.ts";
import { AgentTabs } from "./agent-tabs.tsx";
import { Listing } from "./listing.tsx";

type Action = AnswerOf<"GET /v1/actions/{name}">;

const columns = (name: (id: string | null) => string | null): readonly Column<Action>[] => [
  {
    name: "Action",
    as: "c0",
    show: (row) => (
      <>
        <a class="name" href={`/agents/actions/${encodeURIComponent(row.name)}`}>
          <Breaking text={row.name} />
        </a>
        <span class="sub">{row.title === undefined ? "no sentence of its own" : <Breaking text={row.title} />}</span>
      </>
    ),
  },
  { name: "Endpoint", as: "soft", show: ({ endpoint_id: id }) => name(id) ?? "its endpoint" },
  { name: "Cost", as: "soft hide", show: ({ cost }) => costText(cost) },
  { name: "Undo", as: "soft", show: (row) => undoText(row) },
  { name: "Version", as: "num hide wide", show: ({ version }) => version },
  { name: "Changed", as: "soft hide wide", show: ({ changed_at: at }) => <Time at={at} /> },
];

/** What can be asked for by name, and what becomes of it? */
export const ActionsList = () => {
  const name = useNames();
  const list = useList<Action>({
    filter: "",
    isKept: true,
    topic: "actions",
    keyOf: (row) => row.name,
    page: (cursor) => call("GET /v1/actions", { query: { limit: 50, ...(cursor === undefined ? {} : { cursor }) } }),
    // The stream names actions by their id, which no answer has; so the page is read again, and none alone.
    one: null,
    matches: () => true,
  });
  return (
    <Listing
      title="Actions"
      list={list}
      columns={columns(name)}
      keyOf={(row) => row.name}
      make={{ label: "Define an action", href: hrefOf("/agents", { tab: "actions", new: "action" }) }}
      empty={{
        title: "No actions yet",
        text: "An action is what agents ask for by name: it says where a request is sent, what it costs, and how it is undone.",
      }}
    >
      <AgentTabs tab="actions" />
    </Listing>
  );
};
