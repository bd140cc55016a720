import { StateMark } from "../../design/mark.tsx";
import type { Column } from "../../design/table.tsx";
import { Breaking, Time } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { useNames } from "../api/names.ts";
import { useList } from "../shell/use-list.ts";
import { Listing } from "./listing.tsx";
import { useProviderLabels } from "./provider-labels.ts";

type Row = AnswerOf<"GET /v1/sources">["data"][number];

type Columns = {
  readonly name: (id: string | null) => string | null;
  /** What a provider is called. */
  readonly label: (type: string) => string;
};

const columns = ({ name, label }: Columns): readonly Column<Row>[] => [
  {
    name: "Source",
    as: "c0",
    show: (row) => (
      <>
        <a class="name" href={`/sources/${encodeURIComponent(row.id)}`}>
          <Breaking text={row.name} />
        </a>
        <span class="sub">
          {label(row.type)}
          {row.endpoint_id === null ? "" : ` → ${name(row.endpoint_id) ?? "its endpoint"}`}
        </span>
      </>
    ),
  },
  { name: "State", as: "a", show: ({ status }) => <StateMark value={status} /> },
  { name: "Policy", as: "soft hide", show: ({ policy_id: id }) => (id === null ? "none" : (name(id) ?? "its policy")) },
  { name: "Since", as: "soft hide wide", show: ({ created_at: at }) => <Time at={at} /> },
];

/** Does it arrive? */
const Sources = () => {
  const name = useNames();
  const { label } = useProviderLabels();
  const list = useList<Row>({
    filter: "",
    isKept: true,
    topic: "sources",
    keyOf: ({ id }) => id,
    page: (cursor) => call("GET /v1/sources", { query: { limit: 50, ...(cursor === undefined ? {} : { cursor }) } }),
    one: (id) => call("GET /v1/sources/{id}", { params: { id } }),
    matches: () => true,
  });
  return (
    <Listing
      title="Sources"
      list={list}
      columns={columns({ name, label })}
      keyOf={({ id }) => id}
      make={{ label: "Add a source", href: "/sources/new" }}
      empty={{ title: "No sources yet", text: "A source is where events come from." }}
    />
  );
};

export default Sources;
