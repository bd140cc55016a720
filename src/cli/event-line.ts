import { defined } from "../../domain/defined.ts";
import type { DeliveryEvent, Request } from "../../domain/delivery/events.ts";
import type { DeliveryStatus } from "../../domain/delivery/status.ts";
import { eventOf } from "../../domain/events.ts";
import type { Verdict } from "../../domain/gate/verdict.ts";
import { programsPart } from "../../domain/personal/words.ts";
import { visibleLine } from "../../domain/visible-text.ts";
import type { EventSummary } from "../bodies/event-answer.ts";
import { shownTime } from "./formats.ts";
import type { StreamRecord } from "./record-stream.ts";
import { type Line, toneOfState } from "./tone.ts";

export type EventLine = Pick<EventSummary, "id" | "status" | "type" | "origin" | "endpoint_id" | "delivery_id"> & {
  readonly at: string;
  readonly detail: string | null;
  /** True if the service made the event itself, for `countersign send` or the console. */
  readonly sample: boolean;
  /** The gate and code by which a search finds a blocked event; undefined unless the event is blocked. */
  readonly refused?: { readonly gate: string; readonly code: string };
};

const violated = ({ gates }: Verdict): string | null =>
  gates
    .filter(({ outcome }) => outcome !== "allow")
    .map(({ gate, detail }) => `${gate}: ${detail}`)
    .join("; ") || null;

/** The service's search by gate or code finds only events that are still blocked, so others have no `refused`. */
const refusedIn = (status: string, verdict: Verdict): Pick<EventLine, "refused"> => {
  const refusal = status === "blocked" ? verdict.gates.find(({ outcome }) => outcome === "deny") : undefined;
  return defined({ refused: refusal && { gate: refusal.gate, code: refusal.code } });
};

export const lineOfSummary = (event: EventSummary): EventLine => {
  const { id, status, type, origin, endpoint_id, delivery_id, failure, verdict } = event;
  const why = failure === null ? null : `${failure.kind}: ${failure.detail}`;
  return {
    at: event.received_at,
    id,
    status,
    type,
    origin,
    endpoint_id,
    delivery_id,
    sample: event.sample,
    detail: why ?? (status === "blocked" || status === "held" ? violated(verdict) : null),
    ...refusedIn(status, verdict),
  };
};

export const lineOfRequest = (status: DeliveryStatus, request: Request): EventLine => ({
  at: request.at,
  id: request.event_id,
  status: status === "queued" && request.endpoint_id === null ? "recorded" : status,
  type: request.type,
  origin: request.origin,
  endpoint_id: request.endpoint_id,
  delivery_id: request.delivery_key,
  sample: request.sample !== undefined,
  detail: status === "queued" ? null : violated(request.verdict),
  ...refusedIn(status, request.verdict),
});

/** What a record changes in an event's line; null for records that change neither the status nor the note. */
export const changeIn = (record: StreamRecord): Pick<EventLine, "status" | "detail"> | null => {
  const event = eventOf<DeliveryEvent>(record);
  switch (event.type) {
    case "EventReleased":
      return { status: event.data.endpoint_id === null ? "recorded" : "queued", detail: "approved" };
    case "EventHeldAgain":
      return { status: "held", detail: event.data.approval.reasons.at(-1) ?? null };
    case "EventReplayed":
      return { status: "retrying", detail: "replayed" };
    case "HoldEnded":
      return { status: event.data.outcome, detail: programsPart(event.data.reason) };
    case "EventCancelled":
      return { status: "cancelled", detail: programsPart(event.data.reason) };
    case "AttemptFailed": {
      const { number, failure, next_attempt_at: next } = event.data;
      const detail = `attempt ${number}: ${failure.kind}: ${failure.detail}`;
      // Without a next attempt the delivery ends, and the record of its end, which follows, has the outcome.
      return next === null ? null : { status: "retrying", detail: `${detail}; again ${shownTime(next)}` };
    }
    case "EventDelivered":
      return { status: "delivered", detail: null };
    case "DeliveryFailed":
      return { status: "failed", detail: `${event.data.failure.kind}: ${event.data.failure.detail}` };
    default:
      return null;
  }
};

/** Letters of the longest status. */
const STATUS_WIDTH = 9;
const ID_WIDTH = 36;

export const shownLine = ({ at, id, status, type, origin, sample, detail }: EventLine): Line => {
  const before = `${shownTime(at)}  ${id.padEnd(ID_WIDTH)}  `;
  const after = [
    status.padEnd(STATUS_WIDTH),
    visibleLine(type) || "-",
    `(${visibleLine(origin.name)})`,
    ...(sample ? ["sample"] : []),
    ...(detail === null ? [] : [`- ${visibleLine(detail)}`]),
  ].join("  ");
  const tone = toneOfState(status);
  const from = before.length;
  return { text: before + after, tones: tone === undefined ? [] : [{ from, to: from + status.length, tone }] };
};
