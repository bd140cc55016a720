import type { EventLog } from "../../domain/ports.ts";
import type { Observer } from "./observer.ts";

/** The same log, each append's time told. */
export const measuredLog = (log: EventLog, { appended }: Pick<Observer, "appended">): EventLog => ({
  ...log,
  async append(stream, expected, events) {
    const from = performance.now();
    try {
      const answer = await log.append(stream, expected, events);
      appended(performance.now() - from, answer.outcome);
      return answer;
    } catch (error) {
      appended(performance.now() - from, "failed");
      throw error;
    }
  },
});
