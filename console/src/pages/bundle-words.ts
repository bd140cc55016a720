import { count, duration } from "../../design/format.ts";
import type { ShownStage } from "../../design/waterfall-scale.ts";
import { isWaiting, type Stopped, waitText } from "./endpoint-text.ts";

/** What a bundle's steps did, and how they are undone, in words and as bars. Pure. */

export type Step = {
  readonly index: number;
  readonly action: string;
  readonly status: string;
  readonly reversibility: string;
  readonly compensation: string | null;
  readonly event_id: string | null;
  readonly compensation_event_id: string | null;
  readonly refusal: { readonly detail: string } | null;
  readonly resolution: { readonly comment: string } | null;
  readonly times?:
    | {
        readonly started_at: string | null;
        readonly ended_at: string | null;
        readonly undo_started_at: string | null;
        readonly undo_ended_at: string | null;
      }
    | undefined;
};

/** The event of a step, or of its undo, as far as it was read. */
export type Sent = {
  readonly status?: string;
  readonly attempt_count: number;
  readonly failure: { readonly detail: string } | null;
};

/** The steps that no undo takes back, as far as they were done or may still be done. */
export const finalSteps = <S extends Pick<Step, "status" | "reversibility">>(
  status: string,
  steps: readonly S[],
): readonly S[] => {
  const begins = ["held", "running"].includes(status);
  return steps.filter(
    (step) =>
      step.reversibility === "irreversible" &&
      (WENT_OUT.includes(step.status) || ["running", "unknown"].includes(step.status) || begins),
  );
};

/** People count steps from one. */
export const numberOf = ({ index }: Pick<Step, "index">): number => index + 1;

/** What a bundle without a name is called: "48 × stock.move, payout.send". */
export const actionsText = (steps: readonly Pick<Step, "action">[]): string => {
  const counts = new Map<string, number>();
  for (const { action } of steps) counts.set(action, (counts.get(action) ?? 0) + 1);
  return [...counts].map(([action, times]) => (times === 1 ? action : `${times} × ${action}`)).join(", ");
};

/** The service's reasons count from zero, and end without a full stop. */
export const reasonText = (reason: string): string =>
  reason.replace(/^Step (\d+) \(/, (_, index: string) => `Step ${Number(index) + 1} (`).replace(/(?<![.!?])$/, ".");

type Listed = {
  readonly status: string;
  readonly reason?: string | null | undefined;
  readonly steps: readonly Pick<Step, "index" | "action" | "status" | "resolution">[];
};

/** Why a bundle is in its state, in one line of a list: what it waits for, how far it is, what is left, or why it ended. */
export const whyInState = ({ status, reason, steps }: Listed): string => {
  if (status === "held") return "It waits for a decision.";
  if (status === "running") {
    const done = steps.filter((step) => WENT_OUT.includes(step.status)).length;
    return `${done} of ${count(steps.length)} are done.`;
  }
  const left = steps.filter((step) => step.status === "compensation_failed" && step.resolution === null);
  const [only] = left;
  if (status === "rollback_incomplete" && only !== undefined)
    return left.length === 1
      ? `Step ${numberOf(only)} (${only.action}) was not undone.`
      : `${left.length} steps were not undone.`;
  return reason == null ? "" : reasonText(reason);
};

const WENT_OUT: readonly string[] = ["succeeded", "compensated", "compensation_failed"];
/** A state whose bar has no colour: what a step did is plain, whatever became of it later. */
const PLAIN = "recorded";
const CANNOT = "It cannot be undone";

const failureOf = ({ refusal }: Step, sent: Sent | undefined): string | null =>
  refusal?.detail ?? sent?.failure?.detail ?? null;

/** What gates found at the steps of a bundle that they refused stands in its verdict, and not with its steps. */
export const withRefusals = <S extends Pick<Step, "index" | "refusal">>(
  steps: readonly S[],
  refused: ReadonlyMap<number, string>,
): readonly S[] =>
  steps.map((step) => {
    const detail = refused.get(step.index);
    return detail === undefined ? step : { ...step, refusal: { code: "refused", detail } };
  });

/** Only the steps of a bundle that people decide on are held; those of a running one have not come to their turn. */
export const shownState = (bundle: string, { status, refusal }: Pick<Step, "status" | "refusal">): string => {
  if (bundle === "blocked" && refusal !== null) return "blocked";
  return status === "pending" && bundle !== "held" ? "queued" : status;
};

/** True if the step's event is not being sent just now. */
export const isHeldUp = ({ status }: Pick<Step, "status">, sent: Sent | undefined): boolean =>
  status === "running" && isWaiting(sent?.status);

/** `to` is the endpoint's name; `stopped` the endpoint, if nothing is sent there at present. */
export const whatItDid = (step: Step, to: string, sent: Sent | undefined, stopped: Stopped | null = null): string => {
  if (WENT_OUT.includes(step.status)) return `Sent to ${to}`;
  const failure = failureOf(step, sent);
  if (step.status === "unknown") return `Unknown: ${to} may have done it. ${failure ?? ""}`.trim();
  if (stopped !== null && isHeldUp(step, sent)) return waitText(stopped);
  if (step.status === "running") return `It is being sent to ${to}`;
  if (failure !== null) return `Nothing: ${failure}`;
  if (step.status === "pending") return "Nothing yet";
  return step.status === "failed" ? `Nothing: ${to} refused it` : "Nothing: it was never started";
};

const times = (count: number): string => (count === 1 ? "once" : `${count} times`);

/** What stands after the name of the action that undoes it, or alone without one; not of what people undid by hand. */
export const howUndone = (step: Step, undo: Sent | undefined): string => {
  const { status, reversibility, compensation, compensation_event_id: event } = step;
  if (event !== null && status === "compensated") return "succeeded";
  if (event !== null && status === "compensation_failed")
    return `failed ${undo === undefined ? "" : times(undo.attempt_count)}: ${undo?.failure?.detail ?? "it was refused"}`;
  if (event !== null) return "is being sent";
  if (status === "failed" || status === "skipped") return "There is nothing to undo";
  if (reversibility === "irreversible") return CANNOT;
  return compensation === null ? "The receiver undoes it by itself" : "undoes it";
};

const at = (time: string | null | undefined): number | null => (time == null ? null : Date.parse(time));

const isRefused = ({ status }: Step): boolean => status === "failed" || status === "unknown";

const noteOf = (step: Step, sent: Sent | undefined): string => {
  if (isRefused(step)) return failureOf(step, sent) ?? "";
  if (WENT_OUT.includes(step.status) && step.reversibility === "irreversible") return "sent; it cannot be undone";
  return "";
};

const undoOf = (step: Step, undo: Sent | undefined, now: number): Partial<Pick<ShownStage, "undo">> => {
  const start = at(step.times?.undo_started_at);
  if (start === null) return {};
  const ended = at(step.times?.undo_ended_at);
  // A person who undid it later did so after the service's undo had failed.
  const isFailed = step.status === "compensation_failed" || step.resolution !== null;
  const failed =
    undo === undefined ? "undo failed" : `${undo.attempt_count} ${undo.attempt_count === 1 ? "undo" : "undos"} refused`;
  const state = isFailed ? "failed" : ended === null ? "running" : "compensated";
  const note = isFailed ? failed : state === "running" ? "being undone" : "undone";
  return { undo: { name: step.action, start, end: ended ?? now, isWait: false, state, note } };
};

const absentNote = (step: Step, sent: Sent | undefined): string => {
  const failure = failureOf(step, sent);
  const isLast = step.reversibility === "irreversible" ? "; it cannot be undone, so it comes last" : "";
  return failure === null ? `not started${isLast}` : `never sent: ${failure}`;
};

const tookOf = (step: Step, now: number): string => {
  const { started_at, ended_at, undo_started_at, undo_ended_at } = step.times ?? {};
  const spans = [
    [at(started_at), at(ended_at)],
    [at(undo_started_at), at(undo_ended_at)],
  ] as const;
  return spans.flatMap(([from, to]) => (from === null ? [] : [duration((to ?? now) - from)])).join(", ") || "–";
};

/** One row a step, with a bar for the step and one for its undo. */
export const stepStages = (
  steps: readonly Step[],
  sentAs: (id: string | null) => Sent | undefined,
  { now, bundle }: { readonly now: number /** Its status. */; readonly bundle: string },
): readonly ShownStage[] => {
  const first = steps.flatMap(({ times: it }) => at(it?.started_at) ?? []).reduce((a, b) => Math.min(a, b), now);
  return steps.map((step) => {
    const sent = sentAs(step.event_id);
    const start = at(step.times?.started_at);
    const shared = { name: `${numberOf(step)} ${step.action}`, isWait: false, took: tookOf(step, now) };
    if (start === null)
      return {
        ...shared,
        ...{ start: first, end: first, state: shownState(bundle, step) },
        ...{ isAbsent: true, note: absentNote(step, sent) },
      };
    const note = noteOf(step, sent);
    return {
      ...shared,
      ...{ start, end: at(step.times?.ended_at) ?? now },
      state: step.status,
      bar: isRefused(step) ? "failed" : step.status === "running" ? "running" : PLAIN,
      ...(note === "" ? {} : { note }),
      ...undoOf(step, sentAs(step.compensation_event_id), now),
    };
  });
};

/** When the first step was undone, or the last one ended before it; null if nothing was. */
export const turnedAt = (steps: readonly Step[]): number | null => {
  const undos = steps.flatMap(({ times: it }) => at(it?.undo_started_at) ?? []);
  return undos.length === 0 ? null : undos.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
};
