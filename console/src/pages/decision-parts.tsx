import { useEffect, useRef } from "preact/hooks";
import { countdown, counted, euro } from "../../design/format.ts";
import { Gauge, GaugeKey } from "../../design/gauge.tsx";
import { Icon, Mark, StateMark } from "../../design/mark.tsx";
import { stateOf } from "../../design/states.ts";
import { Id, Note, Section, Time } from "../../design/text.tsx";
import type { AnswerOf, Me } from "../api/api.ts";
import { call } from "../api/api.ts";
import { isExcluded } from "../api/may-decide.ts";
import { useNames } from "../api/names.ts";
import { hasRight } from "../api/roles.ts";
import { hrefOf } from "../shell/addresses.ts";
import { now } from "../shell/clock.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { type ComparedRow, unlikeText } from "./approval-fields.ts";
import { spentText } from "./cost-text.ts";
import {
  changedMessage,
  countsMessage,
  othersCan,
  ownMessage,
  STAGE_HEADINGS,
  type Stage,
  shownWords,
} from "./decision-words.ts";
import { followReading } from "./fields-read.ts";
import { summaryText } from "./gate-words.ts";
import { type Message, message } from "./message.ts";
import { MessageText } from "./message-text.tsx";

export type Approval = AnswerOf<"GET /v1/approvals/{id}">;
export type Context = AnswerOf<"GET /v1/approvals/{id}/context">;
type Target = NonNullable<NonNullable<Context["steps"]>[number]["endpoint"]>;

const SOON_MS = 15 * 60_000;

/** A row of the list has no `title` without a template. */
type Titled = Pick<Approval, "action" | "summary" | "requested_by"> & { readonly title?: string | null | undefined };

/** The sentence that is decided. */
export const titleOf = ({ title, action, summary, requested_by: by }: Titled): string => {
  if (title != null) return title;
  if (action === null) return summaryText(summary);
  return by.kind === "agent" ? `Agent ${by.name} asks for ${action}` : `${by.name} sent ${action}`;
};

/** That of a card; the sentence of a bundle is in what is read beside it. */
export const sentenceOf = (approval: Approval, context: Pick<Context, "title"> | null): string =>
  approval.bundle_id !== null && context !== null ? summaryText(context.title) : titleOf(approval);

/** Why this member cannot decide; null if they can. */
export const whyNot = (
  approval: Approval,
  who: Me,
  { nameOf, now }: { readonly nameOf: (id: string) => string | null; readonly now: number },
): Message | null => {
  if (approval.can_decide.includes(who.member.id)) return null;
  const others = approval.can_decide.map(nameOf);
  if (!hasRight(who.member.role, "approver"))
    return message(`Your role, ${who.member.role}, does not decide.`, othersCan(others));
  if (approval.votes.some((it) => it.member_id === who.member.id)) return countsMessage(approval, others, now);
  if (isExcluded(approval, who)) return ownMessage(others);
  return message("The policy does not let you decide on this.", othersCan(others));
};

type ShownProps = { readonly approval: Approval; readonly context: Context | null };

const Asker = ({ by }: { readonly by: Approval["requested_by"] }) => (
  <a href={`/${by.kind}s/${encodeURIComponent(by.id)}`}>
    <bdi>{by.name}</bdi>
  </a>
);

/** The state, the sentence that is decided, who asks in which run, why it is held, and why it was proposed. */
export const Lede = ({ approval, context }: ShownProps) => {
  const nameOf = useNames();
  const { policy, requested_by: by, status } = approval;
  const left = Date.parse(approval.expires_at) - now.value;
  return (
    <header class="lede">
      <p class="meta row">
        {status === "pending" ? <StateMark value="held" word="Waiting for a person" /> : <StateMark value={status} />}
        <Id id={approval.id} />
        <span>
          asked <Time at={approval.requested_at} />
        </span>
        {status === "pending" ? (
          <span class="end">
            <b class={left < SOON_MS ? "soon" : ""} title={approval.expires_at}>
              {left > 0 ? `Expires in ${countdown(left)}` : "Has expired"}
            </b>
          </span>
        ) : null}
      </p>
      <h2 class="bigtitle" id="deed">
        {sentenceOf(approval, context)}
      </h2>
      <p class="soft">
        Asked by <Asker by={by} />
        {context?.run == null ? null : (
          <>
            {" "}
            in the run <a href={hrefOf("/events", { run: context.run })}>{context.run}</a>
          </>
        )}
        {by.member === undefined ? "" : `, sent again by ${nameOf(by.member) ?? "a member"}`}.{" "}
        {policy === null ? null : (
          <>
            The policy{" "}
            <a href={`/policies/${encodeURIComponent(policy.id)}`}>
              {nameOf(policy.id) ?? policy.id} v{policy.version}
            </a>{" "}
            {status === "pending" ? "holds" : "held"} it.{" "}
            <b>{approval.reasons.map((it) => it.replace(/\.$/, "")).join("; ")}.</b>
            {policy.newest_version > policy.version ? ` (version ${policy.newest_version} is in force now)` : ""}
          </>
        )}
      </p>
      {context?.proposal == null ? null : (
        <p>
          Reason given: <b>{context.proposal}</b>
        </p>
      )}
    </header>
  );
};

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);

const To = ({ endpoint: { id, name, url } }: { readonly endpoint: Target }) => (
  <>
    <a href={`/endpoints/${encodeURIComponent(id)}`}>{name}</a> at <code title={url}>{hostOf(url)}</code>
  </>
);

type StageProps = { readonly approval: Approval; readonly stage: Stage };

/** How a verb that is the same in each stage is written before it: "is sent", "was to be sent". */
const AUXILIARY = {
  asked: { one: "is", several: "are" },
  approved: { one: "was approved to be", several: "were approved to be" },
  done: { one: "was", several: "were" },
  dropped: { one: "was to be", several: "were to be" },
} as const satisfies Record<Stage, { readonly one: string; readonly several: string }>;

const SENDS = {
  asked: "sends",
  approved: "was approved to send",
  done: "sent",
  dropped: "was to send",
} as const satisfies Record<Stage, string>;

const Sends = ({ approval, stage }: StageProps) => {
  const { endpoint, action, bundle_id, change } = approval;
  const { one, several } = AUXILIARY[stage];
  const isAsked = stage === "asked";
  if (change !== undefined) return <>{`The ${change.target.kind} ${change.target.id} ${one} changed.`}</>;
  if (endpoint === null && bundle_id === null) return <>{`It ${one} recorded; it has no endpoint.`}</>;
  if (endpoint === null) {
    const undone = isAsked ? " If one fails, those that were done are undone." : "";
    return <>{`The steps below ${several} sent one after another.${undone}`}</>;
  }
  return (
    <>
      Countersign {SENDS[stage]} {action === null ? "it" : <code>{action}</code>} to <To endpoint={endpoint} />
      {stage === "done" ? "." : ", once."}
      {isAsked ? ` It repeats only until ${endpoint.name} has accepted it.` : null}
    </>
  );
};

type UndoProps = { readonly undo: Context["undo"]; readonly isBundle: boolean; readonly stage: Stage };

const Undo = ({ undo, isBundle, stage }: UndoProps) => {
  if (undo === null) return null;
  const { reversibility, action, endpoint } = undo;
  const isFinal = reversibility === "irreversible";
  const isDropped = stage === "dropped";
  const could = isDropped ? "could have been undone" : "can be undone";
  return (
    <li>
      {isFinal ? <Mark name="degraded" role="wait" /> : <Icon name="undo" />}
      <span>
        {isFinal ? (
          <b>
            {isBundle ? "A step of it" : "It"} {isDropped ? "could not have been undone" : "cannot be undone"}.
          </b>
        ) : null}
        {reversibility === "reversible" ? `It ${could} by the receiver itself.` : null}
        {reversibility === "compensable" ? (
          <>
            It {could}
            {action === null ? null : (
              <>
                : <code>{action}</code> {isDropped ? "would have been sent" : "is sent"}
                {endpoint === null ? "" : " to "}
                {endpoint === null ? null : <To endpoint={endpoint} />}
              </>
            )}
            .
          </>
        ) : null}
      </span>
    </li>
  );
};

/** What happens after a yes: what is sent where, whether it can be undone, and what the signature binds. */
export const IfYouApprove = ({ approval, context, stage }: ShownProps & { readonly stage: Stage }) => (
  <Section title={STAGE_HEADINGS[stage].effect}>
    <ol class="steps2">
      <li>
        <Icon name="send" />
        <span>
          <Sends approval={approval} stage={stage} />
        </span>
      </li>
      <Undo undo={context?.undo ?? null} isBundle={approval.bundle_id !== null} stage={stage} />
      {stage === "asked" ? (
        <li>
          <Icon name="lock" />
          <span>Only what you see here is approved. If any of it changes, you are asked again.</span>
        </li>
      ) : null}
    </ol>
  </Section>
);

type FieldsProps = {
  readonly stage: Stage;
  readonly rows: readonly ComparedRow[];
  readonly seen: Set<string>;
  readonly previous: Context["previous"];
  /** Of a bundle, what each step is called. */
  readonly steps: readonly string[] | null;
  readonly onReveal: (() => void) | null;
  readonly fault: string;
};

const Value = ({ row }: { readonly row: ComparedRow }) => {
  if (row.isHidden) return <span class="quiet">hidden by the policy</span>;
  if (row.change === "removed") return <span class="quiet">not sent</span>;
  const unlike = row.isText ? unlikeText(row.text) : null;
  if (unlike !== null) return <span class="quiet">{unlike}</span>;
  return row.text.includes("\n") ? <div class="sql">{row.text}</div> : row.text;
};

const Before = ({ row: { before, change } }: { readonly row: ComparedRow }) => {
  if (change === "the same") return <span class="quiet">the same</span>;
  return (
    <>
      {before} {change === "" ? null : <span class="chg">{change}</span>}
    </>
  );
};

const Rows = ({ rows, isCompared }: { readonly rows: readonly ComparedRow[]; readonly isCompared: boolean }) => (
  <table class="ft">
    <caption class="vh">Every field of the request</caption>
    <thead>
      <tr>
        <th scope="col">Field</th>
        <th scope="col">This request</th>
        {isCompared ? <th scope="col">Last approved</th> : null}
      </tr>
    </thead>
    <tbody>
      {rows.map((row) => {
        const isLong = row.text.includes("\n") && !row.isHidden;
        return (
          <tr key={row.pointer} data-pointer={row.pointer}>
            <th scope="row">{row.label}</th>
            <td class={row.change.endsWith("times as much") ? "big" : ""} colSpan={isLong && isCompared ? 2 : 1}>
              <Value row={row} />
              {isLong && isCompared ? <Before row={{ ...row, before: null }} /> : null}
            </td>
            {isCompared && !isLong ? (
              <td>
                <Before row={row} />
              </td>
            ) : null}
          </tr>
        );
      })}
    </tbody>
  </table>
);

/** Every field, wrapped to its end. Those that have been on the screen down to their end are noted in `seen`. */
export const Fields = ({ stage, rows, seen, previous, steps, onReveal, fault }: FieldsProps) => {
  const body = useRef<HTMLDivElement>(null);
  const drawn = rows.map(({ pointer }) => pointer).join("\n");
  useEffect(() => (body.current === null ? undefined : followReading(body.current, seen)), [drawn]);
  const isCompared = previous !== null && previous.fields !== null;
  const isOf = (at: number) => (row: ComparedRow) => row.pointer === `/${at}` || row.pointer.startsWith(`/${at}/`);
  return (
    <Section
      title={STAGE_HEADINGS[stage].fields}
      beside={
        isCompared ? (
          <span class="meta">
            Compared with{" "}
            <a href={`/approvals/${encodeURIComponent(previous.approval_id)}`}>
              the last approved one
              {previous.decided_at === null ? null : (
                <>
                  , <Time at={previous.decided_at} />
                </>
              )}
            </a>
          </span>
        ) : (
          <span class="meta">None like it was approved before</span>
        )
      }
    >
      <div class="stack tight" ref={body}>
        {rows.length === 0 ? <p class="soft">It has no payload.</p> : null}
        {steps === null ? (
          rows.length === 0 ? null : (
            <Rows rows={rows} isCompared={isCompared} />
          )
        ) : (
          steps.map((name, at) => (
            <div class="stack tight" key={String(at)}>
              <h3>
                Step {at + 1}: {name}
              </h3>
              <Rows rows={rows.filter(isOf(at))} isCompared={isCompared} />
            </div>
          ))
        )}
        {onReveal === null ? null : (
          <p class="row">
            <button class="btn" type="button" onClick={onReveal}>
              Reveal, and record that you did
            </button>
          </p>
        )}
        <p role="status" class="soft">
          {fault}
        </p>
      </div>
    </Section>
  );
};

const UNDO_WORDS = { reversible: "undone by the receiver", irreversible: "cannot be undone", compensable: "" } as const;

/** Every step of a bundle, with what has become of it; those that cannot be undone are marked. */
export const Steps = ({ id, steps }: { readonly id: string; readonly steps: NonNullable<Context["steps"]> }) => {
  const bundle = useAnswer({ key: id, on: { topic: "bundles", id } }, () =>
    call("GET /v1/bundles/{id}", { params: { id } }),
  );
  const stateAt = (index: number): string | undefined =>
    bundle.body?.steps.find((step) => step.index === index)?.status;
  return (
    <Section title="Steps, in this order" beside={<a href={`/bundles/${encodeURIComponent(id)}`}>Open the bundle</a>}>
      <ol class="acts10 of-bundle">
        {steps.map(({ index, action, title, endpoint, cost_eur: cost, reversibility, compensation }) => {
          const state = stateAt(index);
          return (
            <li key={index}>
              <span class="quiet num">{index + 1}</span>
              {reversibility === "irreversible" ? (
                <Mark name="degraded" role="wait" />
              ) : (
                <Mark name={stateOf(state ?? "queued").mark} role={stateOf(state ?? "queued").role} />
              )}
              <span>
                <b>{title ?? action}</b>
                {endpoint === null ? "" : ` to ${endpoint.name}`}
                {state === undefined ? null : <span class="quiet"> · {stateOf(state).word.toLowerCase()}</span>}
              </span>
              <span class={reversibility === "irreversible" ? "soon" : "soft"}>
                {compensation === null ? UNDO_WORDS[reversibility] : `undone by ${compensation.action}`}
                {cost === null || cost === 0 ? "" : ` · ${euro(cost)}`}
              </span>
            </li>
          );
        })}
      </ol>
    </Section>
  );
};

/** What the policy has spent and set aside today, and after this. */
export const Budget = ({ approval, context }: { readonly approval: Approval; readonly context: Context }) => {
  const nameOf = useNames();
  const { budget } = context;
  if (budget === null) return null;
  const { settled, after, ceiling } = budget;
  const cost = approval.cost_eur ?? 0;
  const others = Math.max(0, after - settled - cost);
  const isOver = ceiling !== null && after > ceiling;
  const part = (value: number): number => (ceiling === null || ceiling === 0 ? 0 : value / ceiling);
  return (
    <Section
      title="Budget today"
      beside={<span class="meta">{approval.policy === null ? "" : nameOf(approval.policy.id)}</span>}
    >
      <div class="stack tight">
        <p>
          <b>{euro(settled)}</b> spent, {others > 0 ? `${euro(others)} reserved for others, ` : ""}
          <b>{euro(after)}</b> after this{ceiling === null ? "; the policy sets no limit" : `, of ${euro(ceiling)}`}
          {cost === 0 ? ". It has no cost." : ""}
        </p>
        {ceiling === null ? null : (
          <>
            <Gauge
              parts={[
                { kind: "done", part: part(settled) },
                { kind: "held", part: part(others) },
                { kind: isOver ? "over" : "add", part: part(cost) },
              ]}
            />
            <GaugeKey kinds={["done", ...(others > 0 ? (["held"] as const) : []), isOver ? "over" : "add"]} />
          </>
        )}
      </div>
    </Section>
  );
};

const figuresOf = (today: NonNullable<Context["agent"]>["today"]): string =>
  [
    `${counted(today.requests, "request")}${today.more ? " or more" : ""} today`,
    ...(today.refused > 0 ? [`${today.refused} refused`] : []),
    ...(today.rejected > 0 ? [`${today.rejected} rejected`] : []),
    ...(today.failed > 0 ? [`${today.failed} failed`] : []),
    ...(today.cost_eur > 0 ? [spentText(today.spent_eur, today.reserved_eur)] : []),
  ].join(", ");

/** How often it asks and what became of it: the agent's figures of today and its last ten acts. */
export const Agent = ({ name, agent }: { readonly name: string; readonly agent: NonNullable<Context["agent"]> }) => (
  <Section
    title={`What ${name} did last`}
    beside={
      <span class="meta">
        {figuresOf(agent.today)}.{" "}
        <a href={hrefOf("/events", { agent_id: agent.id, range: "24h" })}>All of the last 24 h</a>
      </span>
    }
  >
    <ol class="acts10">
      {agent.last.map(({ event_id, action, status, cost_eur: cost, received_at: at }) => (
        <li key={event_id}>
          <span class="quiet">
            <Time at={at} />
          </span>
          <Mark name={stateOf(status).mark} role={stateOf(status).role} />
          <a href={`/events/${encodeURIComponent(event_id)}`}>{action}</a>
          <span class="soft">
            {stateOf(status).word}
            {cost === null || cost === 0 ? "" : `, ${euro(cost)}`}
          </span>
        </li>
      ))}
    </ol>
  </Section>
);

export const Votes = ({ approval }: { readonly approval: Approval }) =>
  approval.votes.length === 0 ? null : (
    <Section title={approval.status === "pending" ? "Decisions so far" : "Decisions"}>
      <ul class="checks">
        {approval.votes.map((vote) => (
          <li key={vote.member_id}>
            <Mark
              name={vote.decision === "approve" ? "delivered" : "rejected"}
              role={vote.decision === "approve" ? "ok" : "refuse"}
            />
            <span>
              <b>{vote.email}</b> {vote.decision === "approve" ? "approved" : "rejected"}
              {vote.comment === null ? "" : `: “${vote.comment}”`}, <Time at={vote.at} />.{" "}
              <span class="quiet">{shownWords(vote.shown)}</span>
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );

/** The request changed while it was read: what was, and what is now. */
export const Changed = ({
  changes,
  onAgain,
}: {
  readonly changes: readonly string[];
  readonly onAgain: () => void;
}) => (
  <Note role="wait" mark="degraded" isAlert>
    <p>
      <MessageText message={changedMessage(changes, false)} />
    </p>
    <div class="row">
      <button class="btn" type="button" onClick={onAgain}>
        Read it again
      </button>
    </div>
  </Note>
);
