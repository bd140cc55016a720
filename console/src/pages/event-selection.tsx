import { useState } from "preact/hooks";
import { counted } from "../../design/format.ts";
import { Layer } from "../../design/layer.tsx";
import { Icon } from "../../design/mark.tsx";
import { ErrorText } from "../../design/text.tsx";
import { toast } from "../../design/toast.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { whyNotAdmin } from "./act.tsx";
import { planOf } from "./event-replay.ts";

type Row = Pick<AnswerOf<"GET /v1/events">["data"][number], "id" | "type" | "status" | "bundle">;

type PlanProps = { readonly rows: readonly Row[]; readonly onDone: () => void; readonly onClose: () => void };

/** What is sent again. The plan comes first; nothing is sent before it was read. What could not be sent is told, and the others are sent. */
const Plan = ({ rows, onDone, onClose }: PlanProps) => {
  const { sent, text } = planOf(rows);
  const [done, setDone] = useState<number | null>(null);
  const [faults, setFaults] = useState<readonly string[]>([]);
  const replay = async (): Promise<void> => {
    const refused: string[] = [];
    for (const [nth, { id, type }] of sent.entries()) {
      setDone(nth);
      const answer = await call("POST /v1/events/{id}/replay", { params: { id }, body: {} });
      if (!answer.ok) refused.push(`${type || id}: ${answer.problem.detail}`);
    }
    onDone();
    setFaults(refused);
    if (refused.length > 0) return;
    toast.value = { text: `${counted(sent.length, "event")} ${sent.length === 1 ? "is" : "are"} sent again.` };
    onClose();
  };
  return (
    <Layer label="Replay the selected events" kind="box" onClose={onClose}>
      <h3>Replay {counted(rows.length, "event")}?</h3>
      <p>{text}</p>
      <div role="status">{done === null ? null : <p class="soft">{`${done + 1} of ${sent.length}`}</p>}</div>
      {faults.map((it) => (
        <ErrorText key={it} text={it} />
      ))}
      <div class="row">
        <button class="btn" type="button" autofocus onClick={onClose}>
          {done === null ? "Send nothing" : "Close"}
        </button>
        <button
          class="btn end"
          type="button"
          disabled={sent.length === 0 || done !== null}
          onClick={() => void replay()}
        >
          Replay {counted(sent.length, "event")}
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
      <button
        class={isFirst ? "btn first" : "btn"}
        type="button"
        disabled={why !== null}
        title={why ?? undefined}
        onClick={() => setPlanning(true)}
      >
        <Icon name="replays" small />
        Replay…
      </button>
      {why === null ? null : <span class="vh">{why}</span>}
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
