import { approval } from "../../domain/approval/decider.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { approvalStream } from "../approvals/approvals.ts";
import { foldStream, type StreamState } from "../streams/run-command.ts";
import type { Outcomes, WaitOptions } from "./outcome-waits.ts";

export type Waitable<S> = {
  readonly id: string;
  readonly known: StreamState<S>;
  readonly heldFor: (state: S) => string | null;
  readonly hasEnded: (state: S) => boolean;
};

/** A decision takes effect a moment later: until then a request that people have decided still looks held. */
const isDecided = async (log: EventLog, approvalId: string): Promise<boolean> => {
  const { state: asked } = await foldStream(log, approval, approvalStream(approvalId));
  return asked.phase === "requested" && asked.end !== null;
};

/** The caller waits for what follows people's decision, and never for the decision. */
export const untilEndedOrHeld = async <S>(
  log: EventLog,
  outcomes: Pick<Outcomes<S>, "wait">,
  { id, known, heldFor, hasEnded }: Waitable<S>,
  options: Omit<WaitOptions<S>, "isEnough">,
): Promise<StreamState<S>> => {
  const until = performance.now() + options.waitMs;
  const isEnough = (state: S): boolean => heldFor(state) !== null || hasEnded(state);
  const seen = await outcomes.wait(id, known, { ...options, isEnough });
  const approvalId = heldFor(seen.state);
  if (approvalId === null || !(await isDecided(log, approvalId))) return seen;
  const waitMs = until - performance.now();
  return outcomes.wait(id, seen, { ...options, waitMs, isEnough: hasEnded });
};
