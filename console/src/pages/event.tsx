import { useState } from "preact/hooks";
import { counted, duration, euro } from "../../design/format.ts";
import { useKeys } from "../../design/keys.ts";
import { Icon, StateMark, WordedMark } from "../../design/mark.tsx";
import { LoadError, Loading } from "../../design/placeholders.tsx";
import { stateOf } from "../../design/states.ts";
import { Breaking, Facts, Head, Id, Note, Section, Time } from "../../design/text.tsx";
import { toast } from "../../design/toast.tsx";
import { type AnswerOf, call, callText, me } from "../api/api.ts";
import { useNames } from "../api/names.ts";
import { hrefOf } from "../shell/addresses.ts";
import { useCrumbName } from "../shell/crumb-name.ts";
import type { PageProps } from "../shell/page-props.ts";
import { type Shown, useAnswer } from "../shell/use-answer.ts";
import { Payload } from "./event-payload.tsx";
import { isReplayable } from "./event-replay.ts";
import { Timeline } from "./event-timeline.tsx";
import { gateDetail, gateName } from "./gate-words.ts";
import { Refusal } from "./refusal.tsx";
import { eventTitle, stoppingGate, whyOf } from "./why.ts";

type Event = AnswerOf<"GET /v1/events/{id}">;
type Attempt = Event["attempts"][number];

const GOOD = ["delivered", "recorded"];
/** The kinds of origins that have a page. */
const LISTED: readonly string[] = ["agent", "source"];
const MAY_REPLAY = ["owner", "admin"];
/** Why the button does nothing; null if it works. */
const whyNoReplay = (event: Event): string | null => {
  const { status } = event;
  if (!MAY_REPLAY.includes(me.value?.member.role ?? "")) return "Only an admin or an owner can replay an event.";
  if (status === "delivered") return "This event was delivered. A delivered event is not sent again.";
  if (event.bundle !== null) return "This event is a step of a bundle, and is not sent alone.";
  return isReplayable(event) ? null : "This event is still on its way.";
};

const Acts = ({ event, onDone }: { readonly event: Event; readonly onDone: () => void }) => {
  const [fault, setFault] = useState<string | null>(null);
  const why = whyNoReplay(event);
  const params = { id: event.id };
  const replay = async (): Promise<void> => {
    const answer = await call("POST /v1/events/{id}/replay", { params, body: {} });
    setFault(answer.ok ? null : answer.problem.detail);
    if (answer.ok) toast.value = { text: "The event is sent again." };
    onDone();
  };
  const copyCurl = async (): Promise<void> => {
    const answer = await callText("GET /v1/events/{id}/curl", { params });
    if (!answer.ok) return setFault(answer.problem.detail);
    await navigator.clipboard.writeText(answer.body);
    toast.value = { text: "The command is copied." };
  };
  return (
    <>
      <button class="btn" type="button" onClick={() => void copyCurl()}>
        <Icon name="copy" small />
        Copy as curl
      </button>
      <button class="btn" type="button" disabled={why !== null} title={why ?? undefined} onClick={() => void replay()}>
        <Icon name="replays" small />
        Replay
      </button>
      {why === null ? null : <span class="vh">{why}</span>}
      {fault === null ? null : (
        <p class="err" role="alert">
          {fault}
        </p>
      )}
    </>
  );
};

const PHASES = [
  ["dns", "DNS"],
  ["connect", "connect"],
  ["tls", "TLS"],
  ["first_byte", "first byte"],
] as const;

const phasesOf = ({ timings_ms: timings }: Attempt): string =>
  timings === null
    ? ""
    : PHASES.flatMap(([name, word]) => {
        const ms = timings[name];
        return ms === null || ms === 0 ? [] : [`${word} ${duration(ms)}`];
      }).join(" · ");

const answerOf = ({ status_code, failure }: Attempt): string => {
  if (status_code !== null) return `HTTP ${status_code}`;
  return failure === null ? "" : failure.kind;
};

const OneAttempt = ({ attempt }: { readonly attempt: Attempt }) => {
  const { number, outcome, response, failure } = attempt;
  const answer = answerOf(attempt);
  const word = `${outcome === "unknown" ? "Outcome unknown" : outcome.charAt(0).toUpperCase() + outcome.slice(1)}${answer === "" ? "" : `, ${answer}`}`;
  const type = response?.headers["content-type"];
  return (
    <section class="stack tight" aria-label={`Attempt ${number}`}>
      <header class="row">
        <h3>Attempt {number}</h3>
        <WordedMark value={outcome} word={word} />
        <span class="end meta">
          <Time at={attempt.started_at} as="clock" />
        </span>
      </header>
      <Facts
        rows={[
          ["Took", attempt.duration_ms === null ? "" : duration(attempt.duration_ms)],
          ["Phases", phasesOf(attempt)],
          ["Why", failure?.detail ?? ""],
          ["Next", attempt.next_attempt_at === null ? "" : <Time at={attempt.next_attempt_at} />],
          ["Type", type === undefined ? "" : <code>{type}</code>],
        ]}
      />
      {response?.body ? (
        <div class="code wrap" tabIndex={0} role="region" aria-label={`Answer of attempt ${number}`}>
          {response.encoding === "base64" ? `${response.body.length} characters of base64` : response.body}
          {response.truncated ? "\n… (cut)" : ""}
        </div>
      ) : null}
    </section>
  );
};

/** Two attempts at a time; `[` and `]` show the others. */
const Attempts = ({ event }: { readonly event: Event }) => {
  const { attempts, attempts_left_out: left } = event;
  const last = Math.max(0, attempts.length - 2);
  const [at, setAt] = useState<number | null>(null);
  const first = Math.min(at ?? last, last);
  const move = (by: number): void => setAt(Math.min(last, Math.max(0, first + by)));
  useKeys({ "[": () => move(-1), "]": () => move(1) });
  if (attempts.length === 0) return null;
  const isCut = attempts.length > 2;
  return (
    <Section
      title="Attempts"
      beside={
        <>
          <span class="meta">
            {counted(attempts.length + left, "attempt")}
            {left > 0 ? `, ${left} in the middle are not shown` : ""}
          </span>
          {isCut ? (
            <div class="seg" role="group" aria-label="Which attempts">
              <button type="button" onClick={() => move(-1)} disabled={first === 0}>
                Previous
              </button>
              <button type="button" onClick={() => move(1)} disabled={first === last}>
                Next
              </button>
            </div>
          ) : null}
        </>
      }
    >
      <div class="half">
        {attempts.slice(first, first + 2).map((attempt) => (
          <OneAttempt key={attempt.number} attempt={attempt} />
        ))}
      </div>
    </Section>
  );
};

const DECISIONS: Readonly<Record<string, string>> = { allow: "Allowed", deny: "Refused", hold: "Held for a person" };

/** A viewer reads everything but the audit. */
const isReader = (): boolean => me.value?.member.role !== "viewer";

const Side = ({ event }: { readonly event: Event }) => {
  const name = useNames();
  const { verdict, approval_id, bundle } = event;
  const policy = verdict.policy;
  const stopped = stoppingGate({ ...event, status: verdict.decision === "hold" ? "held" : event.status });
  return (
    <aside class="stack side-facts" aria-label="About this event">
      <Section title="Decision">
        <Facts
          rows={[
            ["Verdict", <WordedMark value={verdict.decision} word={DECISIONS[verdict.decision] ?? verdict.decision} />],
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
            ["Approval", approval_id === null ? "" : <a href={`/approvals/${approval_id}`}>Open the decision</a>],
            ["Cost", event.cost_eur === null ? "No cost" : euro(event.cost_eur)],
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
            ["Bundle", bundle === null ? "" : <a href={`/bundles/${bundle.id}`}>step {bundle.index}</a>],
            ["Duplicates", event.duplicates === 0 ? "" : counted(event.duplicates, "repeat")],
            ["SHA-256", <Id id={event.payload.sha256} />],
            ["Proof", isReader() ? <a href={hrefOf("/audit", { q: event.id })}>Its records in the audit</a> : ""],
          ]}
        />
      </Section>
    </aside>
  );
};

const NOTE_ROLES = { failed: "fail", rejected: "refuse", held: "wait" } as const;

const Cause = ({ event }: { readonly event: Event }) => {
  const { status, origin, verdict, approval_id: approval } = event;
  if (GOOD.includes(status)) return null;
  const gate = status === "blocked" ? stoppingGate(event) : null;
  if (gate !== null)
    return (
      <Refusal
        gate={gate}
        policy={gate.policy ?? verdict.policy}
        agentId={origin.kind === "agent" ? origin.id : null}
        from={origin.name}
        what={event.type}
        run={event.run}
        at={event.received_at}
      />
    );
  const { mark, word } = stateOf(status);
  const role = Object.hasOwn(NOTE_ROLES, status) ? NOTE_ROLES[status as keyof typeof NOTE_ROLES] : undefined;
  return (
    <Note mark={mark} {...(role === undefined ? {} : { role })}>
      <p>
        <b>{word}.</b> {whyOf(event).replace(/[^.]$/, "$&.")}
      </p>
      {status === "held" && approval !== null ? (
        <div class="row">
          <a class="btn first" href={`/approvals/${approval}`}>
            Open the decision
          </a>
        </div>
      ) : null}
    </Note>
  );
};

const copyId = (id: string | undefined): void => {
  if (id === undefined) return;
  void navigator.clipboard.writeText(id).then(() => {
    toast.value = { text: "The id is copied." };
  });
};

type FoundProps = { readonly shown: Shown<Event>; readonly query: PageProps["query"] };

const Found = ({ shown, query }: FoundProps) => {
  const name = useNames();
  const event = shown.body;
  useKeys({ y: () => copyId(event?.id) });
  useCrumbName(event?.type ?? null);
  if (event === null)
    return shown.problem === null ? (
      <Loading rows={8} />
    ) : shown.problem.status === 404 ? (
      <Head title="Not found" meta={<span>There is nothing at this address in {me.value?.account.name}.</span>} />
    ) : (
      <LoadError what="The event" failure={shown.problem} since={null} onRetry={shown.again} />
    );
  const { origin, endpoint_id: endpoint } = event;
  return (
    <>
      <Head
        title={<Breaking text={eventTitle(event)} />}
        meta={
          <>
            <StateMark value={event.status} />
            <span>
              from{" "}
              {LISTED.includes(origin.kind) ? (
                <a href={`/${origin.kind}s/${encodeURIComponent(origin.id)}`}>{origin.name}</a>
              ) : (
                origin.name
              )}
              {endpoint === null ? null : (
                <>
                  {" to "}
                  <a href={`/endpoints/${encodeURIComponent(endpoint)}`}>{name(endpoint) ?? "its endpoint"}</a>
                </>
              )}
            </span>
            <span>
              <Time at={event.received_at} as="exact" />
            </span>
            <Id id={event.id} />
          </>
        }
        acts={<Acts event={event} onDone={shown.again} />}
      />
      <Cause event={event} />
      <div class="cols">
        <div class="stack">
          <Timeline event={event} query={query} />
          <Attempts event={event} />
          <Payload event={event} onDone={shown.again} />
        </div>
        <Side event={event} />
      </div>
    </>
  );
};

/** Explains one request from its arrival to its end: why did this happen, and can I mend it? */
const EventPage = ({ params, query }: PageProps) => {
  const id = params.id ?? "";
  const shown = useAnswer<Event>({ key: id, on: { topic: "events", id } }, () =>
    call("GET /v1/events/{id}", { params: { id } }),
  );
  return <Found shown={shown} query={query} />;
};

export default EventPage;
