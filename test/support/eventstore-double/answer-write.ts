import type { ServiceError } from "@grpc/grpc-js";
import type { Context } from "./context.ts";
import type { Misbehaviour } from "./misbehaviour.ts";
import { callError, notLeaderError } from "./wire.ts";

/** How one write can be answered; over the batch path and over a call of its own this differs. */
export type Answer<Result> = {
  readonly reply: (result: Result) => void;
  /** Ends the whole call. */
  readonly fail: (error: ServiceError) => void;
  readonly timeout: () => void;
  readonly cut: () => void;
};

/** What is not written is refused at once. */
const answerLate = <Result>(
  { state, later }: Context,
  ms: number,
  commit: () => Result,
  { reply }: Pick<Answer<Result>, "reply">,
): void => {
  const { end } = state;
  const result = commit();
  const answer = (): void => {
    state.unread.delete(end);
    reply(result);
  };
  if (state.end === end) answer();
  else {
    state.unread.add(end);
    later(ms, answer);
  }
};

/** Writes and answers, or does what the misbehaviour says. */
export const answerWrite = <Result>(
  context: Context,
  odd: Misbehaviour | null,
  commit: () => Result,
  answer: Answer<Result>,
) => {
  if (odd === null) return answer.reply(commit());
  switch (odd.how) {
    case "late":
      return answerLate(context, odd.ms, commit, answer);
    case "position":
    case "end":
    case "repeat-event":
    case "repeat-page":
      return answer.reply(commit());
    case "not-leader":
      return answer.fail(notLeaderError(odd.leader));
  }
  const written = odd.committed === true ? { result: commit() } : null;
  switch (odd.how) {
    case "silent":
      return;
    case "slow":
      return context.later(odd.ms, () => answer.reply(written === null ? commit() : written.result));
    case "cut":
      return answer.cut();
    case "timeout":
      return answer.timeout();
    case "error":
      return answer.fail(callError(odd.code, odd.details));
  }
};
