import { defined } from "../../domain/defined.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import type { CloudEvent } from "../../domain/ports/feed.ts";
import { categoryOf } from "../../projections/streams.ts";
import { withoutSealed } from "../audit/sealed.ts";
import type { PositionText } from "../http/position-text.ts";
import { NO_TRACE } from "../streams/envelope.ts";

/** Such streams are never published: payloads and personal data can be erased from the log, but not from Kafka. */
const UNFED: ReadonlySet<string> = new Set(["payload", "personal", "checkpoint"]);

export const isFed = ({ stream }: Pick<RecordedEvent, "stream">): boolean => !UNFED.has(categoryOf(stream));

const sourceOf = (account: string, stream: string): string => {
  const path = `/streams/${encodeURIComponent(stream)}`;
  return account === "" ? path : `/accounts/${encodeURIComponent(account)}${path}`;
};

/** Consumers recognise a repeated event by `source` and `id`, which are the same whichever engine the log is in. */
export const cloudEvent = (
  { id, type, data, meta, stream, revision, position }: RecordedEvent,
  positions: Pick<PositionText, "of">,
): CloudEvent => ({
  specversion: "1.0",
  id,
  source: sourceOf(meta.account, stream),
  type: `io.countersign.${type}.v${meta.schema}`,
  subject: stream,
  time: meta.recorded_at,
  datacontenttype: "application/json",
  ...defined({ account: meta.account || undefined }),
  revision,
  position: positions.of(position),
  actorkind: meta.actor.kind,
  actorid: meta.actor.id,
  // The log keeps no trace flags, so `traceparent` always says "sampled" (01), as in requests to receivers.
  ...defined({
    traceparent: meta.trace_id === NO_TRACE.trace_id ? undefined : `00-${meta.trace_id}-${meta.span_id}-01`,
    causationid: meta.causation_id ?? undefined,
  }),
  data: withoutSealed(data),
});
