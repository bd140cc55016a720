import { type PresentSource, source as sourceDecider } from "../../domain/source/decider.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { notFound, type Problem, problem } from "../streams/problems.ts";

/** The source that a webhook is addressed to, or why it takes nothing; rejects with the log's errors. */
export type ActiveSource = (provider: string, sourceId: string) => Promise<PresentSource | Problem>;

const SOURCE_ID = /^src_[a-z2-7]{32}$/;

/** Asked twice a webhook: before its body is read, so that nobody is read for nothing, and once it is there, as a body may
 * be half a minute under way while its source is paused or its secret revoked. The second answer comes from the cache. */
export const activeSource =
  (aggregates: Pick<Aggregates, "load">): ActiveSource =>
  async (provider, sourceId) => {
    // What is no id is no stream's name either.
    if (!SOURCE_ID.test(sourceId)) return notFound();
    const { state: source } = await aggregates.load(sourceDecider, `source-${sourceId}`);
    if (source.phase !== "present" || source.type !== provider) return notFound();
    if (source.settings.status === "paused") {
      const about = async () => ({ account: source.account, subject: sourceId });
      return problem("source-paused", "The source is paused: nothing is accepted until it is active again.", { about });
    }
    return source;
  };
