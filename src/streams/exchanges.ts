import type { PayloadEvent } from "../../domain/delivery/payload-events.ts";
import { eventOf } from "../../domain/events.ts";
import type { EventLog, Revision } from "../../domain/ports/event-log.ts";
import { payloadStream } from "./payloads.ts";

export type ResponseKept = Extract<PayloadEvent, { type: "ResponseKept" }>["data"];

export type Exchanges = {
  readonly headers: Readonly<Record<string, string>> | null;
  readonly responses: ReadonlyMap<number, ResponseKept>;
};

const READ_PAGE = 20;

/** Records after a request's answers that are none: forms that voters were shown when it was held again, and their parts. */
const MARGIN = 5 * READ_PAGE;

/**
 * Reads the responses to the attempts whose numbers are `wanted`. These are the first and the last ones, since an event
 * may have very many attempts, so the records in between are skipped.
 */
export const exchangesOf = async (
  log: EventLog,
  eventId: string,
  from: Revision,
  wanted: readonly number[],
): Promise<Exchanges> => {
  const stream = payloadStream(eventId);
  const shown = new Set(wanted);
  const responses = new Map<number, ResponseKept>();
  let headers: Exchanges["headers"] = null;
  let isBehindMiddle = false;
  for (let after: Revision | null = from === 0 ? null : from - 1; ; ) {
    const page = await log.read(stream, after, READ_PAGE);
    let isInMiddle = false;
    for (const recorded of page) {
      const event = eventOf<PayloadEvent>(recorded);
      if (event.type === "PayloadKept") headers ??= event.data.headers;
      else if (event.type === "ResponseKept") {
        if (shown.has(event.data.number)) responses.set(event.data.number, event.data);
        else isInMiddle = true;
      }
      after = recorded.revision;
    }
    if (page.length < READ_PAGE) return { headers, responses };
    if (!isInMiddle || isBehindMiddle) continue;
    // An attempt has at most one record in this stream, so the last attempts' responses are among its last records.
    const last = await log.last(stream);
    after = Math.max(after ?? 0, (last?.revision ?? 0) - wanted.length - MARGIN);
    isBehindMiddle = true;
  }
};
