import type { RecordedEvent } from "../domain/ports/event-log.ts";

type StreamName = { readonly category: string; readonly subject: string };

/** The streams of a few pages of records, some 200 bytes each. */
const NAMES_MAX = 4_096;

/**
 * Names that were taken apart. Nearly every view takes apart the name of each record's stream, and finds a document by its
 * subject: with one text for each subject these searches neither copy nor hash it again.
 */
const names = new Map<string, StreamName>();

const nameOf = (stream: string): StreamName => {
  const known = names.get(stream);
  if (known !== undefined) return known;
  if (names.size >= NAMES_MAX) names.clear();
  const dash = stream.indexOf("-");
  const name = { category: stream.slice(0, Math.max(0, dash)), subject: stream.slice(dash + 1) };
  names.set(stream, name);
  return name;
};

const subjectIn = (category: string, stream: string): string | null => {
  const name = nameOf(stream);
  return name.category === category ? name.subject : null;
};

export const categoryOf = (stream: string): string => nameOf(stream).category;

export const subjectOf = (stream: string): string => nameOf(stream).subject;

/** The event's id if the record is in a delivery's stream, else null. */
export const deliveryOf = ({ stream }: RecordedEvent): string | null => subjectIn("delivery", stream);

/** The bundle's id if the record is in a bundle's stream, else null. */
export const bundleOf = ({ stream }: RecordedEvent): string | null => subjectIn("bundle", stream);
