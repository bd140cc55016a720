import { useState } from "preact/hooks";
import { type Filter, faultOf } from "../../design/filter-values.ts";
import { StateMark } from "../../design/mark.tsx";
import { Breaking, Head, Id, Note, Time, Zone } from "../../design/text.tsx";
import { call, me } from "../api/api.ts";
import { isNameSettled, useNames } from "../api/names.ts";
import { hrefOf } from "../shell/addresses.ts";
import type { PageProps } from "../shell/page-props.ts";
import { go } from "../shell/router.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { whyNotAdmin } from "./act.tsx";
import { ActButton } from "./act-button.tsx";
import { AddressCheck } from "./address-check.tsx";
import { Thing } from "./listing.tsx";
import { PolicyDecisions } from "./policy-decisions.tsx";
import { type Draft, definitionOf, EMPTY_POLICY, keepDraft, keptDraft, parsedDraft, textOf } from "./policy-draft.ts";
import { DraftView } from "./policy-draft-view.tsx";
import { type Published, PublishLayer, publishVerb } from "./policy-publish.tsx";
import { PolicyToday } from "./policy-today.tsx";
import { type Uses, usePolicyUses } from "./policy-uses.ts";
import { comparisonFilter, PolicyVersions } from "./policy-versions.tsx";
import type { Policy } from "./policy-words.ts";
import { useValidation } from "./use-validation.ts";
import { UsedBy } from "./used-by.tsx";

const TABS = [
  ["draft", "Draft"],
  ["today", "Today"],
  ["versions", "Versions"],
  ["decisions", "Decisions"],
] as const;

const TAB: Filter = {
  ...{ name: "tab", label: "Tab", choices: TABS.map(([value, word]) => ({ value, word })) },
  expects: "Choose one of Draft, Today, Versions and Decisions.",
};

const NEW = "new";

const useDraft = (policy: Policy | null) => {
  const member = me.value?.member.id ?? "";
  const key = policy?.id ?? NEW;
  const inForce: Draft =
    policy === null ? { base: null, text: EMPTY_POLICY } : { base: policy.version, text: textOf(definitionOf(policy)) };
  const [own, setOwn] = useState<Draft | null>(() => keptDraft(member, key));
  const set = (next: Draft | null): void => {
    const kept = next === null || next.text === inForce.text ? null : next;
    keepDraft(member, key, kept);
    setOwn(kept);
  };
  return { draft: own ?? inForce, isChanged: own !== null, set };
};

type MetaProps = { readonly policy: Policy | null /** Null if they are not known. */; readonly uses: Uses | null };

const Meta = ({ policy, uses }: MetaProps) => {
  const nameOf = useNames();
  if (policy === null) return <span>It limits nothing before it is published and put on something.</span>;
  return (
    <>
      <StateMark value="active" word={`Version ${policy.version} is in force`} />
      <span>
        since <Time at={policy.created_at} />, published by {nameOf(policy.created_by) ?? "a member"}
      </span>
      <Id id={policy.id} />
      <Zone />
      {uses === null ? null : (
        <span>
          used by <UsedBy uses={uses.get(policy.id) ?? []} />
        </span>
      )}
    </>
  );
};

const Tabs = ({ policy: { id, version }, tab: open }: { readonly policy: Policy; readonly tab: string }) => (
  <nav class="tabs" aria-label="Parts of the policy">
    {TABS.map(([name, word]) => (
      <a
        key={name}
        href={hrefOf(`/policies/${encodeURIComponent(id)}`, name === "draft" ? {} : { tab: name })}
        aria-current={open === name ? "page" : undefined}
      >
        {word}
        {name === "versions" ? <span class="n">{version}</span> : null}
      </a>
    ))}
  </nav>
);

type Readiness = { readonly [name in "isNew" | "isChanged" | "isOld" | "hasProblems"]: boolean };

/** Why the draft cannot be published as it stands; null if it can. */
const whyNotReady = ({ isNew, isChanged, isOld, hasProblems }: Readiness): string | null => {
  if (!isChanged) return isNew ? "Nothing is written yet." : "The draft is the same as what is in force.";
  if (isOld) return "Another version came first: see below.";
  return hasProblems ? "Mend first what is named below." : null;
};

type EditedProps = {
  readonly policy: Policy | null;
  readonly uses: Uses | null;
  readonly query: PageProps["query"];
  readonly onDone: () => void;
};

const Edited = ({ policy, uses, query, onDone }: EditedProps) => {
  // Two versions can be compared in one place alone.
  const tab = query.tab ?? (query.v === undefined ? "draft" : "versions");
  const comparison = comparisonFilter(policy?.version ?? 0, tab);
  const v = faultOf(comparison, query) === null ? query.v : undefined;
  const { draft, isChanged, set } = useDraft(policy);
  const validated = useValidation(draft.text);
  const [isAsking, setAsking] = useState(false);
  const [proposal, setProposal] = useState<string | null>(null);
  const definition = parsedDraft(draft.text);
  const isOld = policy !== null && draft.base !== null && draft.base < policy.version;
  const hasProblems = definition === null || validated.problems.length > 0;
  const why = whyNotAdmin() ?? whyNotReady({ isNew: policy === null, isChanged, isOld, hasProblems });
  const verb = publishVerb(policy);
  const published = (it: Published): void => {
    setAsking(false);
    set(null);
    if (it.outcome === "proposed") setProposal(it.approvalId);
    else if (policy === null) go(`/policies/${encodeURIComponent(it.id)}`, { isReplaced: true });
    onDone();
  };
  const acts = (
    <>
      {isChanged ? (
        <button class="btn" type="button" onClick={() => set(null)}>
          Discard draft
        </button>
      ) : null}
      <ActButton why={why} isFirst isBusy={!validated.isCurrent} onPress={() => setAsking(true)}>
        {policy === null ? `${verb} the policy…` : `${verb} version ${policy.version + 1}…`}
      </ActButton>
    </>
  );
  return (
    <>
      <Head
        title={policy === null ? "New policy" : <Breaking text={policy.name} />}
        meta={<Meta policy={policy} uses={uses} />}
        acts={tab === "draft" ? acts : undefined}
      />
      {policy === null ? null : <Tabs policy={policy} tab={tab} />}
      {policy === null ? null : <AddressCheck filters={[TAB, comparison]} query={query} />}
      {proposal === null ? null : (
        <Note role="wait" mark="held">
          <p>
            The version waits for approval. <a href={`/approvals/${encodeURIComponent(proposal)}`}>Open its approval</a>
          </p>
        </Note>
      )}
      {tab === "draft" ? (
        <DraftView
          policy={policy}
          draft={draft}
          // Nobody has written anything yet that could be wrong.
          validated={isChanged ? validated : { ...validated, problems: [] }}
          onDraft={set}
          onDiscard={() => set(null)}
        />
      ) : null}
      {tab === "today" && policy !== null ? <PolicyToday policy={policy} /> : null}
      {tab === "versions" && policy !== null ? (
        <PolicyVersions key={policy.version} policy={policy} v={v} onDone={onDone} />
      ) : null}
      {tab === "decisions" && policy !== null ? <PolicyDecisions id={policy.id} /> : null}
      {isAsking && definition !== null ? (
        <PublishLayer
          policy={policy}
          definition={definition}
          base={draft.base}
          onDone={published}
          onConflict={onDone}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </>
  );
};

/** What does this policy say, and what did it decide? */
const PolicyPage = ({ params, query }: PageProps) => {
  const { id } = params;
  const shown = useAnswer<Policy>({ key: id ?? NEW, on: { topic: "policies", id: id ?? null } }, () =>
    call("GET /v1/policies/{id}", { params: { id: id ?? "" } }),
  );
  const uses = usePolicyUses();
  const isReady = (uses.body !== null || uses.problem !== null) && isNameSettled(shown.body?.created_by);
  return (
    <Thing what="The policy" shown={isReady ? shown : { ...shown, body: null }}>
      {(policy) => <Edited key={id} policy={policy} uses={uses.body} query={query} onDone={shown.again} />}
    </Thing>
  );
};

export const PolicyNew = () => <Edited policy={null} uses={null} query={{}} onDone={() => undefined} />;

export default PolicyPage;
