import { useState } from "preact/hooks";
import { counted } from "../../design/format.ts";
import { Layer } from "../../design/layer.tsx";
import { Icon } from "../../design/mark.tsx";
import { LoadError } from "../../design/placeholders.tsx";
import { ErrorText } from "../../design/text.tsx";
import { toast } from "../../design/toast.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import type { Answered } from "../api/calls.ts";
import { useNames } from "../api/names.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { whyNotAdmin } from "./act.tsx";
import { ActButton } from "./act-button.tsx";
import { type EventPlan, eventPlanText, faultTexts, type Outcome, outcomeText } from "./event-replay.ts";

type Row = Pick<AnswerOf<"GET /v1/events">["data"][number], "id" | "type">;

type PlanProps = { readonly rows: readonly Row[]; readonly onDone: () => void; readonly onClose: () => void };

/** The most ids that the service takes at once. */
const IDS_MAX = 100;

const plansOf = async (ids: readonly string[]): Promise<Answered<readonly EventPlan[]>> => {
  const plans: EventPlan[] = [];
  for (let from = 0; from < ids.length; from += IDS_MAX) {
    const event_ids = ids.slice(from, from + IDS_MAX).join(",");
    const answer = await call("GET /v1/replays/plan", { query: { event_ids } });
    if (!answer.ok) return answer;
    plans.push(...answer.body.data);
  }
  return { ok: true, body: plans };
};

/** Sends one event after another, and says what came of each. */
const replayed = async (rows: readonly Row[], onNext: (nth: number) => void): Promise<readonly Outcome[]> => {
  const outcomes: Outcome[] = [];
  for (const [nth, { id, type }] of rows.entries()) {
    onNext(nth);
    const answer = await call("POST /v1/events/{id}/replay", { params: { id }, body: {} });
    const [status, fault] = answer.ok ? [answer.body.status, ""] : [null, answer.problem.detail];
    outcomes.push({ name: type || id, status, fault });
  }
  return outcomes;
};

/** What is sent again. The plan comes first; nothing is sent before it was read. What could not be sent is told, and the others are sent. It stays open while it runs, so that its errors are seen. */
const Plan = ({ rows, onDone, onClose }: PlanProps) => {
  const nameOf = useNames();
  const planned = useAnswer<readonly EventPlan[]>({ key: rows.map(({ id }) => id).join(), on: null }, () =>
    plansOf(rows.map(({ id }) => id)),
  );
  const plans = planned.body;
  const isSent = new Set(plans?.flatMap(({ event_id: id, skipped }) => (skipped === null ? [id] : [])));
  const sent = rows.filter(({ id }) => isSent.has(id));
  const [done, setDone] = useState<number | null>(null);
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([]);
  const hasEnded = outcomes.length > 0;
  const isRunning = done !== null && !hasEnded;
  const close = (): void => {
    if (hasEnded) onDone();
    onClose();
  };
  const replay = async (): Promise<void> => {
    const told = await replayed(sent, setDone);
    setOutcomes(told);
    if (told.some(({ status }) => status === null)) return;
    toast.value = { text: outcomeText(told) };
    onDone();
    onClose();
  };
  return (
    <Layer label="Replay the selected events" kind="box" onClose={close} isFirm={isRunning}>
      <h3>Replay {counted(rows.length, "event")}?</h3>
      {planned.problem === null ? null : (
        <LoadError what="The plan" failure={planned.problem} since={null} onRetry={planned.again} />
      )}
      {/* Not atomic, so that the plan is not read out again with each event that is sent. */}
      <div role="status" aria-atomic="false">
        {planned.problem === null ? (
          <p>{plans === null ? "The plan is being made." : eventPlanText(plans, nameOf)}</p>
        ) : null}
        {done === null ? null : (
          <p class={hasEnded ? "" : "soft"}>{hasEnded ? outcomeText(outcomes) : `${done + 1} of ${sent.length}`}</p>
        )}
      </div>
      {faultTexts(outcomes).map((it) => (
        <ErrorText key={it} text={it} />
      ))}
      <div class="row">
        <button class="btn" type="button" autofocus disabled={isRunning} onClick={close}>
          {done === null ? "Send nothing" : "Close"}
        </button>
        <button
          class="btn end"
          type="button"
          disabled={sent.length === 0 || done !== null}
          onClick={() => void replay()}
        >
          {plans === null ? "Replay" : `Replay ${counted(sent.length, "event")}`}
        </button>
      </div>
    </Layer>
  );
};

type ReplayProps = {
  readonly rows: readonly Row[];
  /** Why the button does nothing; null if it works. */
  readonly why: string | null;
  readonly onDone: () => void;
  readonly isFirst?: boolean;
};

/** Opens the plan. */
export const ReplayButton = ({ rows, why, onDone, isFirst = false }: ReplayProps) => {
  const [isPlanning, setPlanning] = useState(false);
  return (
    <>
      <ActButton why={why} isFirst={isFirst} onPress={() => setPlanning(true)}>
        <Icon name="replays" small />
        Replay…
      </ActButton>
      {isPlanning ? <Plan rows={rows} onDone={onDone} onClose={() => setPlanning(false)} /> : null}
    </>
  );
};

type SelectionProps = {
  readonly rows: readonly Row[];
  readonly onExport: () => void;
  readonly onClear: () => void;
};

/** What can be done to the selected rows; an act on many opens its plan first. */
export const Selection = ({ rows, onExport, onClear }: SelectionProps) => (
  <div class="picked-bar">
    <b role="status">{rows.length} selected</b>
    <ReplayButton rows={rows} why={whyNotAdmin()} onDone={onClear} />
    <button class="btn" type="button" onClick={onExport}>
      Export…
    </button>
    <button class="btn bare end" type="button" onClick={onClear}>
      Clear
    </button>
  </div>
);
