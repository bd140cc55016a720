import { useState } from "preact/hooks";
import type { Filter } from "../../design/filter-values.ts";
import { listTotal } from "../../design/format.ts";
import { Empty, LoadError, Loading } from "../../design/placeholders.tsx";
import { type Column, DataTable, Pager } from "../../design/table.tsx";
import { Id, Section, Time } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { useNames } from "../api/names.ts";
import { hrefOf } from "../shell/addresses.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { useRows } from "../shell/use-rows.ts";
import { whyNotAdmin } from "./act.tsx";
import { changesBetween } from "./policy-difference.ts";
import { definitionOf, textOf } from "./policy-draft.ts";
import { ChangeList, SideBySide } from "./policy-lines.tsx";
import { PublishLayer, publishVerb } from "./policy-publish.tsx";
import type { Policy } from "./policy-words.ts";

type Version = AnswerOf<"GET /v1/policies/{id}/versions">["data"][number];
type Events = AnswerOf<"GET /v1/events">;

const PAGE = 20;

type DecidedProps = { readonly policy: string; readonly from: string; readonly to: string | null };

/** How many requests arrived and were decided on while a version was in force, with their list. */
const Decided = ({ policy, from, to }: DecidedProps) => {
  const range = { policy_id: policy, from, ...(to === null ? {} : { to }) };
  const { body } = useAnswer<Events>({ key: `${policy} ${from} ${to}`, on: null }, () =>
    call("GET /v1/events", { query: { ...range, limit: 1, total: "true" } }),
  );
  return body === null ? null : <a href={hrefOf("/events", range)}>{listTotal(body.total ?? 0)}</a>;
};

/** `6..7`, as the address has it; null if it names no two versions. */
const comparedIn = (text: string | undefined): readonly [number, number] | null => {
  const [, one, other] = /^(\d{1,9})\.\.(\d{1,9})$/.exec(text ?? "") ?? [];
  return one === undefined || other === undefined ? null : [Number(one), Number(other)];
};

/** What `v` may name in a policy that has so many versions, in a tab. */
export const comparisonFilter = (newest: number, tab: string): Filter => ({
  ...{ name: "v", label: "Comparison", choices: [], expects: null },
  check({ v }) {
    if (v === undefined) return null;
    if (tab !== "versions") return "Only the tab Versions compares two versions.";
    const [one, other] = comparedIn(v) ?? [0, 0];
    if (one !== other && [one, other].every((it) => it >= 1 && it <= newest)) return null;
    return newest < 2
      ? "There is one version only, and nothing to compare it with."
      : `Write two of the versions 1 to ${newest} with two dots between them, such as 1..${newest}.`;
  },
});

type VersionsProps = {
  readonly policy: Policy;
  readonly v: string | undefined;
  readonly onDone: () => void;
};

/** Who published what, when and why, and how two versions differ. */
export const PolicyVersions = ({ policy, v, onDone }: VersionsProps) => {
  const { id } = policy;
  const nameOf = useNames();
  const [again, setAgain] = useState<Version | null>(null);
  const list = useRows<Version>({
    keyOf: ({ version }) => String(version),
    page: (cursor) =>
      call("GET /v1/policies/{id}/versions", {
        params: { id },
        query: { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) },
      }),
  });
  const { rows } = list;
  const here = (one: number, other: number): string =>
    hrefOf(`/policies/${encodeURIComponent(id)}`, { tab: "versions", v: `${one}..${other}` });
  const columns: readonly Column<Version>[] = [
    {
      name: "Version",
      as: "c0",
      show: ({ version, created_by: by }) => (
        <>
          <b>Version {version}</b>
          <span class="sub">{nameOf(by) ?? <Id id={by} />}</span>
        </>
      ),
    },
    { name: "Published", as: "a soft nw roomy", show: ({ created_at: at }) => <Time at={at} /> },
    { name: "Why", as: "soft why", show: ({ reason }) => reason ?? "No reason was written" },
    {
      name: "Decisions",
      as: "num hide",
      show: ({ version, created_at: from }) => (
        <Decided policy={id} from={from} to={rows.find((it) => it.version === version + 1)?.created_at ?? null} />
      ),
    },
    {
      name: "Acts",
      as: "acts wraps",
      show: (row) => (
        <span class="row">
          {row.version === 1 ? null : (
            <a class="btn" href={here(row.version - 1, row.version)}>
              Compare with version {row.version - 1}
            </a>
          )}
          {row.version === policy.version || whyNotAdmin() !== null ? null : (
            <button class="btn" type="button" onClick={() => setAgain(row)}>
              {publishVerb(policy)} version {row.version} again
            </button>
          )}
        </span>
      ),
    },
  ];
  const compared = comparedIn(v);
  const [one, other] = (compared ?? []).map((wanted) => rows.find(({ version }) => version === wanted));
  if (!list.isLoaded && list.problem === null) return <Loading rows={4} />;
  return (
    <>
      {list.problem === null ? null : (
        <LoadError what="The versions" failure={list.problem} since={list.since} onRetry={list.again} />
      )}
      {compared === null ? null : one === undefined || other === undefined ? (
        <Empty title="Not among the versions below" text="Choose two that are, or load more." />
      ) : (
        <Section title={`Version ${one.version} against version ${other.version}`}>
          <div class="stack">
            <ChangeList changes={changesBetween(definitionOf(one), definitionOf(other))} />
            <SideBySide
              before={{ title: `Version ${one.version}`, text: textOf(definitionOf(one)) }}
              after={{ title: `Version ${other.version}`, text: textOf(definitionOf(other)) }}
            />
          </div>
        </Section>
      )}
      <div>
        <DataTable
          caption="Versions, newest first"
          columns={columns}
          rows={rows}
          keyOf={({ version }) => String(version)}
          as="even"
        />
        <Pager shown={rows.length} onMore={list.more} isLoading={list.isLoading} />
      </div>
      {again === null ? null : (
        <PublishLayer
          policy={policy}
          definition={definitionOf(again)}
          base={policy.version}
          reason={`Version ${again.version} again`}
          onDone={() => {
            setAgain(null);
            list.again();
            onDone();
          }}
          onConflict={onDone}
          onClose={() => setAgain(null)}
        />
      )}
    </>
  );
};
