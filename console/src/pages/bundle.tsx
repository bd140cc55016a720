import { useState } from "preact/hooks";
import { Field, fieldsOf } from "../../design/field.tsx";
import { counted, euro } from "../../design/format.ts";
import { StateMark } from "../../design/mark.tsx";
import { type Column, DataTable } from "../../design/table.tsx";
import { Breaking, Facts, Head, Id, Note, Section, Time } from "../../design/text.tsx";
import { toast } from "../../design/toast.tsx";
import { type AnswerOf, call, me } from "../api/api.ts";
import { DECIDING_ROLES } from "../api/may-decide.ts";
import { useNames } from "../api/names.ts";
import type { PageProps } from "../shell/page-props.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { Act, whyNotAdmin } from "./act.tsx";
import { refusalOf, refusingGate } from "./gate-words.ts";
import { Thing } from "./listing.tsx";

type Bundle = AnswerOf<"GET /v1/bundles/{id}">;
type Step = Bundle["steps"][number];

/** Until a step has run, nothing is undone. */
const CANCELLABLE: readonly string[] = ["held", "running"];
/** Nothing of these is sent, so it does not matter what could be undone. */
const WITHOUT_STEPS: readonly string[] = ["blocked", "cancelled"];
const COMMENT_MAX = 1_000;

const UNDO: Readonly<Record<string, string>> = { reversible: "undone by itself", irreversible: "cannot be undone" };

const undoOf = ({ compensation, reversibility }: Step): string => compensation ?? UNDO[reversibility] ?? "–";

const COLUMNS: readonly Column<Step>[] = [
  { name: "Step", as: "num b", show: ({ index }) => index },
  {
    name: "Action",
    as: "c0",
    show: ({ action, event_id: event, refusal, resolution }) => (
      <>
        {event === null ? (
          <span class="name">
            <Breaking text={action} />
          </span>
        ) : (
          <a class="name" href={`/events/${encodeURIComponent(event)}`}>
            <Breaking text={action} />
          </a>
        )}
        <span class="sub">
          {refusal?.detail ?? ""}
          {resolution === null ? "" : `Undone by hand: ${resolution.comment}`}
        </span>
      </>
    ),
  },
  { name: "State", as: "a", show: ({ status }) => <StateMark value={status} /> },
  {
    name: "Undo",
    as: "soft",
    show: (step) =>
      step.compensation_event_id === null ? (
        undoOf(step)
      ) : (
        <a href={`/events/${encodeURIComponent(step.compensation_event_id)}`}>{undoOf(step)}</a>
      ),
  },
  { name: "Cost", as: "num hide", show: ({ cost_eur: cost }) => (cost === null ? "–" : euro(cost)) },
];

type LeftProps = {
  readonly id: string;
  readonly step: NonNullable<Bundle["left"]>[number];
  readonly onDone: () => void;
};

const Left = ({ id, step: { index, action, why }, onDone }: LeftProps) => {
  const [fault, setFault] = useState<string | null>(null);
  const params = { id, index: String(index) };
  const send = async (form: HTMLFormElement): Promise<void> => {
    const { comment = "" } = fieldsOf(form);
    const answer = await call("POST /v1/bundles/{id}/steps/{index}/resolve", { params, body: { comment } });
    setFault(answer.ok ? null : answer.problem.detail);
    if (!answer.ok) return;
    toast.value = { text: `Step ${index} is marked as undone.` };
    onDone();
  };
  return (
    <Note mark="needsundo" role="fail">
      <p>
        <b>
          Step {index}, {action}, could not be undone.
        </b>{" "}
        {why} Undo it by hand, then mark it as undone.
      </p>
      {DECIDING_ROLES.includes(me.value?.member.role ?? "") ? (
        <form
          class="stack tight"
          onSubmit={(event) => {
            event.preventDefault();
            void send(event.currentTarget);
          }}
        >
          <Field label="How it was undone" name="comment" required maxLength={COMMENT_MAX} fault={fault} />
          <div class="row">
            <button class="btn" type="submit">
              Mark as undone
            </button>
          </div>
        </form>
      ) : (
        <p class="meta">An approver, an admin or an owner marks it as undone.</p>
      )}
    </Note>
  );
};

const Shown = ({ bundle, onDone }: { readonly bundle: Bundle; readonly onDone: () => void }) => {
  const nameOf = useNames();
  const { id, name, status, steps, left = [], reason } = bundle;
  const irreversible = WITHOUT_STEPS.includes(status)
    ? []
    : steps.filter((step) => step.reversibility === "irreversible");
  const refusing = status === "blocked" ? refusingGate(bundle.verdict) : null;
  const zone = me.value?.account.time_zone ?? "UTC";
  const from = nameOf(bundle.agent_id) ?? "The agent";
  const refused = refusing === null ? null : refusalOf(refusing, { from, what: null, run: bundle.run_id, zone });
  const label = steps.some((step) => step.event_id !== null) ? "Roll back" : "Cancel";
  return (
    <>
      <Head
        title={<Breaking text={name ?? steps.map(({ action }) => action).join(", ")} />}
        meta={
          <>
            <StateMark value={status} />
            <span>
              from{" "}
              <a href={`/agents/${encodeURIComponent(bundle.agent_id)}`}>{nameOf(bundle.agent_id) ?? "an agent"}</a>
            </span>
            <span>
              <Time at={bundle.created_at} as="exact" />
            </span>
            <Id id={id} />
          </>
        }
        acts={
          CANCELLABLE.includes(status) ? (
            <Act
              label={label}
              act={() => call("POST /v1/bundles/{id}/cancel", { params: { id }, body: {} })}
              done="No further step starts, and completed steps are undone."
              onDone={onDone}
              why={whyNotAdmin()}
              ask={{
                question: `${label} ${name ?? "this bundle"}?`,
                text: "No further step starts. Steps that were done are undone, the last one first.",
                keep: "Let it go on",
              }}
            />
          ) : null
        }
      />
      {refused === null ? null : (
        <Note role="refuse" mark="refused">
          <p>
            <b>{refused.title}</b> {refused.text}
          </p>
        </Note>
      )}
      {reason === undefined ? null : (
        <Note>
          <p>{reason}</p>
        </Note>
      )}
      {status === "held" && bundle.approval_id !== undefined ? (
        <p class="row">
          <a class="btn first" href={`/approvals/${bundle.approval_id}`}>
            Open the decision
          </a>
        </p>
      ) : null}
      {left.map((step) => (
        <Left key={step.index} id={id} step={step} onDone={onDone} />
      ))}
      {irreversible.length === 0 ? null : (
        <Note role="wait">
          <p>
            {counted(irreversible.length, "step")} cannot be undone:{" "}
            {irreversible.map(({ index, action }) => `${index}, ${action}`).join("; ")}.
          </p>
        </Note>
      )}
      <Section title="Steps" beside={<span class="meta">{counted(steps.length, "step")}</span>}>
        <DataTable caption="Steps in their order" columns={COLUMNS} rows={steps} keyOf={({ index }) => String(index)} />
      </Section>
      <Section title="About it">
        <Facts
          rows={[
            ["Cost", bundle.cost_eur === null ? "No cost" : euro(bundle.cost_eur)],
            ["Run", bundle.run_id === null ? "" : <code>{bundle.run_id}</code>],
            ["Ended", bundle.ended_at === null ? "" : <Time at={bundle.ended_at} />],
          ]}
        />
      </Section>
    </>
  );
};

const BundlePage = ({ params }: PageProps) => {
  const id = params.id ?? "";
  const shown = useAnswer<Bundle>({ key: id, on: { topic: "bundles", id } }, () =>
    call("GET /v1/bundles/{id}", { params: { id } }),
  );
  return (
    <Thing what="The bundle" shown={shown}>
      {(bundle) => <Shown bundle={bundle} onDone={shown.again} />}
    </Thing>
  );
};

export default BundlePage;
