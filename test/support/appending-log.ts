import type { EventLog } from "../../domain/ports/event-log.ts";
import { groupAppends } from "../../infra/eventstoredb/group-appends.ts";

/** The log with another `append`, by which the appends of a group go one by one, as where streams share no transaction. */
export const appendingLog = (log: EventLog, append: EventLog["append"]): EventLog => ({
  ...log,
  append,
  appendGroup: (appends) => groupAppends(appends, ({ stream, expected, events }) => append(stream, expected, events)),
});
