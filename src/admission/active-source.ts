import { type PresentSource, source as sourceDecider } from "../../domain/source/decider.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { notFound, type Problem, problem } from "../streams/problems.ts";

export type ActiveSource = (provider: string, sourceId: string) => Promise<PresentSource | Problem>;

const SOURCE_ID = /^src_[a-z2-7]{32}$/;

/** Called before and after a webhook's body is read, because its source may be paused meanwhile. */
export const activeSource =
  (aggregates: Pick<Aggregates, "load">): ActiveSource =>
  async (provider, sourceId) => {
    if (!SOURCE_ID.test(sourceId)) return notFound();
    const { state: source } = await aggregates.load(sourceDecider, `source-${sourceId}`);
    if (source.phase !== "present" || source.type !== provider) return notFound();
    if (source.settings.status === "paused") {
      const about = async () => ({ account: source.account, subject: sourceId });
      return problem("source-paused", "The source is paused: nothing is accepted until it is active again.", { about });
    }
    return source;
  };
