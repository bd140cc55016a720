import { useEffect, useState } from "preact/hooks";
import { around } from "../../design/around.ts";
import type { Filter } from "../../design/filter-values.ts";
import { useKeys } from "../../design/keys.ts";
import { Icon, StateMark } from "../../design/mark.tsx";
import { LoadError, Loading } from "../../design/placeholders.tsx";
import { stateOf } from "../../design/states.ts";
import { Breaking, ErrorText, Head, Id, Note, Time, Zone } from "../../design/text.tsx";
import { toast } from "../../design/toast.tsx";
import { InTurns } from "../../design/virtual-rows.tsx";
import { type AnswerOf, call, callText } from "../api/api.ts";
import { withHolders } from "../api/holders.ts";
import { mayIt } from "../api/may-decide.ts";
import { useNames } from "../api/names.ts";
import { hrefOf } from "../shell/addresses.ts";
import { now } from "../shell/clock.ts";
import { useCrumbName } from "../shell/crumb-name.ts";
import type { PageProps } from "../shell/page-props.ts";
import { type Shown, useAnswer } from "../shell/use-answer.ts";
import { AddressCheck } from "./address-check.tsx";
import { isWaiting, waitParts } from "./endpoint-text.ts";
import { Attempts, attemptFilter } from "./event-attempts.tsx";
import { WITH_NOTIFICATIONS } from "./event-origins.ts";
import { Payload } from "./event-payload.tsx";
import { whyNotReplayable } from "./event-replay.ts";
import { ReplayButton } from "./event-selection.tsx";
import { Side } from "./event-side.tsx";
import { Timeline } from "./event-timeline.tsx";
import { Missing } from "./listing.tsx";
import { message } from "./message.ts";
import { MessageText } from "./message-text.tsx";
import { Refusal } from "./refusal.tsx";
import { rejectionOf } from "./rejection.ts";
import { useStopped } from "./stopped-endpoints.ts";
import { type Approval, useApproval } from "./use-approval.ts";
import { asSentence, eventState, eventTitle, stoppingGate, whyOf } from "./why.ts";

type Event = AnswerOf<"GET /v1/events/{id}">;

const GOOD = ["delivered", "recorded"];
/** The kinds of origins that have a page. */
const LISTED: readonly string[] = ["agent", "source"];
/** How the timeline is drawn. */
const SCALE: Filter = {
  ...{ name: "scale", label: "Timeline", choices: [{ value: "full", word: "Full scale" }] },
  expects: "Choose Full scale, or remove this.",
};
/** Why the button does nothing; null if it works. */
const whyNoReplay = (event: Event): string | null =>
  mayIt("admin") ? whyNotReplayable(event) : withHolders("Only an admin or an owner can replay an event", "admin");

const Acts = ({ event, onDone }: { readonly event: Event; readonly onDone: () => void }) => {
  const [fault, setFault] = useState<string | null>(null);
  const params = { id: event.id };
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
      <ReplayButton rows={[event]} why={whyNoReplay(event)} onDone={onDone} />
      <ErrorText text={fault} />
    </>
  );
};

const NOTE_ROLES = { failed: "fail", rejected: "refuse", held: "wait" } as const;

/** What can be done about it, the likeliest first; nothing of it acts without a further press. */
const NextActs = ({ event, onDone }: { readonly event: Event; readonly onDone: () => void }) => {
  const { status, bundle, approval_id: approval, endpoint_id: endpoint } = event;
  const links: (readonly [label: string, href: string])[] = [
    ...(status === "held" && approval !== null ? [["Open the decision", `/approvals/${approval}`] as const] : []),
    ...(bundle === null ? [] : [["Open the bundle", `/bundles/${encodeURIComponent(bundle.id)}`] as const]),
    ...((status === "failed" || isWaiting(status)) && endpoint !== null
      ? [["Open the endpoint", `/endpoints/${encodeURIComponent(endpoint)}`] as const]
      : []),
  ];
  const isReplayed = whyNoReplay(event) === null;
  if (!isReplayed && links.length === 0) return null;
  return (
    <div class="row">
      {isReplayed ? <ReplayButton rows={[event]} why={null} onDone={onDone} isFirst /> : null}
      {links.map(([label, href], nth) => (
        <a key={label} class={nth === 0 && !isReplayed ? "btn first" : "btn"} href={href}>
          {label}
        </a>
      ))}
    </div>
  );
};

type CauseProps = { readonly event: Event; readonly decided: Approval | null; readonly onDone: () => void };

const Cause = ({ event, decided, onDone }: CauseProps) => {
  const name = useNames();
  const { status, origin, verdict } = event;
  const stopped = useStopped(isWaiting(status))(event.endpoint_id);
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
  if (stopped !== null)
    return (
      <Note mark={mark} role="wait">
        <p>
          <MessageText message={message(`${word}.`, ...waitParts(stopped, now.value))} as="precise" />
        </p>
        <NextActs event={event} onDone={onDone} />
      </Note>
    );
  const role = Object.hasOwn(NOTE_ROLES, status) ? NOTE_ROLES[status as keyof typeof NOTE_ROLES] : undefined;
  return (
    <Note mark={mark} {...(role === undefined ? {} : { role })}>
      <p>
        <b>{word}.</b> {asSentence(whyOf(event, { rejected: rejectionOf(decided?.votes ?? [], name) }))}
      </p>
      <NextActs event={event} onDone={onDone} />
    </Note>
  );
};

/** How a step that was sent was undone since, after its state. */
const TakenBack = ({ event }: { readonly event: Event }) => {
  const { bundle } = event;
  if (bundle?.rollback == null) return null;
  return (
    <span>
      {bundle.rollback === "undone" ? "with " : bundle.rollback === "undone_by_hand" ? "by hand, see " : "see "}
      <a href={`/bundles/${encodeURIComponent(bundle.id)}`}>its bundle</a>
    </span>
  );
};

/** The list of what came shortly before and after the event, in which it is selected. */
const aroundOf = ({ id, origin, received_at: moment }: Event): string =>
  hrefOf("/events", {
    ...around(moment),
    origin: origin.kind === "system" ? WITH_NOTIFICATIONS : undefined,
    at: id,
  });

const copyId = (id: string | undefined): void => {
  if (id === undefined) return;
  void navigator.clipboard.writeText(id).then(() => {
    toast.value = { text: "The id is copied." };
  });
};

type FoundProps = { readonly shown: Shown<Event>; readonly query: PageProps["query"] };

/** The side stands beside the rest; on a narrower screen it is below, and would move as that comes. */
const BESIDE = "(min-width: 68.75em)";

const Found = ({ shown, query }: FoundProps) => {
  const name = useNames();
  const [isWhole, setWhole] = useState(false);
  const event = shown.body;
  const approval = useApproval(event?.approval_id ?? null);
  useKeys({ y: () => copyId(event?.id) });
  useCrumbName(event?.type ?? null);
  if (event === null)
    return shown.problem === null ? (
      <Loading rows={8} />
    ) : shown.problem.status === 404 ? (
      <Missing />
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
            <StateMark {...eventState(event)} />
            <TakenBack event={event} />
            <span>
              {event.sample ? "a sample " : ""}from{" "}
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
              <Time at={event.received_at} as="exact" /> <a href={aroundOf(event)}>Around this moment</a>
            </span>
            <Id id={event.id} />
            <Zone />
          </>
        }
        acts={<Acts event={event} onDone={shown.again} />}
      />
      <AddressCheck filters={[SCALE, attemptFilter(event)]} query={query} />
      <Cause event={event} decided={approval} onDone={shown.again} />
      <div class="cols">
        <div class="stack">
          <InTurns first={0} onWhole={() => setWhole(true)}>
            <Timeline event={event} query={query} />
            <Attempts event={event} query={query} />
            <Payload event={event} onDone={shown.again} />
          </InTurns>
        </div>
        {isWhole || matchMedia(BESIDE).matches ? (
          <InTurns first={0}>
            <Side event={event} approval={approval} />
          </InTurns>
        ) : null}
      </div>
    </>
  );
};

/** Explains one request from its arrival to its end: why did this happen, and can I mend it? */
const EventPage = ({ params, query }: PageProps) => {
  const id = params.id ?? "";
  const [bundleId, setBundleId] = useState<string | null>(null);
  const on = [{ topic: "events", id }, ...(bundleId === null ? [] : [{ topic: "bundles", id: bundleId }])];
  const shown = useAnswer<Event>({ key: id, on }, () => call("GET /v1/events/{id}", { params: { id } }));
  const bundle = shown.body?.bundle ?? null;
  // The end of its bundle changes what is told of a step, and nothing of an undo.
  useEffect(() => setBundleId(bundle === null || bundle.undo ? null : bundle.id), [bundle]);
  return <Found shown={shown} query={query} />;
};

export default EventPage;
