import { useEffect, useRef, useState } from "preact/hooks";
import { countdown, euro } from "../../design/format.ts";
import { useKeys } from "../../design/keys.ts";
import { Icon, StateMark, WordedMark } from "../../design/mark.tsx";
import { LoadError, Loading } from "../../design/placeholders.tsx";
import { Seal } from "../../design/seal.tsx";
import { stateOf } from "../../design/states.ts";
import { Id, Note, Section, Time } from "../../design/text.tsx";
import { type AnswerOf, call, callText, type Me, me } from "../api/api.ts";
import { DECIDING_ROLES, isExcluded } from "../api/may-decide.ts";
import { useNames } from "../api/names.ts";
import { now } from "../shell/clock.ts";
import { isDeciding } from "../shell/frame-state.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { type FieldRow, sentFields } from "./approval-fields.ts";

type Approval = AnswerOf<"GET /v1/approvals/{id}">;
/** The approval and the text of the answer, in which numbers have the digits that were sent. */
type Read = { readonly approval: Approval; readonly text: string };

const SOON_MS = 15 * 60_000;

const titleOf = ({ title, action, summary, requested_by: by }: Approval): string => {
  if (title !== null) return title;
  if (action === null) return summary;
  return by.kind === "agent" ? `Agent ${by.name} asks for ${action}` : `${by.name} sent ${action}`;
};

const othersWhoCan = ({ can_decide }: Approval): string => {
  if (can_decide.length === 0) return "";
  return can_decide.length === 1 ? " One other member can." : ` ${can_decide.length} other members can.`;
};

/** Why this member cannot decide; null if they can. */
const whyNot = (approval: Approval, who: Me): string | null => {
  if (approval.can_decide.includes(who.member.id)) return null;
  const others = othersWhoCan(approval);
  if (!DECIDING_ROLES.includes(who.member.role)) return `Your role, ${who.member.role}, does not decide.${others}`;
  if (approval.votes.some((it) => it.member_id === who.member.id)) return `You have decided on this already.${others}`;
  if (isExcluded(approval, who)) return `You asked for this, so another person has to decide.${others}`;
  return `The policy does not let you decide on this.${others}`;
};

const Lede = ({ approval }: { readonly approval: Approval }) => {
  const name = useNames();
  const { policy, requested_by: by, status } = approval;
  const left = Date.parse(approval.expires_at) - now.value;
  return (
    <header class="lede">
      <p class="meta row">
        {status === "pending" ? <WordedMark value="held" word="Waiting for a person" /> : <StateMark value={status} />}
        <Id id={approval.id} />
        <span>
          asked <Time at={approval.requested_at} />
        </span>
        {status === "pending" ? (
          <span class="end">
            <b class={left < SOON_MS ? "soon" : ""}>{left > 0 ? `Expires in ${countdown(left)}` : "Has expired"}</b>
          </span>
        ) : null}
      </p>
      <h2 class="bigtitle" id="deed">
        {titleOf(approval)}
      </h2>
      <p class="soft">
        Asked by {by.name}.{" "}
        {policy === null ? null : (
          <>
            The policy {name(policy.id) ?? policy.id} v{policy.version} holds it: <b>{approval.reasons.join("; ")}</b>
          </>
        )}
      </p>
    </header>
  );
};

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);

const IfYouApprove = ({ approval }: { readonly approval: Approval }) => {
  const { endpoint, action, bundle_id, change } = approval;
  return (
    <Section title="If you approve">
      <ol class="steps2">
        <li>
          <Icon name="send" />
          <span>
            {change === undefined ? null : `The ${change.target.kind} ${change.target.id} is changed.`}
            {endpoint === null ? null : (
              <>
                Countersign sends {action === null ? "it" : <code>{action}</code>} to {endpoint.name} at{" "}
                <code>{hostOf(endpoint.url)}</code>, once. It repeats only until {endpoint.name} has accepted it.
              </>
            )}
            {endpoint === null && change === undefined
              ? bundle_id === null
                ? "It is recorded; it has no destination."
                : "The steps of the bundle are sent one after another."
              : null}
          </span>
        </li>
        <li>
          <Icon name="lock" />
          <span>Only what you see here is approved. If any of it changes, you are asked again.</span>
        </li>
      </ol>
    </Section>
  );
};

type FieldsProps = {
  readonly rows: readonly FieldRow[];
  readonly hidden: readonly string[];
  readonly seen: Set<string>;
};

/** Every field, wrapped to its end. The fields that have been on the screen are noted in `seen`. */
const Fields = ({ rows, hidden, seen }: FieldsProps) => {
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries)
        if (isIntersecting && target instanceof HTMLElement) seen.add(target.dataset.pointer ?? "");
    });
    for (const row of body.current?.rows ?? []) observer.observe(row);
    return () => observer.disconnect();
  }, [rows]);
  return (
    <Section title="What is sent">
      <table class="ft">
        <caption class="vh">Every field of the request</caption>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">This request</th>
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map(({ pointer, label, text }) => (
            <tr key={pointer} data-pointer={pointer}>
              <th scope="row">{label}</th>
              <td>{text.includes("\n") ? <div class="sql">{text}</div> : text}</td>
            </tr>
          ))}
          {hidden.map((pointer) => (
            <tr key={`hidden ${pointer}`} data-pointer={`hidden ${pointer}`}>
              <th scope="row">{pointer}</th>
              <td class="quiet">hidden by the policy</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
};

const Votes = ({ approval }: { readonly approval: Approval }) =>
  approval.votes.length === 0 ? null : (
    <Section title="Decisions so far">
      <ul class="checks">
        {approval.votes.map((vote) => (
          <li key={vote.member_id}>
            <svg class={`m ${vote.decision === "approve" ? "ok" : "refuse"}`} aria-hidden="true">
              <use href={`#m-${vote.decision === "approve" ? "delivered" : "rejected"}`} />
            </svg>
            <span>
              <b>{vote.email}</b> {vote.decision === "approve" ? "approved" : "rejected"}
              {vote.comment === null ? "" : `: “${vote.comment}”`}, <Time at={vote.at} />
              {vote.shown.form === "redacted" ? <span class="quiet"> (with hidden fields)</span> : null}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );

type Step = "idle" | "approving" | "rejecting" | "sending";

type BarProps = {
  readonly approval: Approval;
  /** True if a value is too long to be shown: the request can only be rejected. */
  readonly isCut: boolean;
  readonly unseen: () => readonly HTMLElement[];
  readonly onDecided: () => void;
};

/** The place of signature. No key decides alone: the first press asks, the second acts. */
const SignBar = ({ approval, isCut, unseen, onDecided }: BarProps) => {
  const [step, setStep] = useState<Step>("idle");
  const [said, setSaid] = useState(isCut ? "A value is longer than can be shown, so this can only be rejected." : "");
  const comment = useRef<HTMLInputElement>(null);
  const approve = useRef<HTMLButtonElement>(null);
  const cost = approval.cost_eur === null || approval.cost_eur === 0 ? "" : ` ${euro(approval.cost_eur)}`;
  const given = approval.votes.filter((it) => it.decision === "approve").length;
  const decide = async (kind: "approve" | "reject"): Promise<void> => {
    const { id, digest, shown_digest } = approval;
    const text = comment.current?.value ?? "";
    setStep("sending");
    const answer =
      kind === "approve"
        ? await call("POST /v1/approvals/{id}/approve", {
            params: { id },
            body: { digest, shown_digest, ...(text === "" ? {} : { comment: text }) },
          })
        : await call("POST /v1/approvals/{id}/reject", {
            params: { id },
            body: { digest, shown_digest, comment: text },
          });
    setStep("idle");
    if (!answer.ok) setSaid(`${answer.problem.detail} Your decision was not sent.`);
    onDecided();
  };
  const pressApprove = (): void => {
    if (step === "approving") return void decide("approve");
    const below = unseen();
    if (below.length > 0) {
      below[0]?.scrollIntoView({ block: "center" });
      setSaid(`${below.length} more ${below.length === 1 ? "field" : "fields"} to read.`);
      return;
    }
    setSaid("");
    setStep("approving");
  };
  const pressReject = (): void => {
    if (step === "sending") return;
    if ((comment.current?.value ?? "") !== "" && step === "rejecting") return void decide("reject");
    setStep("rejecting");
    setSaid(step === "rejecting" ? "A rejection needs its reason." : "Say why, then press Reject again.");
    comment.current?.focus();
  };
  useKeys({
    a: () => approve.current?.focus(),
    r: pressReject,
    c: () => comment.current?.focus(),
  });
  return (
    <form class="sign" aria-label="Your decision" onSubmit={(event) => event.preventDefault()}>
      <p class="say">
        <span>
          Needs <b>{`${approval.min_approvals} ${approval.min_approvals === 1 ? "approval" : "approvals"}`}</b>
          {given > 0 ? `; ${given} given.` : "."}{" "}
          {given + 1 >= approval.min_approvals ? "Yours is enough." : "Another person is asked after you."}
        </span>
        <span>You decide as {me.value?.member.email}.</span>
        <span role="status">{said}</span>
      </p>
      <div class={`field ${step === "rejecting" ? "open" : ""}`}>
        <label for="comment" class="vh">
          Comment
        </label>
        <input id="comment" ref={comment} class="in" maxLength={1_000} placeholder="Comment, needed to reject" />
      </div>
      <div class="do">
        <button class="btn big danger" type="button" onClick={pressReject}>
          Reject <kbd>R</kbd>
        </button>
        <button
          ref={approve}
          class="btn big first"
          type="button"
          disabled={step === "sending" || isCut}
          onClick={pressApprove}
        >
          {step === "approving" ? `Approve${cost}, now` : `Approve${cost}`} <kbd>A</kbd>
        </button>
      </div>
    </form>
  );
};

const TOLD: Readonly<Record<string, string>> = {
  approved: "Approved.",
  consumed: "Approved.",
  rejected: "Rejected. Nothing was sent.",
  expired: "It expired. Nothing was sent. Who asked can ask again.",
  cancelled: "It was cancelled. Nothing was sent.",
  void: "The request changed, so this approval counts no more.",
};

/** What became of it, live; then the next request by Enter. */
const Outcome = ({ approval, onNext }: { readonly approval: Approval; readonly onNext: (() => void) | null }) => {
  const { status, outcome, votes, event_id, reason } = approval;
  const { role, mark } = stateOf(status);
  const isApproved = status === "approved" || status === "consumed";
  const last = votes.at(-1);
  return (
    <div class="told">
      <Note role={role} mark={mark} isAlert>
        <p>
          <b>{TOLD[status] ?? `It is ${status}.`}</b>{" "}
          {last === undefined || last.member_id === me.value?.member.id ? "" : `${last.email} decided. `}
          {isApproved ? (
            <>
              It is now: <StateMark value={outcome.status} />.
            </>
          ) : null}{" "}
          {reason}
        </p>
        <div class="row">
          {onNext === null ? null : (
            <button class="btn first" type="button" onClick={onNext} ref={(it) => it?.focus({ preventScroll: true })}>
              Next request
            </button>
          )}
          {event_id === null ? null : (
            <a class="btn" href={`/events/${event_id}`}>
              Open the event
            </a>
          )}
        </div>
      </Note>
    </div>
  );
};

type CardProps = {
  readonly id: string;
  /** True on the card's own address, where a phone shows nothing but the card. */
  readonly isAlone: boolean;
  readonly onNext: (() => void) | null;
};

const read = async (id: string) => {
  const answer = await callText("GET /v1/approvals/{id}", { params: { id } });
  if (!answer.ok) return answer;
  // The answer is what the API's description says.
  return { ok: true, body: { approval: JSON.parse(answer.body) as Approval, text: answer.body } } as const;
};

/** What a person reads before they sign. It is frozen: what changed meanwhile is told, and takes the buttons away. */
export const DecisionCard = ({ id, isAlone, onNext }: CardProps) => {
  const shown = useAnswer<Read>({ key: id, on: { topic: "approvals", id } }, () => read(id));
  const [frozen, setFrozen] = useState<Read | null>(null);
  const seen = useRef(new Set<string>());
  const card = useRef<HTMLElement>(null);
  useEffect(() => {
    if (shown.body !== null && frozen === null) setFrozen(shown.body);
  }, [shown.body]);
  useEffect(() => {
    isDeciding.value = isAlone;
    return () => {
      isDeciding.value = false;
    };
  }, [isAlone]);
  const current = shown.body?.approval;
  const who = me.value;
  if (frozen === null || current === undefined || who === null)
    return (
      <article class="deed">
        {shown.problem === null ? (
          <Loading />
        ) : (
          <LoadError what="The request" failure={shown.problem} since={null} onRetry={shown.again} />
        )}
      </article>
    );
  const { approval, text } = frozen;
  const fields = sentFields(text);
  const isChanged = current.digest !== approval.digest || current.shown_digest !== approval.shown_digest;
  const isOver = current.status !== "pending";
  const reason = whyNot(current, who);
  const unseen = (): readonly HTMLElement[] =>
    [...(card.current?.querySelectorAll<HTMLElement>("[data-pointer]") ?? [])].filter(
      (row) => !seen.current.has(row.dataset.pointer ?? ""),
    );
  return (
    <article class="deed" aria-labelledby="deed" ref={card}>
      <Lede approval={isOver ? current : approval} />
      {isOver ? <Outcome approval={current} onNext={onNext} /> : null}
      {isChanged && !isOver ? (
        <Note role="wait" mark="degraded" isAlert>
          <p>
            <b>The request changed while you read it.</b> Nothing was decided.
          </p>
          <div class="row">
            <button class="btn" type="button" onClick={() => setFrozen(shown.body)}>
              Read it again
            </button>
          </div>
        </Note>
      ) : null}
      <IfYouApprove approval={approval} />
      <Fields rows={fields.rows} hidden={approval.hidden} seen={seen.current} />
      <Section title="Seal">
        <div class="stack tight">
          <Seal digest={approval.digest} label="What you sign" />
          <p class="meta">The drawing and the digits are made from exactly these bytes.</p>
        </div>
      </Section>
      <Votes approval={current} />
      {isOver || isChanged ? null : reason === null ? (
        <SignBar approval={approval} isCut={fields.isCut} unseen={unseen} onDecided={shown.again} />
      ) : (
        <Note>
          <p>{reason}</p>
        </Note>
      )}
    </article>
  );
};
