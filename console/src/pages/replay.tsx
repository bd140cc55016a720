import type { ComponentChildren } from "preact";
import { count, counted } from "../../design/format.ts";
import { Mark, StateMark } from "../../design/mark.tsx";
import { Facts, Head, Id, Section, Time, Zone } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { useNames } from "../api/names.ts";
import { hrefOf } from "../shell/addresses.ts";
import type { PageProps } from "../shell/page-props.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { Act, whyNotAdmin } from "./act.tsx";
import { WITH_NOTIFICATIONS } from "./event-origins.ts";
import { Thing } from "./listing.tsx";
import type { NameOf } from "./record-parts.ts";
import { doneText, namedWaits, replayState, replayText, skippedText, waitingText } from "./replay-text.ts";
import { filterText } from "./replays.tsx";

type Replay = AnswerOf<"GET /v1/replays/{id}">;

/** The list that says why events were skipped. */
const SKIPPED = "skipped";

/** `statuses` of the events that a figure counts; null for those that were skipped, which are told by their reasons. */
const PARTS = [
  { name: "Delivered", key: "delivered", mark: "delivered", role: "ok", statuses: "delivered" },
  {
    name: "Failed",
    key: "failed",
    mark: "failed",
    role: "fail",
    statuses: "failed,blocked,rejected,expired,cancelled",
  },
  { name: "Waiting", key: "waiting", mark: "queued", role: "move", statuses: "queued,retrying" },
  { name: "Skipped", key: "skipped", mark: "skipped", role: "mute", statuses: null },
] as const;

type FigureProps = { readonly href: string | null; readonly children: ComponentChildren };

const Figure = ({ href, children }: FigureProps) =>
  href === null ? <div>{children}</div> : <a href={href}>{children}</a>;

/** The events that it has sent or decided again, notifications included. */
const eventsOf = (id: string, filter: { readonly status?: string; readonly endpoint_id?: string } = {}): string =>
  hrefOf("/events", { replay: id, origin: WITH_NOTIFICATIONS, ...filter });

/** What became of its events, as a bar and as figures. What is not done yet is the rest of the bar. */
const Became = ({ replay }: { readonly replay: Replay }) => {
  const total = Math.max(1, replay.total);
  const share = (part: number): string => `${(part / total) * 100}%`;
  let before = 0;
  return (
    <>
      <svg class="gauge parts" aria-hidden="true">
        <rect class="bed" x="0" width="100%" height="10" rx="2" />
        {PARTS.map(({ key, role }) => {
          const x = share(before);
          before += replay[key];
          return (
            <rect
              key={key}
              class={`c-${role === "mute" ? "base" : role}`}
              x={x}
              width={share(replay[key])}
              height="10"
            />
          );
        })}
      </svg>
      <div class="sums four">
        {PARTS.map(({ name, key, mark, role, statuses }) => (
          <Figure
            key={key}
            href={
              replay[key] === 0 ? null : statuses === null ? `#${SKIPPED}` : eventsOf(replay.id, { status: statuses })
            }
          >
            <span>
              <Mark name={mark} role={role} />
              {name}
            </span>
            <b>{count(replay[key])}</b>
          </Figure>
        ))}
      </div>
    </>
  );
};

/** By what its events were chosen, apart from their state, which is the title. */
const chosen = ({ source_id, endpoint_id, from, to }: Replay["filter"], nameOf: NameOf) =>
  [
    ["Source", source_id === undefined ? "" : (nameOf(source_id) ?? source_id)],
    ["Endpoint", endpoint_id === undefined ? "" : (nameOf(endpoint_id) ?? endpoint_id)],
    ["Received from", from === undefined ? "" : <Time at={from} />],
    ["Received before", to === undefined ? "" : <Time at={to} />],
  ] as const;

const cancelledText = ({ by, reason }: NonNullable<Replay["cancelled"]>, nameOf: NameOf): string =>
  `${nameOf(by.id) ?? by.id}${reason === null ? "" : `: ${reason}`}`;

const Shown = ({ replay, onDone }: { readonly replay: Replay; readonly onDone: () => void }) => {
  const nameOf = useNames();
  const { id, filter, status } = replay;
  const { status: _status, ...events } = filter;
  const waitingAt = namedWaits(replay.waiting_at, nameOf);
  return (
    <>
      <Head
        title={filterText(filter)}
        meta={
          <>
            <StateMark value={replayState(replay)} word={replayText(replay, waitingAt)} />
            <span>
              <Time at={replay.started_at} as="exact" />
            </span>
            <Id id={id} />
            <Zone />
          </>
        }
        acts={
          status === "running" ? (
            <Act
              label="Cancel"
              act={() => call("POST /v1/replays/{id}/cancel", { params: { id }, body: {} })}
              done="No further event is sent again."
              onDone={onDone}
              why={whyNotAdmin()}
              ask={{
                question: "Cancel this replay?",
                text: "Events that were sent again stay sent.",
                keep: "Let it go on",
              }}
            />
          ) : null
        }
      />
      <Section title="What became of it">
        <Became replay={replay} />
        <Facts
          rows={[
            ["Events", doneText(replay)],
            ...chosen(filter, nameOf),
            ["Begun by", nameOf(replay.by.id) ?? replay.by.id],
            ["Reason", replay.reason ?? ""],
            ["Pace", `${counted(replay.rate_per_second, "event")} a second at most`],
            ["Ended", replay.ended_at === null ? "" : <Time at={replay.ended_at} />],
            ["Cancelled by", replay.cancelled === null ? "" : cancelledText(replay.cancelled, nameOf)],
          ]}
        />
      </Section>
      {replay.waiting_at.length === 0 ? null : (
        <Section title="Waiting">
          <ul class="checks">
            {replay.waiting_at.map((it) => (
              <li key={it.endpoint_id}>
                <Mark name="queued" role="move" />
                <span>
                  <a href={eventsOf(id, { status: "queued,retrying", endpoint_id: it.endpoint_id })}>
                    {counted(it.count, "event waits", "events wait")}
                  </a>{" "}
                  for{" "}
                  <a href={`/endpoints/${encodeURIComponent(it.endpoint_id)}`}>
                    {nameOf(it.endpoint_id) ?? "an endpoint"}
                  </a>
                  : {waitingText(it.reason)}.
                </span>
              </li>
            ))}
          </ul>
        </Section>
      )}
      {replay.skipped_by.length === 0 ? null : (
        <Section title="Skipped">
          <ul class="checks" id={SKIPPED}>
            {replay.skipped_by.map(({ reason, count: many }) => (
              <li key={reason}>
                <Mark name="skipped" role="mute" />
                <span>
                  {counted(many, "event")}: {skippedText(reason)}.
                </span>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <p class="row">
        {replay.done > replay.skipped ? (
          <a class="btn" href={eventsOf(id)}>
            Its events
          </a>
        ) : null}
        <a class="btn" href={hrefOf("/events", { ...events, status: filter.status })}>
          Events that match now
        </a>
      </p>
    </>
  );
};

const ReplayPage = ({ params }: PageProps) => {
  const id = params.id ?? "";
  // What waits depends on its endpoints as well: a circuit opens and closes, and an endpoint is disabled and enabled.
  const on = [
    { topic: "replays", id },
    { topic: "endpoints", id: null },
  ];
  const shown = useAnswer<Replay>({ key: id, on }, () => call("GET /v1/replays/{id}", { params: { id } }));
  return (
    <Thing what="The replay" shown={shown}>
      {(replay) => <Shown replay={replay} onDone={shown.again} />}
    </Thing>
  );
};

export default ReplayPage;
