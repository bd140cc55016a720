import { useEffect, useState } from "preact/hooks";
import { duration } from "../../design/format.ts";
import { StateMark } from "../../design/mark.tsx";
import { Breaking, Copied, Note, Time } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import type { Answered } from "../api/calls.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { Act, whyNotAdmin } from "./act.tsx";
import { MessageText } from "./message-text.tsx";
import { Refusal } from "./refusal.tsx";
import { signatureRefusal } from "./refusals.ts";
import { asSentence, eventTitle, stoppingGate, whyOf } from "./why.ts";

type Events = AnswerOf<"GET /v1/events">;
type Rejections = AnswerOf<"GET /v1/sources/{id}/rejections">;
type Event = Events["data"][number];

const SECOND_MS = 1_000;
/** Samples do not end the wait, and may lie before the first event. */
const NEWEST = 20;

type WaitingProps = {
  readonly from: string;
  /** True if a gate refused the sample, as it would refuse an event like it. */
  readonly isRefused: boolean;
};

const Waiting = ({ from, isRefused }: WaitingProps) => {
  const [begun] = useState(Date.now);
  const [now, setNow] = useState(begun);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <div class="await">
      <svg class="pulse" viewBox="0 0 36 36" aria-hidden="true">
        <circle cx="18" cy="18" r="16" />
        <circle cx="18" cy="18" r="10" />
        <path d="M18 12v7M14.5 16.5 18 20l3.5-3.5" />
      </svg>
      <div>
        <p role="status">
          <b>Waiting for the first event from {from}.</b>
        </p>
        <p class="meta">
          {isRefused ? "The sample below was refused, as is an event that breaks the same rule. " : ""}
          This page shows it as soon as it arrives. Waiting for{" "}
          {duration(Math.max(1, Math.floor((now - begun) / SECOND_MS)) * SECOND_MS)}.
        </p>
      </div>
    </div>
  );
};

const Arrived = ({ event, from }: { readonly event: Event | undefined; readonly from: string }) => {
  if (event === undefined) return null;
  const why = whyOf(event);
  const gate = refusingGate(event);
  const href = `/events/${encodeURIComponent(event.id)}`;
  return (
    <div class="stack tight" role="status">
      <p class="row">
        <StateMark value={event.status} />
        <span>
          <b>
            {event.sample ? "The sample" : "An event"} arrived at <Time at={event.received_at} as="clock" />:
          </b>{" "}
          <Breaking text={eventTitle(event)} />
        </span>
      </p>
      {gate === null ? (
        why === "" ? null : (
          <p class="soft">{asSentence(why)}</p>
        )
      ) : (
        <Refusal
          gate={gate}
          policy={gate.policy ?? event.verdict.policy}
          agentId={null}
          from={from}
          what={event.type}
          run={null}
          at={event.received_at}
        />
      )}
      <p class="row">
        <a class="btn first" href={href}>
          Open the event
        </a>
      </p>
    </div>
  );
};

/** The gate that refused it; null if none did. */
const refusingGate = (event: Event) => (event.status === "blocked" ? stoppingGate(event) : null);

/** A gate's refusal is told by the event that it has become. */
const sendSample = async (id: string, type: string): Promise<Answered<unknown>> => {
  const answer = await call("POST /v1/sources/{id}/sample", { params: { id }, body: { type } });
  return !answer.ok && "event_id" in answer.problem ? { ok: true, body: null } : answer;
};

type FirstEventProps = {
  readonly id: string;
  readonly from: string;
  /** The provider's types of which the service sends a sample; the first of them is sent. */
  readonly sampleTypes: readonly string[];
};

/** Waits for the first event of a source, and says what arrived: an event as it goes on, or why a request was refused. */
export const FirstEvent = ({ id, from, sampleTypes: [type] }: FirstEventProps) => {
  const events = useAnswer<Events>({ key: `first ${id}`, on: { topic: "events", id: null } }, () =>
    call("GET /v1/events", { query: { source_id: id, limit: NEWEST } }),
  );
  const refused = useAnswer<Rejections>({ key: `refused ${id}`, on: { topic: "sources", id } }, () =>
    call("GET /v1/sources/{id}/rejections", { params: { id }, query: { limit: 1 } }),
  );
  const sent = events.body?.data ?? [];
  const event = sent.find(({ sample }) => !sample);
  const rejection = refused.body?.data[0];
  const sample = sent[0];
  if (event !== undefined) return <Arrived event={event} from={from} />;
  return (
    <>
      <Waiting from={from} isRefused={sample !== undefined && refusingGate(sample) !== null} />
      <Arrived event={sample} from={from} />
      {type === undefined ? null : (
        <p class="row">
          <Act
            label="Send a sample event"
            act={() => sendSample(id, type)}
            done={null}
            onDone={events.again}
            why={whyNotAdmin()}
          />
          <span class="meta">
            It is signed with this source's secret and goes the whole way, marked as a sample. It is free.
          </span>
        </p>
      )}
      {type === undefined ? null : (
        <>
          <p class="meta">Or from your terminal, with an admin's key:</p>
          <Copied value={`countersign send --url ${location.origin} --source ${id} ${type}`} />
        </>
      )}
      {rejection === undefined ? null : (
        <Note role="refuse" mark="refused" isAlert>
          <p>
            A request arrived at <Time at={rejection.minute} />.{" "}
            <MessageText message={signatureRefusal(rejection.reason)} />
          </p>
          {rejection.count === 1 ? null : <p>{rejection.count} requests of that minute were refused for it.</p>}
        </Note>
      )}
    </>
  );
};
