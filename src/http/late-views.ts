import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Problem } from "../streams/problems.ts";
import type { ViewProgress } from "../views/view-progress.ts";
import { VIEW_WAIT_MS } from "./limits.ts";
import { type Answer, isProblem, type Route } from "./route.ts";

type LateViewsDeps = { readonly progress: Pick<ViewProgress, "waitFor">; readonly head: EventLog["head"] };

/**
 * Handles a read again if it found nothing, once its views have folded what the log has by then. So what was just made
 * is found at its address, although views lag.
 */
export const onceFolded = async (
  { method, reads }: Pick<Route, "method" | "reads">,
  { progress, head }: LateViewsDeps,
  handle: () => Promise<Answer | Problem>,
): Promise<Answer | Problem> => {
  const answer = await handle();
  if (method !== "GET" || reads === undefined || !isProblem(answer) || answer.problem !== "not-found") return answer;
  const end = await head("records");
  return end !== null && (await progress.waitFor(reads, end, VIEW_WAIT_MS)) ? handle() : answer;
};
