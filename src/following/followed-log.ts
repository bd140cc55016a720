import type { EventLog, GroupedAppend, GroupedOutcome, NewEvent, Position } from "../../domain/ports/event-log.ts";
import { numberOf, positionOf } from "../../infra/event-log-arguments.ts";
import type { RecentRecords } from "./recent-records.ts";

/** The embedded log numbers its records without gaps, so an append tells which records it has added, and where. */
const noteOwn = (recent: RecentRecords, events: readonly NewEvent[], upTo: Position): void => {
  const before = numberOf(upTo) - events.length;
  const records: { readonly type: string; readonly position: Position }[] = [];
  for (const [index, { type }] of events.entries()) {
    if (recent.wants(type)) records.push({ type, position: positionOf(before + 1 + index) });
  }
  recent.offer({ after: before === 0 ? null : positionOf(before), upTo, records });
};

/** Appends of a group that stand together in the log, as most do, are told as one. */
const noteGroup = (
  recent: RecentRecords,
  appends: readonly GroupedAppend[],
  answers: readonly GroupedOutcome[],
): void => {
  let events: NewEvent[] = [];
  let end = 0;
  for (let index = 0; index < appends.length; index += 1) {
    const answer = answers[index];
    const own = appends[index]?.events;
    if (own === undefined || answer?.outcome !== "appended") continue;
    const upTo = numberOf(answer.position);
    if (events.length > 0 && upTo - own.length !== end) {
      noteOwn(recent, events, positionOf(end));
      events = [];
    }
    events.push(...own);
    end = upTo;
  }
  if (events.length > 0) noteOwn(recent, events, positionOf(end));
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
      if (countsRecords) noteGroup(recent, appends, answers);
      else if (answers.some(({ outcome }) => outcome === "appended")) recent.appendedHere();
      return answers;
    },
    // Elsewhere one reader of this process follows the log for all.
    onAppended: countsRecords ? log.onAppended : (wake) => recent.onGrowth(wake),
  };
};
