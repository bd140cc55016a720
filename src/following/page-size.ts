import type { RecordedEvent } from "../../domain/ports/event-log.ts";

/** Records have from 300 bytes to 1 MiB, so a limit of their number would not limit the memory that a page takes. */
const PAGE_CHARS_MAX = 8 * 1024 * 1024;
const EVENTS_MIN = 8;

export type PageSize = { events(): number; learn(page: readonly RecordedEvent[]): void };

/** The characters of the texts at the top of a record's data, which is where long ones are. */
export const charsOf = ({ data }: RecordedEvent): number => {
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
