import type { CloudEvent } from "../../domain/ports/feed.ts";

/** The content type for structured mode in JSON (CloudEvents' Kafka protocol binding 1.0.2, section 3.3.1). */
const CONTENT_TYPE = "application/cloudevents+json; charset=utf-8";

/** A message has no timestamp: with the time of its record, a topic's retention would drop old records on arrival. */
export type FeedMessage = {
  readonly key: string;
  readonly value: Buffer;
  readonly headers: { readonly "content-type": string };
};

export const messageOf = (event: CloudEvent): FeedMessage => ({
  key: event.subject,
  value: Buffer.from(JSON.stringify(event)),
  headers: { "content-type": CONTENT_TYPE },
});

/** An event too large for any broker is sent without data, else it would stop the feed; consumers follow `dataref`. */
export const withoutData = ({ data: _, ...event }: CloudEvent): CloudEvent => ({
  ...event,
  dataref: `/v1/audit?stream=${encodeURIComponent(event.subject)}`,
});

export type Batch = { readonly events: readonly CloudEvent[]; readonly messages: readonly FeedMessage[] };

const BATCH_MESSAGES_MAX = 500;
/** Half of what brokers accept by default as a batch for one partition; counted before compression. */
const BATCH_BYTES_MAX = 512 * 1024;
const MESSAGE_EXTRA_BYTES = 100;

export function* batchesOf(events: readonly CloudEvent[]): Generator<Batch> {
  let batch: { events: CloudEvent[]; messages: FeedMessage[] } = { events: [], messages: [] };
  let bytes = 0;
  for (const event of events) {
    const message = messageOf(event);
    const size = message.value.length + Buffer.byteLength(message.key) + MESSAGE_EXTRA_BYTES;
    const isFull = batch.events.length >= BATCH_MESSAGES_MAX || bytes + size > BATCH_BYTES_MAX;
    if (isFull && batch.events.length > 0) {
      yield batch;
      batch = { events: [], messages: [] };
      bytes = 0;
    }
    batch.events.push(event);
    batch.messages.push(message);
    bytes += size;
  }
  if (batch.events.length > 0) yield batch;
}
