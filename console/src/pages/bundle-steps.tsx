import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { counted, duration, euro, exactClock } from "../../design/format.ts";
import { StateMark } from "../../design/mark.tsx";
import { type Column, DataTable } from "../../design/table.tsx";
import { Breaking, Note, Section, Time } from "../../design/text.tsx";
import { Waterfall } from "../../design/waterfall.tsx";
import { type AnswerOf, call, me } from "../api/api.ts";
import { useNames } from "../api/names.ts";
import { now } from "../shell/clock.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { refusedSteps } from "./bundle-verdict.ts";
import {
  howUndone,
  isHeldUp,
  numberOf,
  type Sent,
  shownState,
  stepStages,
  turnedAt,
  whatItDid,
  withRefusals,
} from "./bundle-words.ts";
import { waitParts } from "./endpoint-text.ts";
import { message } from "./message.ts";
import { MessageText } from "./message-text.tsx";
import { useStopped } from "./stopped-endpoints.ts";

type Bundle = AnswerOf<"GET /v1/bundles/{id}">;
type Step = Bundle["steps"][number];

/** In these states a step or an undo may be under way, and its bar grows. */
const GOING_ON: readonly string[] = ["running", "rolling_back"];

type SentAs = (id: string | null) => Sent | undefined;

/** What became of the events that the steps and their undos were sent as, by their ids. */
const useSent = ({ id, steps, status }: Bundle): SentAs => {
  const ids = steps.flatMap((step) => [step.event_id, step.compensation_event_id].filter((it) => it !== null));
  const shown = useAnswer({ key: `${id} ${status} ${ids.join()}`, on: { topic: "bundles", id } }, async () =>
    ids.length === 0
      ? ({ ok: true, body: { data: [], next_cursor: null } } as const)
      : call("GET /v1/events", { query: { ids: ids.join(","), limit: 100 } }),
  );
  const known = new Map((shown.body?.data ?? []).map((it) => [it.id, it] as const));
  return (event) => (event === null ? undefined : known.get(event));
};

/** On a phone the margin with the numbers is left out, and steps of one action would look alike. */
const PhoneNumber = ({ step }: { readonly step: Step }) => <span class="phone">{numberOf(step)} </span>;

type ColumnsProps = {
  readonly sentAs: SentAs;
  readonly nameOf: (id: string | null) => string | null;
  readonly stoppedOf: ReturnType<typeof useStopped>;
  /** Of the bundle. */
  readonly status: string;
};

const columns = ({ sentAs, nameOf, stoppedOf, status }: ColumnsProps): readonly Column<Step>[] => [
  { name: "Step", as: "hide", show: numberOf },
  {
    name: "Action",
    as: "a",
    show: (step) =>
      step.event_id === null ? (
        <span class="name">
          <PhoneNumber step={step} />
          <Breaking text={step.action} />
        </span>
      ) : (
        <a class="name" href={`/events/${encodeURIComponent(step.event_id)}`}>
          <PhoneNumber step={step} />
          <Breaking text={step.action} />
        </a>
      ),
  },
  {
    name: "What it did",
    show: (step) => (
      <>
        {whatItDid(
          step,
          nameOf(step.endpoint_id ?? null) ?? "its endpoint",
          sentAs(step.event_id),
          stoppedOf(step.endpoint_id),
        )}
        {step.cost_eur === null || step.cost_eur === 0 ? null : <span class="sub">{euro(step.cost_eur)}</span>}
      </>
    ),
  },
  { name: "State", as: "b", show: (step) => <StateMark value={shownState(status, step)} /> },
  {
    name: "How it is undone",
    as: "soft",
    show(step) {
      const { compensation, compensation_event_id: event, times, resolution } = step;
      if (resolution !== null)
        return (
          <>
            Undone by hand at <Time at={resolution.at} />: {resolution.comment}
          </>
        );
      const end = times?.undo_ended_at ?? null;
      const action = compensation === null ? null : <code>{compensation}</code>;
      const words = howUndone(step, sentAs(event));
      const isNamed = action !== null && !words.startsWith("There") && !words.startsWith("It ");
      return (
        <>
          {!isNamed ? null : event === null ? action : <a href={`/events/${encodeURIComponent(event)}`}>{action}</a>}{" "}
          {words}
          {end === null || event === null ? null : (
            <>
              {" "}
              at <Time at={end} />
            </>
          )}
        </>
      );
    },
  },
];

type StepsProps = {
  readonly bundle: Bundle /** Stands below what needs an act. */;
  readonly children: ComponentChildren;
};

/** What holds it up, what was done and undone, to scale, and step by step. */
export const Steps = ({ bundle, children }: StepsProps) => {
  const nameOf = useNames();
  const { steps, status } = bundle;
  const sentAs = useSent(bundle);
  const running = steps.find((step) => isHeldUp(step, sentAs(step.event_id)));
  const stoppedOf = useStopped(running !== undefined);
  const stopped = stoppedOf(running?.endpoint_id);
  const moment = GOING_ON.includes(status) ? now.value : Date.parse(bundle.ended_at ?? bundle.created_at);
  const stages = useMemo(
    () => stepStages(steps, sentAs, { now: moment, bundle: status }),
    [steps, sentAs, moment, status],
  );
  const isBegun = stages.some(({ isAbsent }) => isAbsent !== true);
  const begin = Math.min(...stages.map(({ start }) => start));
  const end = Math.max(...stages.map((it) => Math.max(it.end, it.undo?.end ?? 0)));
  const zone = me.value?.account.time_zone ?? "UTC";
  return (
    <>
      {running === undefined || stopped === null ? null : (
        <Note mark="queued" role="wait">
          <p>
            <MessageText
              message={message(
                `Step ${numberOf(running)} (${running.action}) waits.`,
                ...waitParts(stopped, now.value),
              )}
            />
          </p>
          <div class="row">
            <a class="btn first" href={`/endpoints/${encodeURIComponent(stopped.id)}`}>
              Open the endpoint
            </a>
          </div>
        </Note>
      )}
      {children}
      {isBegun ? (
        <Section
          title="Steps, to scale"
          beside={
            <>
              <span class="key">
                <span>
                  <i />
                  Done
                </span>
                <span>
                  <i class="k-undo" />
                  Undone
                </span>
                <span>
                  <i class="k-fail" />
                  Failed
                </span>
              </span>
              <span class="meta">{duration(end - begin)} in all</span>
            </>
          }
        >
          <Waterfall
            what="Step"
            stages={stages}
            begin={exactClock(new Date(begin).toISOString(), { zone }).slice(0, 8)}
            turnedAt={turnedAt(steps)}
          />
        </Section>
      ) : null}
      <Section title="What each step did" beside={<span class="meta">{counted(steps.length, "step")}</span>}>
        <DataTable
          caption="Steps in their order"
          columns={columns({ sentAs, nameOf, stoppedOf, status })}
          rows={status === "blocked" ? withRefusals(steps, refusedSteps(bundle.verdict)) : steps}
          keyOf={({ index }) => String(index)}
          as="folio"
        />
      </Section>
    </>
  );
};
