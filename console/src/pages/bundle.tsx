import { counted } from "../../design/format.ts";
import { StateMark } from "../../design/mark.tsx";
import { Breaking, Head, Id, Note, Time, Zone } from "../../design/text.tsx";
import { InTurns } from "../../design/virtual-rows.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { useNames } from "../api/names.ts";
import { hrefOf } from "../shell/addresses.ts";
import type { PageProps } from "../shell/page-props.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { Act, whyNotAdmin } from "./act.tsx";
import { Decided } from "./bundle-decision.tsx";
import { Left } from "./bundle-left.tsx";
import { Steps } from "./bundle-steps.tsx";
import { refusingGate } from "./bundle-verdict.ts";
import { actionsText, finalSteps, numberOf, reasonText } from "./bundle-words.ts";
import { Thing } from "./listing.tsx";
import { Refusal } from "./refusal.tsx";

type Bundle = AnswerOf<"GET /v1/bundles/{id}">;

/** Until a step has run, nothing is undone. */
const CANCELLABLE: readonly string[] = ["held", "running"];

const Shown = ({ bundle, onDone }: { readonly bundle: Bundle; readonly onDone: () => void }) => {
  const nameOf = useNames();
  const { id, name, status, steps, left = [], reason } = bundle;
  const irreversible = finalSteps(status, steps);
  const refusing = status === "blocked" ? refusingGate(bundle.verdict) : null;
  const label = steps.some((step) => step.event_id !== null) ? "Roll back" : "Cancel";
  return (
    <>
      <Head
        title={<Breaking text={name ?? actionsText(steps)} />}
        meta={
          <>
            <StateMark value={status} />
            <span>
              from{" "}
              <a href={`/agents/${encodeURIComponent(bundle.agent_id)}`}>{nameOf(bundle.agent_id) ?? "an agent"}</a>
              {bundle.run_id === null ? null : (
                <>
                  , run <a href={hrefOf("/events", { run: bundle.run_id })}>{bundle.run_id}</a>
                </>
              )}
            </span>
            <span>
              <Time at={bundle.created_at} as="exact" />
            </span>
            <Id id={id} />
            <Zone />
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
      {refusing === null ? null : (
        <Refusal
          gate={refusing.gate}
          policy={refusing.policy}
          agentId={bundle.agent_id}
          from={nameOf(bundle.agent_id) ?? "The agent"}
          what={null}
          run={bundle.run_id}
          at={bundle.created_at}
        />
      )}
      {status === "held" && bundle.approval_id !== undefined ? (
        <p class="row">
          <a class="btn first" href={`/approvals/${bundle.approval_id}`}>
            Open the decision
          </a>
        </p>
      ) : null}
      {left.map((step) => (
        <Left
          key={step.index}
          id={id}
          step={step}
          undoEvent={steps[step.index]?.compensation_event_id ?? null}
          onDone={onDone}
        />
      ))}
      {reason === undefined ? null : (
        <Note>
          <p>{reasonText(reason)}</p>
        </Note>
      )}
      <InTurns first={0}>
        <Steps bundle={bundle}>
          {irreversible.length === 0 ? null : (
            <Note role="wait">
              <p>
                {counted(irreversible.length, "step")} cannot be undone:{" "}
                {irreversible.map((step) => `${numberOf(step)}, ${step.action}`).join("; ")}.
              </p>
            </Note>
          )}
        </Steps>
        <Decided bundle={bundle} />
      </InTurns>
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
