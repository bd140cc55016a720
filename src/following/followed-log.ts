import type { EventLog, GroupedOutcome, NewEvent, Position } from "../../domain/ports/event-log.ts";
import { numberOf, positionOf } from "../../infra/event-log-arguments.ts";
import type { RecentRecords } from "./recent-records.ts";

/** The embedded log numbers its records without gaps, so an append tells which records it has added, and where. */
const noteOwn = (recent: RecentRecords, events: readonly NewEvent[], upTo: Position): void => {
  const before = numberOf(upTo) - events.length;
  const records = events.flatMap(({ type }, index) =>
    recent.wants(type) ? [{ type, position: positionOf(before + 1 + index) }] : [],
  );
  recent.offer({ after: before === 0 ? null : positionOf(before), upTo, records });
};

/** Tells `recent` of each append. Where positions count records, its followers need not look for what it knows. */
export const followedLog = (log: EventLog, recent: RecentRecords, countsRecords: boolean): EventLog => {
  const note = (events: readonly NewEvent[], answer: GroupedOutcome): void => {
    if (answer.outcome !== "appended") return;
    if (countsRecords) noteOwn(recent, events, answer.position);
    else recent.appendedHere();
  };
  return {
    ...log,
    async append(stream, expected, events) {
      const answer = await log.append(stream, expected, events);
      note(events, answer);
      return answer;
    },
    async appendGroup(appends, onAnswer) {
      const answers = await log.appendGroup(appends, onAnswer);
      for (const [index, { events }] of appends.entries()) {
        const answer = answers[index];
        if (answer !== undefined) note(events, answer);
      }
      return answers;
    },
    // Elsewhere one reader of this process follows the log for all.
    onAppended: countsRecords ? log.onAppended : (wake) => recent.onGrowth(wake),
  };
};
