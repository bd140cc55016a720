import type { AppendAnswered, AppendOutcome, GroupedAppend, GroupedOutcome } from "../../domain/ports/event-log.ts";
import { errorMessage } from "../error-message.ts";
import { isAppended, REFUSED } from "../grouped-appends.ts";
import { AppendTooLarge, LogUnavailable, OutcomeUnknown } from "../log-errors.ts";

const isUnwritten = (error: unknown): boolean => error instanceof LogUnavailable || error instanceof AppendTooLarge;

/**
 * Sends a group to a log without transactions over streams: every append at once that waits for no other. An append waits
 * for those that it follows, and for the one before it in its stream, which a retry could otherwise overtake. Where one of
 * these fails, it is not sent.
 */
export const groupAppends = async <A extends Pick<GroupedAppend, "stream" | "follows">>(
  appends: readonly A[],
  append: (one: A) => Promise<AppendOutcome>,
  onAnswer: AppendAnswered = () => undefined,
): Promise<readonly GroupedOutcome[]> => {
  const answers: Promise<GroupedOutcome>[] = [];
  const newestIn = new Map<string, Promise<GroupedOutcome>>();

  const send = async (one: A, before: Promise<GroupedOutcome> | undefined): Promise<GroupedOutcome> => {
    if (before === undefined && one.follows.length === 0) return append(one);
    const followed = await Promise.all(one.follows.map((index) => answers[index]));
    await before;
    return followed.every(isAppended) ? append(one) : REFUSED;
  };

  const sendAt = async (one: A, index: number): Promise<GroupedOutcome> => {
    const answer = await send(one, newestIn.get(one.stream));
    onAnswer(index, answer);
    return answer;
  };

  for (const [index, one] of appends.entries()) {
    const answer = sendAt(one, index);
    answers.push(answer);
    newestIn.set(one.stream, answer);
  }
  const settled = await Promise.allSettled(answers);
  const failed = settled.filter((result) => result.status === "rejected");
  const [first] = failed;
  if (first === undefined) return Promise.all(answers);
  const isNothingWritten =
    failed.every(({ reason }) => isUnwritten(reason)) &&
    !settled.some((result) => result.status === "fulfilled" && isAppended(result.value));
  throw isNothingWritten ? first.reason : new OutcomeUnknown(errorMessage(first.reason));
};
