import { useMemo, useState } from "preact/hooks";
import { counted, duration, exactClock } from "../../design/format.ts";
import { useKeys } from "../../design/keys.ts";
import { StateMark } from "../../design/mark.tsx";
import { LoadError } from "../../design/placeholders.tsx";
import { type Column, DataTable } from "../../design/table.tsx";
import { Facts, Section, Time } from "../../design/text.tsx";
import { Waterfall } from "../../design/waterfall.tsx";
import type { ShownStage } from "../../design/waterfall-scale.ts";
import { type AnswerOf, call, me } from "../api/api.ts";
import { hrefOf } from "../shell/addresses.ts";
import { now } from "../shell/clock.ts";
import type { PageProps } from "../shell/page-props.ts";
import { go } from "../shell/router.ts";
import { useAllPages } from "../shell/use-all-pages.ts";
import { type EventStage, eventStages } from "./event-stages.ts";

type Event = AnswerOf<"GET /v1/events/{id}">;

/** What the API gives in one page. */
const PAGE = 1_000;
/** In these states a stretch of time is still open, and grows. */
const OPEN: readonly string[] = ["held", "delivering"];

type Row = EventStage & { readonly nth: number };

const momentOf = (at: number): string => new Date(at).toISOString();

/** The event's page with one of its attempts open. */
type HrefOfAttempt = (attempt: number) => string;

const columns = (hrefOfAttempt: HrefOfAttempt): readonly Column<Row>[] => [
  {
    ...{ name: "Stage", as: "c0" },
    show: ({ name, attempt }) => (attempt === undefined ? name : <a href={hrefOfAttempt(attempt)}>{name}</a>),
  },
  {
    name: "State",
    as: "a",
    show: ({ state, note }) => (
      <>
        <StateMark value={state} />
        {note === undefined ? null : <span class="sub">{note}</span>}
      </>
    ),
  },
  { name: "Began", as: "b nw", show: ({ start }) => <Time at={momentOf(start)} as="precise" /> },
  { name: "Ended", as: "nw hide", show: ({ end }) => <Time at={momentOf(end)} as="precise" /> },
  {
    name: "Took",
    as: "num",
    show: ({ start, end, isMoment }) => (isMoment ? "–" : duration(end - start)),
  },
];

/** The same facts, for those who read them rather than see them, or copy them. */
type TableProps = { readonly stages: readonly EventStage[]; readonly hrefOfAttempt: HrefOfAttempt };

const StageTable = ({ stages, hrefOfAttempt }: TableProps) => (
  <DataTable
    caption="The stages of the timeline"
    columns={columns(hrefOfAttempt)}
    rows={stages.map((stage, nth) => ({ ...stage, nth }))}
    keyOf={({ nth }) => String(nth)}
  />
);

/** What an opened stage says: its moments, and its note in full, which may be cut off beside the bar. */
const stageFacts = (
  { state, note, start, end, isMoment, attempt }: ShownStage & Partial<EventStage>,
  hrefOfAttempt: HrefOfAttempt,
) => (
  <Facts
    rows={[
      ["State", <StateMark value={state} />],
      ["Began", <Time at={momentOf(start)} as="precise" />],
      ["Ended", <Time at={momentOf(end)} as="precise" />],
      ["Took", isMoment === true ? "" : duration(end - start)],
      ["Note", note ?? ""],
      ["Attempt", attempt === undefined ? "" : <a href={hrefOfAttempt(attempt)}>Open attempt {attempt}</a>],
    ]}
  />
);

type TimelineProps = { readonly event: Event; readonly query: PageProps["query"] };

/** What happened, on one scale; whether long waiting is collapsed is in the address. */
export const Timeline = ({ event, query }: TimelineProps) => {
  const { id } = event;
  const path = `/events/${encodeURIComponent(id)}`;
  const hrefOfAttempt: HrefOfAttempt = (attempt) => hrefOf(path, { ...query, attempt: String(attempt) });
  // An event's own answer has the first and the last of many stages.
  const all = useAllPages<Event["timeline"][number]>((cursor) =>
    call("GET /v1/events/{id}/timeline", {
      params: { id },
      query: { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) },
    }),
  );
  const told = all.rows ?? event.timeline;
  const moment = OPEN.includes(event.status) ? now.value : 0;
  const left = all.rows === null ? event.stages_left_out : 0;
  const stages = useMemo(() => eventStages(told, moment, left), [told, moment, left]);
  const zone = me.value?.account.time_zone ?? "UTC";
  const end = useMemo(() => stages.reduce((latest, it) => Math.max(latest, it.end), 0), [stages]);
  const [isTable, setTable] = useState(false);
  useKeys({ t: () => setTable(!isTable) });
  const [first] = stages;
  if (first === undefined) return null;
  const tookOf = (stage: ShownStage & Partial<EventStage>) =>
    stage.isMoment === true ? <Time at={momentOf(stage.end)} as="clock" /> : duration(stage.end - stage.start);
  return (
    <Section
      title="Timeline"
      beside={<span class="meta">{duration(end - first.start)} from the first to the last stage</span>}
    >
      <div class="row">
        <button class="btn bare end" type="button" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          Show as table
        </button>
      </div>
      {isTable ? (
        <StageTable stages={stages} hrefOfAttempt={hrefOfAttempt} />
      ) : (
        <Waterfall
          begin={exactClock(told[0]?.at ?? event.received_at, { zone }).slice(0, 8)}
          stages={stages}
          tookOf={tookOf}
          detailOf={(stage) => stageFacts(stage, hrefOfAttempt)}
          isFull={query.scale === "full"}
          onScale={(isFull) => go(hrefOf(path, { ...query, scale: isFull ? "full" : undefined }), { isReplaced: true })}
        />
      )}
      {all.problem === null ? null : (
        <LoadError what="The timeline" failure={all.problem} since={null} onRetry={all.read} />
      )}
      {left > 0 ? (
        <p class="row">
          <span class="meta">
            {all.loaded === 0
              ? `${counted(left, "stage")} in the middle ${left === 1 ? "is" : "are"} not shown.`
              : `${counted(all.loaded, "stage")} read so far.`}
          </span>
          <button class="btn" type="button" disabled={all.loaded > 0} onClick={all.read}>
            Show all stages
          </button>
        </p>
      ) : null}
    </Section>
  );
};
