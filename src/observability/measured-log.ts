import type { EventLog, GroupedOutcome } from "../../domain/ports/event-log.ts";
import type { Observer } from "./observer.ts";
import type { AppendsReading } from "./readings.ts";

const MS_PER_S = 1_000;

export type MeasuredLog = { readonly log: EventLog; readonly appends: () => AppendsReading };

type Call = { readonly from: number; readonly appends: number };

const isAppended = ({ outcome }: GroupedOutcome): boolean => outcome === "appended";

export const measuredLog = (log: EventLog, { appended }: Pick<Observer, "appended">): MeasuredLog => {
  const underWay = new Set<Call>();

  /** `appendedOf` tells how many of the call's appends are in the log. */
  const measured = async <T>(appends: number, run: () => Promise<T>, appendedOf: (answer: T) => number): Promise<T> => {
    const call = { from: performance.now(), appends };
    underWay.add(call);
    try {
      const answer = await run();
      const ms = performance.now() - call.from;
      const done = appendedOf(answer);
      if (done > 0) appended(ms, "appended", done);
      // A refused append is counted as a conflict, because another append of its group had one.
      if (done < appends) appended(ms, "conflict", appends - done);
      return answer;
    } catch (error) {
      appended(performance.now() - call.from, "failed", appends);
      throw error;
    } finally {
      underWay.delete(call);
    }
  };

  return {
    log: {
      ...log,
      append: (stream, expected, events) =>
        measured(
          1,
          () => log.append(stream, expected, events),
          (answer) => (isAppended(answer) ? 1 : 0),
        ),
      appendGroup: (appends, onAnswer) =>
        measured(
          appends.length,
          () => log.appendGroup(appends, onAnswer),
          (answers) => answers.filter(isAppended).length,
        ),
    },
    appends() {
      const [oldest] = underWay;
      const oldestS = oldest === undefined ? 0 : (performance.now() - oldest.from) / MS_PER_S;
      return { count: [...underWay].reduce((count, { appends }) => count + appends, 0), oldestS };
    },
  };
};
