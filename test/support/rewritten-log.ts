import type { JsonObject } from "../../domain/json.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";

/** The data of the events of this type, as an attacker has rewritten them in the log's file. */
export type Rewrite = { readonly type: string; readonly data: (data: JsonObject) => JsonObject };

/** The log as it reads after records were rewritten in its file. */
export const rewrittenLog = (log: EventLog, { type, data }: Rewrite): EventLog => {
  const seen = (event: RecordedEvent): RecordedEvent =>
    event.type === type ? { ...event, data: data(event.data) } : event;
  return {
    ...log,
    read: async (...args) => (await log.read(...args)).map(seen),
    readAll: async (...args) => (await log.readAll(...args)).map(seen),
    async last(stream) {
      const last = await log.last(stream);
      return last === null ? null : seen(last);
    },
    async readTypes(...args) {
      const page = await log.readTypes(...args);
      return { ...page, events: page.events.map(seen) };
    },
  };
};
