import type { PayloadEvent } from "../../domain/delivery/events.ts";
import type { EventLog, Revision } from "../../domain/ports/event-log.ts";
import { payloadStream } from "./payloads.ts";

export type ResponseKept = Extract<PayloadEvent, { type: "ResponseKept" }>["data"];

/** What an erasure takes away: headers of the request, and what was sent and answered in each attempt. */
export type Exchanges = {
  readonly headers: Readonly<Record<string, string>> | null;
  readonly responses: ReadonlyMap<number, ResponseKept>;
};

/** A record here may carry a megabyte, so few are held at once. */
const READ_PAGE = 20;

/** The newest attempts may be further than who asks knows, by so many. */
const MARGIN = READ_PAGE;

/**
 * Reads from the payload that was decided on; whatever a blocked sender sent before it is skipped. `wanted`: the numbers of
 * the first and the last attempts, or of the last alone: what was answered to those in the middle is not even read, as an
 * endpoint that is probed for ever, or an event that is replayed again and again, has no end of them.
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
      // `payload-evt_` streams hold PayloadEvents alone.
      const event = recorded as unknown as PayloadEvent;
      if (event.type === "PayloadKept") headers ??= event.data.headers;
      else if (event.type === "ResponseKept") {
        if (shown.has(event.data.number)) responses.set(event.data.number, event.data);
        else isInMiddle = true;
      }
      after = recorded.revision;
    }
    if (page.length < READ_PAGE) return { headers, responses };
    if (!isInMiddle || isBehindMiddle) continue;
    // Each attempt has one record at most: those of the last ones are among as many at the end.
    const last = await log.last(stream);
    after = Math.max(after ?? 0, (last?.revision ?? 0) - wanted.length - MARGIN);
    isBehindMiddle = true;
  }
};
