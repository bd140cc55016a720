import { type PresentSource, source as sourceDecider } from "../../domain/source/decider.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { goOn, type OrPromise } from "../streams/or-promise.ts";
import { notFound, type Problem, problem } from "../streams/problems.ts";

export type ActiveSource = (provider: string, sourceId: string) => OrPromise<PresentSource | Problem>;

const SOURCE_ID = /^src_[a-z2-7]{32}$/;

/** Called before and after a webhook's body is read, because its source may be paused meanwhile. */
export const activeSource =
  (aggregates: Pick<Aggregates, "load">): ActiveSource =>
  (provider, sourceId) => {
    if (!SOURCE_ID.test(sourceId)) return notFound();
    return goOn(aggregates.load(sourceDecider, `source-${sourceId}`), ({ state: source }) => {
      if (source.phase !== "present" || source.type !== provider) return notFound();
      if (source.settings.status !== "paused") return source;
      const about = async () => ({ account: source.account, subject: sourceId });
      return problem("source-paused", "The source is paused: nothing is accepted until it is active again.", { about });
    });
  };
