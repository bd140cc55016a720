import type { RecordedEvent } from "../../domain/ports/event-log.ts";

/**
 * Characters of one page that are held at once. Payloads of up to 1 MiB stand in the log beside records of 300 bytes,
 * so a page measured in events alone would be some hundred KiB or some hundred MiB.
 */
const PAGE_CHARS_MAX = 8 * 1024 * 1024;
const EVENTS_MIN = 8;

/** How many events the next page may have, learnt from those before. */
export type PageSize = { events(): number; learn(page: readonly RecordedEvent[]): void };

/** The texts directly in the data: what is long in an event is one of them. */
const charsOf = ({ data }: RecordedEvent): number => {
  let chars = 0;
  for (const key in data) {
    const value = data[key];
    if (typeof value === "string") chars += value.length;
  }
  return chars;
};

export const pageSize = (eventsMax: number): PageSize => {
  let events = Math.min(eventsMax, 64);
  return {
    events: () => events,
    learn(page) {
      const chars = page.reduce((sum, event) => sum + charsOf(event), 0);
      if (chars > PAGE_CHARS_MAX) events = Math.max(EVENTS_MIN, Math.floor((page.length * PAGE_CHARS_MAX) / chars));
      else if (page.length >= events && chars * 2 < PAGE_CHARS_MAX) events = Math.min(eventsMax, events * 2);
    },
  };
};
