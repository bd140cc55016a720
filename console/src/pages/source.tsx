import { StateMark } from "../../design/mark.tsx";
import { type Column, DataTable } from "../../design/table.tsx";
import { Breaking, Copied, Facts, Head, Id, Section, Time } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { useNames } from "../api/names.ts";
import { hrefOf } from "../shell/addresses.ts";
import type { PageProps } from "../shell/page-props.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { Act, whyNotAdmin } from "./act.tsx";
import { Thing } from "./listing.tsx";

type Source = AnswerOf<"GET /v1/sources/{id}">;
type Rejections = AnswerOf<"GET /v1/sources/{id}/rejections">;
type Rejection = Rejections["data"][number];

const REASONS: Readonly<Record<Rejection["reason"], string>> = {
  missing: "It has no signature.",
  malformed: "Its signature cannot be read.",
  mismatch:
    "It matches none of this source's secrets. Copy the secret again from the provider's page for this address.",
  stale: "Its time is too old: compare the clocks, or the provider sends it late.",
  "unknown-secret": "It names a secret that this source does not have.",
};

const COLUMNS: readonly Column<Rejection>[] = [
  { name: "Minute", as: "b nw soft", show: ({ minute }) => <Time at={minute} /> },
  { name: "Why", as: "c0", show: ({ reason }) => REASONS[reason] },
  { name: "Requests", as: "num a", show: ({ count }) => count },
  { name: "From", as: "soft hide", show: ({ sample }) => sample?.ip ?? "" },
];

const REJECTIONS_SHOWN = 20;

const Refused = ({ id }: { readonly id: string }) => {
  const shown = useAnswer<Rejections>({ key: id, on: { topic: "sources", id } }, () =>
    call("GET /v1/sources/{id}/rejections", { params: { id }, query: { limit: REJECTIONS_SHOWN } }),
  );
  const rows = shown.body?.data ?? [];
  return (
    <Section title="Refused signatures">
      {shown.problem === null ? null : <p class="soft">{shown.problem.detail}</p>}
      {shown.body !== null && rows.length === 0 ? <p class="soft">None was refused lately.</p> : null}
      {rows.length === 0 ? null : (
        <DataTable
          caption="Refused signatures by minute, newest first"
          columns={COLUMNS}
          rows={rows}
          keyOf={({ minute, reason }) => `${minute} ${reason}`}
        />
      )}
    </Section>
  );
};

const Shown = ({ source, onDone }: { readonly source: Source; readonly onDone: () => void }) => {
  const nameOf = useNames();
  const { id, name, status } = source;
  const set = (next: Source["status"]) => () =>
    call("PATCH /v1/sources/{id}", { params: { id }, body: { status: next } });
  const why = whyNotAdmin();
  return (
    <>
      <Head
        title={<Breaking text={name} />}
        meta={
          <>
            <StateMark value={status} />
            <span>{source.type}</span>
            <Id id={id} />
          </>
        }
        acts={
          status === "paused" ? (
            <Act label="Resume" act={set("active")} done={`${name} takes requests again.`} onDone={onDone} why={why} />
          ) : (
            <Act
              label="Pause"
              act={set("paused")}
              done={`${name} is paused.`}
              onDone={onDone}
              why={why}
              ask={{
                question: `Pause ${name}?`,
                text: "Its requests are refused until it is resumed; providers send them again for some time.",
                keep: "Keep it active",
              }}
            />
          )
        }
      />
      <Section title="Address">
        <Copied value={source.ingest_url} />
      </Section>
      <Section title="What happens to its events">
        <Facts
          rows={[
            [
              "Endpoint",
              source.endpoint_id === null ? (
                "recorded only"
              ) : (
                <a href={`/endpoints/${encodeURIComponent(source.endpoint_id)}`}>
                  {nameOf(source.endpoint_id) ?? "its endpoint"}
                </a>
              ),
            ],
            ["Policy", source.policy_id === null ? "none" : (nameOf(source.policy_id) ?? <Id id={source.policy_id} />)],
            ["Since", <Time at={source.created_at} />],
          ]}
        />
        <p class="row">
          <a class="btn" href={hrefOf("/events", { source_id: id })}>
            Its events
          </a>
        </p>
      </Section>
      <Refused id={id} />
    </>
  );
};

const SourcePage = ({ params }: PageProps) => {
  const id = params.id ?? "";
  const shown = useAnswer<Source>({ key: id, on: { topic: "sources", id } }, () =>
    call("GET /v1/sources/{id}", { params: { id } }),
  );
  return (
    <Thing what="The source" shown={shown}>
      {(source) => <Shown source={source} onDone={shown.again} />}
    </Thing>
  );
};

export default SourcePage;
