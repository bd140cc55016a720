import { counted, euro } from "../../design/format.ts";
import { StateMark } from "../../design/mark.tsx";
import type { Column } from "../../design/table.tsx";
import { Breaking, Time } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { useNames } from "../api/names.ts";
import { hrefOf } from "../shell/addresses.ts";
import type { PageProps } from "../shell/page-props.ts";
import { useList } from "../shell/use-list.ts";
import { reasonText } from "./bundle-words.ts";
import type { ExportColumn } from "./export-text.ts";
import { gateDetail, gateName, refusingGate } from "./gate-words.ts";
import { Listing } from "./listing.tsx";

type Row = AnswerOf<"GET /v1/bundles">["data"][number];
type Status = Row["status"];

const VIEWS: readonly { readonly title: string; readonly status: Status | "" }[] = [
  { title: "All", status: "" },
  { title: "Needs manual undo", status: "rollback_incomplete" },
  { title: "Held", status: "held" },
  { title: "Running", status: "running" },
  { title: "Rolled back", status: "rolled_back" },
  { title: "Committed", status: "committed" },
];

/** Why it was refused, or why it ended. */
const whyOf = ({ status, reason, verdict }: Row): string => {
  const refusing = status === "blocked" ? refusingGate(verdict) : null;
  if (refusing === null) return reasonText(reason ?? "");
  return `${gateName(refusing.gate.gate)}: ${gateDetail(refusing.gate)}`;
};

const columns = (name: (id: string | null) => string | null): readonly Column<Row>[] => [
  { name: "Asked", as: "b nw soft", show: ({ created_at: at }) => <Time at={at} /> },
  {
    name: "Bundle",
    as: "c0",
    show: (row) => (
      <>
        <a class="name" href={`/bundles/${encodeURIComponent(row.id)}`}>
          <Breaking text={row.name ?? row.steps.map(({ action }) => action).join(", ")} />
        </a>
        <span class="sub">
          {name(row.agent_id) ?? "an agent"}, {counted(row.steps.length, "step")}
        </span>
      </>
    ),
  },
  { name: "State", as: "a", show: ({ status }) => <StateMark value={status} /> },
  { name: "Why", as: "soft why", show: whyOf },
  { name: "Cost", as: "num hide roomy", show: ({ cost_eur: cost }) => (cost === null ? "–" : euro(cost)) },
];

const exportColumns = (name: (id: string | null) => string | null): readonly ExportColumn<Row>[] => [
  { name: "id", of: ({ id }) => id },
  { name: "asked_at", of: (row) => row.created_at },
  { name: "bundle", of: (row) => row.name },
  { name: "agent", of: (row) => name(row.agent_id) ?? row.agent_id },
  { name: "steps", of: ({ steps }) => steps.length },
  { name: "state", of: ({ status }) => status },
  { name: "why", of: whyOf },
  { name: "cost_eur", of: (row) => row.cost_eur },
];

/** Is anything half done? */
const Bundles = ({ query }: PageProps) => {
  const name = useNames();
  const status = VIEWS.find((it) => it.status === query.status)?.status ?? "";
  const page = (cursor: string | undefined, limit: number) =>
    call("GET /v1/bundles", {
      query: { limit, ...(status === "" ? {} : { status }), ...(cursor === undefined ? {} : { cursor }) },
    });
  const list = useList<Row>({
    filter: status,
    isKept: true,
    topic: "bundles",
    keyOf: ({ id }) => id,
    page: (cursor) => page(cursor, 50),
    one: (id) => call("GET /v1/bundles/{id}", { params: { id } }),
    matches: (row) => status === "" || row.status === status,
  });
  return (
    <Listing
      title="Bundles"
      list={list}
      columns={columns(name)}
      keyOf={({ id }) => id}
      exported={{ columns: exportColumns(name), page: (cursor) => page(cursor, 100) }}
      empty={
        status === ""
          ? { title: "No bundles yet", text: "A bundle appears here when an agent asks for several actions as one." }
          : { title: "No bundles match", text: "Choose another view to see the others." }
      }
    >
      <nav class="tabs" aria-label="Views">
        {VIEWS.map((view) => (
          <a
            key={view.title}
            href={hrefOf("/bundles", { status: view.status })}
            aria-current={view.status === status ? "page" : undefined}
          >
            {view.title}
          </a>
        ))}
      </nav>
    </Listing>
  );
};

export default Bundles;
