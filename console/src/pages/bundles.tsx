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
  { name: "Cost", as: "num hide", show: ({ cost_eur: cost }) => (cost === null ? "–" : euro(cost)) },
];

/** Is anything half done? */
const Bundles = ({ query }: PageProps) => {
  const name = useNames();
  const status = VIEWS.find((it) => it.status === query.status)?.status ?? "";
  const list = useList<Row>({
    filter: status,
    topic: "bundles",
    keyOf: ({ id }) => id,
    page: (cursor) =>
      call("GET /v1/bundles", {
        query: { limit: 50, ...(status === "" ? {} : { status }), ...(cursor === undefined ? {} : { cursor }) },
      }),
    one: (id) => call("GET /v1/bundles/{id}", { params: { id } }),
    matches: (row) => status === "" || row.status === status,
  });
  return (
    <Listing
      title="Bundles"
      list={list}
      columns={columns(name)}
      keyOf={({ id }) => id}
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
