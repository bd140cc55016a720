import { accept, type Decision, reject } from "../decider.ts";
import { defined } from "../defined.ts";
import type { BundleRejection, CommandOf } from "./commands.ts";
import { isEstimated } from "./cost.ts";
import type { BundleEvent, Step, UndoOutcome } from "./events.ts";
import { type Next, nextOf } from "./next.ts";
import { withConclusion } from "./rollback.ts";
import type { RunningBundle } from "./state.ts";
import { isToUndoByHand } from "./status.ts";

type Decided = Decision<BundleEvent, BundleRejection>;

export type Move = CommandOf<"StartStep" | "RefuseStep" | "EndStep" | "StartUndo" | "EndUndo">;

const FOR = {
  StartStep: ["start"],
  RefuseStep: ["start"],
  EndStep: ["admit", "cancel-step"],
  StartUndo: ["undo"],
  EndUndo: ["admit-undo"],
} as const satisfies Record<Move["type"], readonly Next["do"][]>;

/** True if the command is what `nextOf` asks for; else it was carried out before, or decided on an older state. */
const isNext = ({ type, index }: Move, state: RunningBundle): boolean => {
  const next = nextOf(state);
  return "index" in next && next.index === index && FOR[type].some((it) => it === next.do);
};

const named = ({ index, action }: Step): string => `Step ${index} (${action.name})`;

export const decideMove = (command: Move, state: RunningBundle): Decided => {
  const step = state.request.steps[command.index];
  if (step === undefined || !isNext(command, state)) return reject("not-next");
  const { index, at } = command;
  const about = { bundle_id: state.request.bundle_id, index, at };
  const rollback = (reason: string): BundleEvent => ({ type: "RollbackStarted", data: { ...about, reason } });
  switch (command.type) {
    case "StartStep":
      return accept({ type: "StepStarted", data: { ...about, event_id: step.event_id, payload: command.payload } });
    case "StartUndo":
      return accept({
        type: "UndoStarted",
        data: { ...about, event_id: step.undo_event_id, payload: command.payload },
      });
    case "RefuseStep": {
      const { refusal } = command;
      const refused: BundleEvent = { type: "StepRefused", data: { ...about, ...refusal } };
      const reason = `${named(step)} was not started: ${refusal.detail}`;
      return accept(...withConclusion(state, [refused, rollback(reason)], at));
    }
    case "EndStep": {
      const { outcome, cost, reported, neverSent } = command;
      const { event_id } = step;
      const data = defined({ ...about, event_id, outcome, cost, reported, never_sent: neverSent });
      const ended: BundleEvent = { type: "StepEnded", data };
      if (outcome === "succeeded" || state.rollback !== null) return accept(...withConclusion(state, [ended], at));
      const what = outcome === "failed" ? "failed" : "has an unknown outcome";
      return accept(...withConclusion(state, [ended, rollback(`${named(step)} ${what}`)], at));
    }
    case "EndUndo": {
      const outcome: UndoOutcome = command.outcome === "succeeded" ? "compensated" : "failed";
      const done = state.steps[index];
      const gives_back =
        outcome === "compensated" && done !== undefined && isEstimated(done) ? step.event_id : undefined;
      const data = defined({ ...about, outcome, cost: command.cost, gives_back });
      const undone: BundleEvent = { type: "StepUndone", data };
      return accept(...withConclusion(state, [undone], at));
    }
  }
};

/** The rollback is recorded at once, but a step that is under way is awaited before anything is undone. */
export const decideCancelRunning = ({ reason, at }: CommandOf<"Cancel">, state: RunningBundle): Decided => {
  if (state.end !== null) return reject("already-ended");
  if (state.rollback !== null) return accept();
  const { bundle_id } = state.request;
  return accept(
    ...withConclusion(state, [{ type: "RollbackStarted", data: { bundle_id, reason, index: null, at } }], at),
  );
};

/** A step may be resolved as soon as its undo has failed or is impossible, even while other undos are under way. */
export const decideResolve = ({ index, by, comment, at }: CommandOf<"Resolve">, state: RunningBundle): Decided => {
  const step = state.steps[index];
  if (step?.phase === "undone" && isToUndoByHand(step)) {
    return accept({ type: "StepResolved", data: { bundle_id: state.request.bundle_id, index, by, comment, at } });
  }
  if (step?.phase !== "resolved") return reject("nothing-to-resolve");
  // A member who clicks twice sends the same resolution again, which changes nothing.
  const { resolution } = step;
  return resolution.by === by && resolution.comment.id === comment.id ? accept() : reject("nothing-to-resolve");
};
