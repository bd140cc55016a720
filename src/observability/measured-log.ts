import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Observer } from "./observer.ts";
import type { AppendsReading } from "./readings.ts";

const MS_PER_S = 1_000;

export type MeasuredLog = { readonly log: EventLog; readonly appends: () => AppendsReading };

export const measuredLog = (log: EventLog, { appended }: Pick<Observer, "appended">): MeasuredLog => {
  const underWay = new Set<{ readonly from: number }>();
  return {
    log: {
      ...log,
      async append(stream, expected, events) {
        const call = { from: performance.now() };
        underWay.add(call);
        try {
          const answer = await log.append(stream, expected, events);
          appended(performance.now() - call.from, answer.outcome);
          return answer;
        } catch (error) {
          appended(performance.now() - call.from, "failed");
          throw error;
        } finally {
          underWay.delete(call);
        }
      },
    },
    appends() {
      const [oldest] = underWay;
      const oldestS = oldest === undefined ? 0 : (performance.now() - oldest.from) / MS_PER_S;
      return { count: underWay.size, oldestS };
    },
  };
};
