import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Observer } from "./observer.ts";
import type { AppendsReading } from "./readings.ts";

const MS_PER_S = 1_000;

export type MeasuredLog = { readonly log: EventLog; readonly appends: () => AppendsReading };

type Call = { readonly from: number; readonly appends: number };
type Outcome = Parameters<Observer["appended"]>[1];

export const measuredLog = (log: EventLog, { appended }: Pick<Observer, "appended">): MeasuredLog => {
  const underWay = new Set<Call>();

  const measured = async <T>(
    appends: number,
    run: () => Promise<T>,
    outcomeOf: (answer: T, index: number) => Outcome,
  ): Promise<T> => {
    const call = { from: performance.now(), appends };
    const report = (of: (index: number) => Outcome): void => {
      const ms = performance.now() - call.from;
      for (let index = 0; index < appends; index += 1) appended(ms, of(index));
    };
    underWay.add(call);
    try {
      const answer = await run();
      report((index) => outcomeOf(answer, index));
      return answer;
    } catch (error) {
      report(() => "failed");
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
          ({ outcome }) => outcome,
        ),
      // A refused append is counted as a conflict, because another append of its group had one.
      appendGroup: (appends, onAnswer) =>
        measured(
          appends.length,
          () => log.appendGroup(appends, onAnswer),
          (answer, index) => (answer[index]?.outcome === "appended" ? "appended" : "conflict"),
        ),
    },
    appends() {
      const [oldest] = underWay;
      const oldestS = oldest === undefined ? 0 : (performance.now() - oldest.from) / MS_PER_S;
      return { count: [...underWay].reduce((count, { appends }) => count + appends, 0), oldestS };
    },
  };
};
