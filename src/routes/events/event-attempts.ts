import type { PayloadEvent } from "../../../domain/delivery/payload-events.ts";
import { eventOf } from "../../../domain/events.ts";
import type { EventLog, Revision } from "../../../domain/ports/event-log.ts";
import type { Attempt, EventDocument } from "../../../projections/event-document.ts";
import { decodeCursor, encodeCursor, invalid } from "../../http/listing.ts";
import type { JsonSchema } from "../../http/route.ts";
import type { Exchanges, ResponseKept } from "../../streams/exchanges.ts";
import { payloadStream } from "../../streams/payloads.ts";
import type { Problem } from "../../streams/problems.ts";
import { RECORDS_BEHIND, withRecord } from "./event-timeline.ts";

const ATTEMPTS_MAX = 1_000;
const CURSOR_LENGTH_MAX = 128;
/** A page ends early once its answers' bodies have so many characters: each may have 64 KiB. */
const PAGE_CHARACTERS = 4 * 1_048_576;
/** Most attempts make two records; where they make more, a page has fewer attempts. */
const RECORDS_PER_ATTEMPT = 2;
const READ_PAGE = 100;

export const ATTEMPTS_QUERY = {
  limit: {
    type: "integer",
    minimum: 1,
    maximum: ATTEMPTS_MAX,
    description:
      "Pages of all attempts, the oldest first; large answers make a page shorter. Left out: of more than 110 the first 10 " +
      "and the last 100",
  },
  cursor: { type: "string", maxLength: CURSOR_LENGTH_MAX, description: "`next_cursor` of the page before" },
} as const satisfies Record<string, JsonSchema>;

type Log = Pick<EventLog, "read">;
type Asked = { readonly limit: number | undefined; readonly cursor: string | undefined };

/** The last record that earlier pages have used, of each of the event's two streams. */
type Place = { readonly delivery: Revision | null; readonly payload: Revision | null };

export type AttemptsPage = {
  readonly attempts: readonly Attempt[];
  readonly responses: Exchanges["responses"];
  readonly next_cursor: string | null;
};

const placeOf = (cursor: string): Place | null => {
  const found = decodeCursor(cursor);
  if (found === null || typeof found.value !== "number" || !/^\d{1,12}$/.test(found.id)) return null;
  if (!Number.isSafeInteger(found.value) || found.value < -1) return null;
  return { delivery: Number(found.id), payload: found.value === -1 ? null : found.value };
};

type Started = { readonly attempt: Attempt; readonly revision: Revision };
type Folded = { readonly started: readonly Started[]; readonly last: Revision | null; readonly hasMore: boolean };

/** The attempts that begin after a record, with the ends that were recorded soon after. */
const startedAfter = async (
  log: Log,
  stream: string,
  { event, limit, after }: { readonly event: EventDocument; readonly limit: number; readonly after: Revision | null },
): Promise<Folded> => {
  const revisions = new Map<number, Revision>();
  let document: EventDocument = { ...event, attempts: [] };
  let last = after;
  for (const recorded of await log.read(stream, after, limit * RECORDS_PER_ATTEMPT)) {
    const { document: next } = withRecord(document, recorded);
    if (next.attempts.length > limit) break;
    for (const { number } of next.attempts) if (!revisions.has(number)) revisions.set(number, recorded.revision);
    document = next;
    last = recorded.revision;
  }
  const behind = await log.read(stream, last, RECORDS_BEHIND);
  for (const recorded of behind) document = withRecord(document, recorded).document;
  const started = document.attempts.flatMap((attempt) => {
    const revision = revisions.get(attempt.number);
    return revision === undefined ? [] : [{ attempt, revision }];
  });
  return { started, last, hasMore: behind.length > 0 };
};

type Answers = {
  readonly responses: ReadonlyMap<number, ResponseKept>;
  readonly last: Revision | null;
  /** The first attempt whose answer no longer fits; null if all fit. */
  readonly cutAt: number | null;
};

/** The answers to the attempts up to a number. They were kept in the order of the attempts, one record each. */
const answersUpTo = async (log: Log, stream: string, after: Revision | null, most: number): Promise<Answers> => {
  const responses = new Map<number, ResponseKept>();
  let last = after;
  let characters = 0;
  for (;;) {
    const page = await log.read(stream, last, READ_PAGE);
    for (const recorded of page) {
      const event = eventOf<PayloadEvent>(recorded);
      if (event.type === "ResponseKept") {
        const { number, body } = event.data;
        if (number > most) return { responses, last, cutAt: null };
        characters += body.length;
        if (characters > PAGE_CHARACTERS && responses.size > 0) return { responses, last, cutAt: number };
        responses.set(number, event.data);
      }
      last = recorded.revision;
    }
    if (page.length < READ_PAGE) return { responses, last, cutAt: null };
  }
};

/** All attempts of an event, from its log: the view keeps the first and the last of very many. */
export const attemptsPage = async (
  log: Log,
  { id, event }: { readonly id: string; readonly event: EventDocument },
  asked: Asked,
): Promise<AttemptsPage | Problem> => {
  const { revision } = event.payload;
  const first: Place = { delivery: null, payload: revision === 0 ? null : revision - 1 };
  const place = asked.cursor === undefined ? first : placeOf(asked.cursor);
  if (place === null) return invalid("cursor", "must be the `next_cursor` of the page before");
  const { limit = ATTEMPTS_MAX } = asked;
  const folded = await startedAfter(log, `delivery-${id}`, { event, limit, after: place.delivery });
  const most = folded.started.at(-1)?.attempt.number ?? 0;
  const answers = await answersUpTo(log, payloadStream(id), place.payload, most);
  const cut =
    answers.cutAt === null ? undefined : folded.started.find((it) => it.attempt.number >= (answers.cutAt ?? 0));
  const shown = cut === undefined ? folded.started : folded.started.slice(0, folded.started.indexOf(cut));
  const last = cut === undefined ? folded.last : cut.revision - 1;
  const hasMore = cut !== undefined || folded.hasMore;
  return {
    attempts: shown.map(({ attempt }) => attempt),
    responses: answers.responses,
    next_cursor: hasMore && last !== null ? encodeCursor({ value: answers.last ?? -1, id: String(last) }) : null,
  };
};
