import { StateMark } from "../../design/mark.tsx";
import type { Column } from "../../design/table.tsx";
import { Breaking, Time } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { useNames } from "../api/names.ts";
import { useList } from "../shell/use-list.ts";
import { Listing } from "./listing.tsx";

type Row = AnswerOf<"GET /v1/agents">["data"][number];

const columns = (name: (id: string | null) => string | null): readonly Column<Row>[] => [
  {
    name: "Agent",
    as: "c0",
    show: (row) => (
      <>
        <a class="name" href={`/agents/${encodeURIComponent(row.id)}`}>
          <Breaking text={row.name} />
        </a>
        <span class="sub">
          <Breaking text={row.scope.actions.join(", ")} />
        </span>
      </>
    ),
  },
  { name: "State", as: "a", show: ({ status }) => <StateMark value={status} /> },
  { name: "Policy", as: "soft hide", show: ({ policy_id: id }) => (id === null ? "none" : (name(id) ?? "its policy")) },
  { name: "Key", as: "hide", show: ({ last4 }) => <code>…{last4}</code> },
  { name: "Since", as: "soft hide wide", show: ({ created_at: at }) => <Time at={at} /> },
];

/** What may it do? */
const Agents = () => {
  const name = useNames();
  const list = useList<Row>({
    filter: "",
    topic: "agents",
    keyOf: ({ id }) => id,
    page: (cursor) => call("GET /v1/agents", { query: { limit: 50, ...(cursor === undefined ? {} : { cursor }) } }),
    one: (id) => call("GET /v1/agents/{id}", { params: { id } }),
    matches: () => true,
  });
  return (
    <Listing
      title="Agents"
      list={list}
      columns={columns(name)}
      keyOf={({ id }) => id}
      empty={{ title: "No agents yet", text: "An agent asks for actions by name. POST /v1/agents makes one." }}
    />
  );
};

export default Agents;
