import type { RecordedEvent } from "../domain/ports/event-log.ts";

const DELIVERY = "delivery-";
const BUNDLE = "bundle-";

export const categoryOf = (stream: string): string => stream.slice(0, Math.max(0, stream.indexOf("-")));

export const subjectOf = (stream: string): string => stream.slice(stream.indexOf("-") + 1);

/** The event's id if the record is in a delivery's stream, else null. */
export const deliveryOf = ({ stream }: RecordedEvent): string | null =>
  stream.startsWith(DELIVERY) ? stream.slice(DELIVERY.length) : null;

/** The bundle's id if the record is in a bundle's stream, else null. */
export const bundleOf = ({ stream }: RecordedEvent): string | null =>
  stream.startsWith(BUNDLE) ? stream.slice(BUNDLE.length) : null;
