import { useEffect, useRef, useState } from "preact/hooks";
import { euro } from "../../design/format.ts";
import { useKeys } from "../../design/keys.ts";
import { StateMark } from "../../design/mark.tsx";
import { LoadError, Loading } from "../../design/placeholders.tsx";
import { Seal } from "../../design/seal.tsx";
import { stateOf } from "../../design/states.ts";
import { Note, Section } from "../../design/text.tsx";
import { type AnswerOf, call, callText, me } from "../api/api.ts";
import { useNames } from "../api/names.ts";
import { now } from "../shell/clock.ts";
import { useCrumbName } from "../shell/crumb-name.ts";
import { NOT_ASKED, useAnswer } from "../shell/use-answer.ts";
import { changesBetween, comparedFields, sentFields } from "./approval-fields.ts";
import {
  Agent,
  type Approval,
  Budget,
  Changed,
  type Context,
  Fields,
  IfYouApprove,
  Lede,
  Steps,
  sentenceOf,
  Votes,
  whyNot,
} from "./decision-parts.tsx";
import { approveQuestion, outcomeMessage, sealLabel, stageOf } from "./decision-words.ts";
import { showField, unreadIn } from "./fields-read.ts";
import { Missing } from "./listing.tsx";
import { MessageText } from "./message-text.tsx";
import { whyOf } from "./why.ts";

/** The approval and the text of the answer, in which numbers have the digits that were sent. */
type Read = { readonly approval: Approval; readonly text: string };

type Step = "idle" | "approving" | "rejecting" | "sending";

type BarProps = {
  readonly approval: Approval;
  /** True if a value is too long to be shown: the request can only be rejected. */
  readonly isCut: boolean;
  readonly unseen: () => readonly HTMLElement[];
  /** What an approval does, in sentences; the first press says it. */
  readonly effect: string;
  /** True if the vote counted. */
  readonly onDecided: (isCounted: boolean) => void;
};

/** A button that has the focus is pressed again and again by a key that is held. */
const onceADown = (event: KeyboardEvent): void => {
  if (event.repeat && event.target instanceof HTMLButtonElement) event.preventDefault();
};

/**
 * The place of signature. No key decides alone: the first press asks, the second acts. Neither the second half of a
 * double click nor a key that is held is a second press.
 */
const SignBar = ({ approval, isCut, unseen, effect, onDecided }: BarProps) => {
  const [step, setStep] = useState<Step>("idle");
  const [said, setSaid] = useState(isCut ? "A value is longer than can be shown, so this can only be rejected." : "");
  const comment = useRef<HTMLInputElement>(null);
  const approve = useRef<HTMLButtonElement>(null);
  const cost = approval.cost_eur === null || approval.cost_eur === 0 ? "" : ` ${euro(approval.cost_eur)}`;
  const given = approval.votes.filter((it) => it.decision === "approve").length;
  const decide = async (kind: "approve" | "reject"): Promise<void> => {
    const { id, digest, shown_digest } = approval;
    // On a phone the field is closed until it is asked for; only what the reader sees is sent.
    const text = comment.current?.offsetParent == null ? "" : comment.current.value;
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
    onDecided(answer.ok);
  };
  const pressApprove = ({ detail }: MouseEvent): void => {
    if (detail > 1) return;
    if (step === "approving") return void decide("approve");
    const below = unseen();
    const [first] = below;
    if (first !== undefined) {
      showField(first);
      setSaid(`${below.length} more ${below.length === 1 ? "field" : "fields"} to read.`);
      return;
    }
    setSaid(approveQuestion(approval.cost_eur, effect));
    setStep("approving");
  };
  const reject = (): void => {
    if (step === "sending") return;
    if ((comment.current?.value ?? "") !== "" && step === "rejecting") return void decide("reject");
    setStep("rejecting");
    setSaid(step === "rejecting" ? "A rejection needs its reason." : "Say why, then press Reject again.");
    comment.current?.focus();
  };
  useKeys({
    // The bar stands above the page's end already.
    a: () => approve.current?.focus({ preventScroll: true }),
    r: reject,
    c: () => comment.current?.focus(),
  });
  return (
    <form class="sign" aria-label="Your decision" onKeyDown={onceADown} onSubmit={(event) => event.preventDefault()}>
      <p class="say">
        <span>
          Needs <b>{`${approval.min_approvals} ${approval.min_approvals === 1 ? "approval" : "approvals"}`}</b>
          {given > 0 ? `; ${given} given.` : "."}{" "}
          {given + 1 >= approval.min_approvals ? "Yours is enough." : "Another person is asked after you."}
        </span>
        <span>You decide as {me.value?.member.email}.</span>
        <span role="status">{said}</span>
      </p>
      <div class={`field ${step === "idle" ? "" : "open"}`}>
        <label for="comment" class="vh">
          Comment
        </label>
        <input id="comment" ref={comment} class="in" maxLength={1_000} placeholder="Comment, needed to reject" />
      </div>
      <div class="do">
        <button class="btn big danger" type="button" onClick={({ detail }) => (detail > 1 ? undefined : reject())}>
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

type OutcomeProps = {
  readonly approval: Approval;
  /** What was before the reader when it was decided. */
  readonly frozen: Read;
  /** True if this member pressed a button here. */
  readonly isOwn: boolean;
  /** True if it came too late. */
  readonly isLate: boolean;
  readonly onNext: (() => void) | null;
};

/** What differs in the request that is asked instead; empty as long as it is not known. */
const useChanges = ({ replaced_by: next }: Approval, { text }: Read): readonly string[] => {
  const shown = useAnswer<string | null>({ key: `instead ${next}`, on: null }, () =>
    next === null ? Promise.resolve(NOT_ASKED) : callText("GET /v1/approvals/{id}", { params: { id: next } }),
  );
  return shown.body === null ? [] : changesBetween(text, shown.body);
};

const SENT: readonly string[] = ["delivered", "failed"];

/** The event once it is delivered or has failed; null before that, and of what is no event. */
const useSent = ({ event_id: id, outcome: { status } }: Approval): AnswerOf<"GET /v1/events/{id}"> | null => {
  // The list of events may learn of the end after the approval has told it.
  const on = id === null ? null : { topic: "events", id };
  return useAnswer<AnswerOf<"GET /v1/events/{id}"> | null>({ key: `sent ${id} ${status}`, on }, () =>
    id !== null && SENT.includes(status) ? call("GET /v1/events/{id}", { params: { id } }) : Promise.resolve(NOT_ASKED),
  ).body;
};

/** From the decision to the end of the attempt that succeeded; null unless it was delivered. */
const deliveredOf = (
  { decided_at: at, endpoint }: Approval,
  sent: AnswerOf<"GET /v1/events/{id}"> | null,
): { readonly to: string; readonly ms: number } | null => {
  const last = sent?.attempts.at(-1);
  if (sent?.status !== "delivered" || last === undefined || at === null || endpoint === null) return null;
  const end = Date.parse(last.started_at) + (last.duration_ms ?? 0);
  return { to: endpoint.name, ms: Math.max(0, end - Date.parse(at)) };
};

/** What became of it, live; then the next request by Enter. */
const Outcome = ({ approval, frozen, isOwn, isLate, onNext }: OutcomeProps) => {
  const { status, outcome, event_id, bundle_id, reason, replaced_by } = approval;
  const isApproved = status === "approved" || status === "consumed";
  // Green is for a good end, which an approval is not yet.
  const { role, mark } = stateOf(isApproved ? outcome.status : status);
  const sent = useSent(approval);
  const delivered = deliveredOf(approval, sent);
  const words = outcomeMessage(approval, {
    ...{ reader: me.value?.member.id ?? "", wasOpen: frozen.approval.status === "pending", isLate, now: now.value },
    ...{ changes: useChanges(approval, frozen), delivered },
  });
  const box = useRef<HTMLDivElement>(null);
  const next = useRef<HTMLButtonElement>(null);
  // A further request may arrive later.
  useEffect(() => next.current?.focus({ preventScroll: true }), [onNext === null]);
  useEffect(() => {
    // Who has decided sees what came of it; under whoever still reads, nothing moves.
    if (isOwn) box.current?.scrollIntoView({ block: "center" });
  }, []);
  return (
    <div class="told" ref={box}>
      <Note role={role} mark={mark} isAlert>
        <p>
          <MessageText message={words} />{" "}
          {isApproved && delivered === null ? (
            <>
              It is now: <StateMark value={outcome.status} />
              {sent?.status === "failed" ? `: ${whyOf(sent)}.` : "."}
            </>
          ) : null}{" "}
          {status === "void" ? null : reason}
        </p>
        <div class="row">
          {replaced_by === null ? null : (
            <a class="btn first" href={`/approvals/${encodeURIComponent(replaced_by)}`}>
              Read it again
            </a>
          )}
          {onNext === null ? null : (
            <button class="btn first" type="button" onClick={onNext} ref={next}>
              Next request
            </button>
          )}
          {event_id === null ? null : (
            <a class="btn" href={`/events/${encodeURIComponent(event_id)}`}>
              Open the event
            </a>
          )}
          {bundle_id === null ? null : (
            <a class="btn" href={`/bundles/${encodeURIComponent(bundle_id)}`}>
              Open the bundle
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

// The answer is what the API's description says.
const readOf = (text: string): Read => ({ approval: JSON.parse(text) as Approval, text });

const read = async (id: string) => {
  const answer = await callText("GET /v1/approvals/{id}", { params: { id } });
  return answer.ok ? ({ ok: true, body: readOf(answer.body) } as const) : answer;
};

/** Told while the service has not yet noticed that the time is over. */
const hasPassed = ({ status, expires_at }: Approval): boolean =>
  status === "pending" && Date.parse(expires_at) <= now.value;

type DeedProps = Pick<CardProps, "isAlone"> & {
  readonly frozen: Read;
  readonly current: Read;
  readonly onNext: (() => void) | null;
  readonly onAgain: () => void;
  readonly onReadAgain: () => void;
};

/** What the second press does. */
const effectOf = ({ change, bundle_id, endpoint }: Approval, context: Context | null): string => {
  if (change !== undefined) return "The change is made at once.";
  const isFinal = context?.undo?.reversibility === "irreversible";
  if (bundle_id !== null) return isFinal ? "A step of it cannot be undone." : "Its steps are sent one after another.";
  if (endpoint === null) return "It is recorded.";
  return isFinal ? "It is sent once and cannot be undone." : "It is sent once.";
};

/** The card itself, from what was read when it was opened; `current` is what is true now. */
const Deed = ({ isAlone, frozen, current: { approval: current, text }, onNext, onAgain, onReadAgain }: DeedProps) => {
  const { id } = frozen.approval;
  const nameOf = useNames();
  const context = useAnswer({ key: `${id} ${frozen.approval.shown_digest}`, on: null }, () =>
    call("GET /v1/approvals/{id}/context", { params: { id } }),
  );
  useCrumbName(isAlone ? sentenceOf(frozen.approval, context.body) : null);
  const [revealed, setRevealed] = useState<Read | null>(null);
  const [fault, setFault] = useState("");
  /** What became of this member's own decision here. */
  const [decision, setDecision] = useState<"none" | "counted" | "late">("none");
  const seen = useRef(new Set<string>());
  const card = useRef<HTMLElement>(null);
  const isPassed = hasPassed(current);
  useEffect(() => {
    if (isPassed) onAgain();
  }, [isPassed]);
  const who = me.value;
  if (who === null || (context.body === null && context.problem === null))
    return (
      <article class="deed">
        <Loading />
      </article>
    );
  const { approval } = revealed ?? frozen;
  // What was read of another form of it is not what is shown here.
  const about = context.body?.shown_digest === frozen.approval.shown_digest ? context.body : null;
  const sent = sentFields((revealed ?? frozen).text);
  const rows = comparedFields({
    rows: sent.rows,
    known: about?.fields ?? [],
    previous: about?.previous?.fields ?? null,
    hidden: approval.hidden,
  });
  const isChanged = current.digest !== frozen.approval.digest || current.shown_digest !== frozen.approval.shown_digest;
  const isOver = current.status !== "pending";
  const stage = stageOf(current.status, current.outcome.status);
  const reason = whyNot(current, who, { nameOf, now: now.value });
  const reveal = async (): Promise<void> => {
    const answer = await callText("POST /v1/approvals/{id}/reveal", { params: { id } });
    if (answer.ok) setRevealed(readOf(answer.body));
    setFault(answer.ok ? "It is recorded that the hidden fields were shown to you." : answer.problem.detail);
  };
  const unseen = (): readonly HTMLElement[] => (card.current === null ? [] : unreadIn(card.current, seen.current));
  return (
    <article class="deed" aria-labelledby="deed" ref={card}>
      <Lede approval={isOver ? current : approval} context={about} />
      {isOver ? (
        <Outcome
          approval={current}
          frozen={frozen}
          isOwn={decision !== "none"}
          isLate={decision === "late"}
          onNext={onNext}
        />
      ) : null}
      {isChanged && !isOver ? <Changed changes={changesBetween(frozen.text, text)} onAgain={onReadAgain} /> : null}
      <IfYouApprove approval={approval} context={about} stage={stage} />
      {about?.steps == null || approval.bundle_id === null ? null : (
        <Steps id={approval.bundle_id} steps={about.steps} />
      )}
      <Fields
        stage={stage}
        rows={rows}
        seen={seen.current}
        previous={about?.previous ?? null}
        steps={about?.steps?.map(({ title, action }) => title ?? action) ?? null}
        onReveal={about?.eligible.reveal === true && revealed === null && !isOver ? () => void reveal() : null}
        fault={fault}
      />
      {about === null ? (
        <Note>
          <p>
            What was usual could not be loaded, so nothing is compared here. {context.problem?.detail}{" "}
            <button class="btn" type="button" onClick={context.again}>
              Try now
            </button>
          </p>
        </Note>
      ) : null}
      <div class="half">
        {/* The budget of today says nothing about a request that was decided before. */}
        {about === null || isOver ? null : <Budget approval={approval} context={about} />}
        <Section title="Seal">
          <div class="stack tight">
            <Seal digest={approval.digest} label={sealLabel(current.status)} />
            <p class="meta">
              {approval.endpoint === null
                ? "The drawing and the digits are made from exactly these bytes."
                : "It binds the request and its endpoint:"}{" "}
              {approval.endpoint === null ? null : <code class="wrap">{approval.endpoint.url}</code>}
            </p>
          </div>
        </Section>
      </div>
      {/* Nor does what the agent has done since. */}
      {about?.agent == null || isOver ? null : <Agent name={approval.requested_by.name} agent={about.agent} />}
      <Votes approval={current} />
      {isOver || isChanged ? null : reason === null ? (
        <SignBar
          approval={approval}
          isCut={sent.isCut}
          unseen={unseen}
          effect={effectOf(approval, about)}
          onDecided={(isCounted) => {
            setDecision(isCounted ? "counted" : "late");
            onAgain();
          }}
        />
      ) : (
        <Note>
          <p>
            <MessageText message={reason} />
          </p>
        </Note>
      )}
    </article>
  );
};

/** What a person reads before they sign. It is frozen: what changed meanwhile is told, and takes the buttons away. */
export const DecisionCard = ({ id, isAlone, onNext }: CardProps) => {
  const [frozen, setFrozen] = useState<Read | null>(null);
  const { event_id = null, bundle_id = null } = frozen?.approval ?? {};
  // What was approved goes on as an event or a bundle, and the outcome is told here.
  const on = [
    { topic: "approvals", id },
    ...(event_id === null ? [] : [{ topic: "events", id: event_id }]),
    ...(bundle_id === null ? [] : [{ topic: "bundles", id: bundle_id }]),
  ];
  const shown = useAnswer<Read>({ key: id, on }, () => read(id));
  useEffect(() => {
    if (shown.body !== null && frozen === null) setFrozen(shown.body);
  }, [shown.body]);
  if (frozen === null || shown.body === null)
    return (
      <article class="deed">
        {shown.problem === null ? (
          <Loading />
        ) : shown.problem.status === 404 ? (
          <Missing />
        ) : (
          <LoadError what="The request" failure={shown.problem} since={null} onRetry={shown.again} />
        )}
      </article>
    );
  return (
    <Deed
      key={frozen.approval.shown_digest}
      isAlone={isAlone}
      frozen={frozen}
      current={shown.body}
      onNext={onNext}
      onAgain={shown.again}
      onReadAgain={() => setFrozen(shown.body)}
    />
  );
};
