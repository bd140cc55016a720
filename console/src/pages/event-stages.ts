import { counted } from "../../design/format.ts";
import type { Stage } from "../../design/waterfall-scale.ts";

/** Stages of an event as the API tells them: moments, from which the timeline makes stretches of time. */
export type ToldStage = {
  readonly stage: string;
  readonly at: string;
  readonly number?: number | undefined;
  readonly outcome?: string | undefined;
  readonly duration_ms?: number | null | undefined;
  readonly status_code?: number | null | undefined;
  readonly reason?: string | undefined;
  readonly count?: number | undefined;
};

export type EventStage = Stage & {
  readonly state: string;
  readonly note?: string;
  readonly isMoment: boolean;
  /** The number of the attempt that the stage is. */
  readonly attempt?: number;
};

const WORDS: Readonly<Record<string, readonly [name: string, state: string]>> = {
  received: ["Received", "allow"],
  authenticated: ["Received and authenticated", "allow"],
  gated: ["Gates", "allow"],
  admitted: ["Admitted", "allow"],
  held: ["Held for approval", "held"],
  approved: ["Approved", "approved"],
  delivered: ["Delivered", "delivered"],
  failed: ["Failed", "failed"],
  blocked: ["Refused", "blocked"],
  recorded: ["Recorded only", "recorded"],
  rejected: ["Rejected", "rejected"],
  expired: ["Expired", "expired"],
  cancelled: ["Cancelled", "cancelled"],
  cancelling: ["Being cancelled", "cancelled"],
  replayed: ["Replayed", "retrying"],
  payload_erased: ["Payload erased", "erased"],
};

const words = (stage: string): string => stage.charAt(0).toUpperCase() + stage.slice(1).replaceAll("_", " ");

const OUTCOMES: Readonly<Record<string, string>> = { succeeded: "succeeded", failed: "failed", unknown: "unknown" };

/** After these nothing is under way until the event is replayed: the time until the next stage is no stage's own. */
const NOTHING = "Nothing under way";
const ENDS = ["delivered", "failed", "blocked", "recorded", "rejected", "expired", "cancelled"];

/** Of very many stages an event's own answer has these first ones and the last; the others came in between. */
const FIRST_STAGES = 10;

/** `now` ends what still goes on: a hold and a running attempt. `leftOut` stages in the middle were not told. */
export const eventStages = (told: readonly ToldStage[], now: number, leftOut = 0): readonly EventStage[] => {
  const stages: EventStage[] = [];
  let at = Date.parse(told[0]?.at ?? "");
  let isOver = false;
  for (const [nth, it] of told.entries()) {
    const moment = Date.parse(it.at);
    if (nth === FIRST_STAGES && leftOut > 0) {
      const name = `${counted(leftOut, "stage")} not shown`;
      stages.push({ name, state: "skipped", start: at, end: Math.max(at, moment), isWait: true, isMoment: false });
      at = Math.max(at, moment);
    }
    const note = it.reason === undefined || it.reason === "" ? {} : { note: it.reason };
    if (it.stage === "attempt") {
      if (moment - at > 1) {
        const name = `Wait before attempt ${it.number ?? ""}`;
        stages.push({ name, state: "queued", start: at, end: moment, isWait: true, isMoment: false });
      }
      const isRunning = it.outcome === undefined || it.outcome === "running";
      const end = moment + (it.duration_ms ?? (isRunning ? Math.max(0, now - moment) : 0));
      const code = it.status_code === null || it.status_code === undefined ? {} : { note: String(it.status_code) };
      const state = OUTCOMES[it.outcome ?? ""] ?? "delivering";
      stages.push({
        name: `Attempt ${it.number ?? ""}`,
        state,
        start: moment,
        end,
        isWait: false,
        isMoment: false,
        ...code,
        ...(it.number === undefined ? {} : { attempt: it.number }),
      });
      at = Math.max(at, end);
    } else if (it.stage === "held") {
      const next = told[nth + 1];
      const end = next === undefined ? Math.max(now, moment) : Date.parse(next.at);
      stages.push({
        name: "Held for approval",
        state: "held",
        start: moment,
        end,
        isWait: true,
        isMoment: false,
        ...note,
      });
      at = end;
    } else if (it.stage !== "received") {
      const [name, state] = WORDS[it.stage] ?? [words(it.stage), "unknown"];
      if (isOver && moment - at > 1)
        stages.push({ name: NOTHING, state: "queued", start: at, end: moment, isWait: true, isMoment: false });
      const isMoment = isOver || moment - at < 0.5;
      const start = isOver ? moment : Math.min(at, moment);
      stages.push({ name, state, start, end: moment, isWait: false, isMoment, ...note });
      at = Math.max(at, moment);
    }
    isOver = ENDS.includes(it.stage) || (isOver && it.stage !== "replayed");
  }
  return stages;
};
