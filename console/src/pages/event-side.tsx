import { count, counted, duration } from "../../design/format.ts";
import { ProofMark, StateMark } from "../../design/mark.tsx";
import { Loading } from "../../design/placeholders.tsx";
import { Seal } from "../../design/seal.tsx";
import { stateOf } from "../../design/states.ts";
import { Facts, Id, Section } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { withHolders } from "../api/holders.ts";
import { mayIt } from "../api/may-decide.ts";
import { useNames } from "../api/names.ts";
import { hrefOf } from "../shell/addresses.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { proofOf, useCoverage } from "../shell/use-coverage.ts";
import { numberOf } from "./bundle-words.ts";
import { eventCost, isUnspent } from "./cost-text.ts";
import { gateDetail, gateName } from "./gate-words.ts";
import type { Approval } from "./use-approval.ts";
import { stoppingGate } from "./why.ts";

type Event = AnswerOf<"GET /v1/events/{id}">;

const DECISIONS: Readonly<Record<string, string>> = { allow: "Allowed", deny: "Refused", hold: "Held for a person" };

/** The members who decided, and how long that took. */
const DecidedBy = ({ id, approval }: { readonly id: string; readonly approval: Approval | null }) => {
  const name = useNames();
  const { votes = [], requested_at: asked, decided_at: decided = null } = approval ?? {};
  const names = votes.map(({ member_id }) => name(member_id) ?? "a member");
  const after =
    decided === null || asked === undefined ? "" : `, after ${duration(Date.parse(decided) - Date.parse(asked))}`;
  return (
    <>
      <a href={`/approvals/${id}`}>
        {names.length === 0 ? "Open the decision" : new Intl.ListFormat("en").format(names)}
      </a>
      {names.length === 0 ? "" : after}
    </>
  );
};

/** The newest of the event's records, and how far it is sealed. */
const Records = ({ id }: { readonly id: string }) => {
  const shown = useAnswer({ key: id, on: { topic: "events", id } }, () =>
    call("GET /v1/audit", { query: { subject: id, limit: 100 } }),
  );
  const records = shown.body?.data ?? [];
  const [newest] = records;
  const coverage = useCoverage(newest?.index ?? -1);
  if (shown.body === null && shown.problem === null) return <Loading rows={1} />;
  if (newest === undefined) return null;
  const state = proofOf(newest, coverage);
  const others = records.length - 1;
  return (
    <p class="meta row">
      <ProofMark value={state} />
      <span>
        Record <a href={`/audit/${newest.index}`}>{count(newest.index)}</a>
        {others === 0 ? null : (
          <>
            {" "}
            and{" "}
            <a href={hrefOf("/audit", { q: id, order: "asc" })}>
              {shown.body?.next_cursor == null ? others : `${others}+`} more
            </a>
          </>
        )}
      </span>
    </p>
  );
};

/** Who decided, what the event is known by, and how far its records are sealed. */
export const Side = ({ event, approval }: { readonly event: Event; readonly approval: Approval | null }) => {
  const name = useNames();
  const { verdict, approval_id, bundle } = event;
  const policy = verdict.policy;
  const stopped = stoppingGate({ ...event, status: verdict.decision === "hold" ? "held" : event.status });
  return (
    <aside class="stack side-facts" aria-label="About this event">
      <Section title="Decision">
        <Facts
          rows={[
            ["Verdict", <StateMark value={verdict.decision} word={DECISIONS[verdict.decision] ?? verdict.decision} />],
            [
              "Policy",
              policy === null ? (
                "none"
              ) : (
                <>
                  <a href={`/policies/${encodeURIComponent(policy.id)}`}>{name(policy.id) ?? "its policy"}</a>{" "}
                  <span class="quiet">v{policy.version}</span>
                </>
              ),
            ],
            ["Why", stopped === null ? "" : gateDetail(stopped)],
            ["Approval", approval_id === null ? "" : <DecidedBy id={approval_id} approval={approval} />],
            [isUnspent(event) ? "Would cost" : "Cost", eventCost(event)],
          ]}
        />
      </Section>
      {verdict.gates.length === 0 ? null : (
        <Section title="Gates">
          <ul class="checks">
            {verdict.gates.map((gate) => (
              <li key={`${gate.gate}${gate.code}`}>
                <svg class={`m ${stateOf(gate.outcome).role}`} aria-hidden="true">
                  <use href={`#m-${stateOf(gate.outcome).mark}`} />
                </svg>
                <span>
                  <b>{gateName(gate.gate)}</b> <span class="soft">{gateDetail(gate)}</span>
                </span>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title="Identity">
        <Facts
          rows={[
            ["Run", event.run === null ? "" : <a href={hrefOf("/events", { run: event.run })}>{event.run}</a>],
            ["Trace", <Id id={event.trace_id} />],
            [
              event.origin.kind === "agent" ? "Request key" : "Delivery id",
              event.delivery_id === "" ? "" : <code>{event.delivery_id}</code>,
            ],
            ["Bundle", bundle === null ? "" : <a href={`/bundles/${bundle.id}`}>step {numberOf(bundle)}</a>],
            ["Duplicates", event.duplicates === 0 ? "" : counted(event.duplicates, "repeat")],
            ["SHA-256", <Id id={event.payload.sha256} />],
          ]}
        />
      </Section>
      <Section title="Proof">
        <div class="stack tight">
          {approval === null ? null : <Seal digest={approval.digest} label="Seal of what is approved" />}
          {mayIt("auditor") ? (
            <Records id={event.id} />
          ) : (
            <p class="meta">
              {withHolders("An auditor, an approver, an admin or an owner reads its records", "auditor")}
            </p>
          )}
        </div>
      </Section>
    </aside>
  );
};
