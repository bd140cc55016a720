import type { EventLog, RecordedEvent } from "../../../domain/ports/event-log.ts";
import type { EventDocument, Stage } from "../../../projections/event-document.ts";
import { evolveEvent } from "../../../projections/event-fold.ts";
import { timelineWithGaps } from "../../bodies/event-answer.ts";
import { decodeCursor, encodeCursor, invalid, type Page } from "../../http/listing.ts";
import type { JsonSchema } from "../../http/route.ts";
import type { Problem } from "../../streams/problems.ts";

export const STAGES_MAX = 1_000;
/** A record makes at most four stages, which are never parted. */
const STAGES_MIN = 10;
const CURSOR_LENGTH_MAX = 128;
/** The end of an attempt is recorded soon after its beginning: it is looked for in so many records behind the page. */
export const RECORDS_BEHIND = 10;

export const TIMELINE_QUERY = {
  limit: {
    type: "integer",
    minimum: STAGES_MIN,
    maximum: STAGES_MAX,
    description: "Pages of all stages, the oldest first. Left out: of more than 110 the first 10 and the last 100",
  },
  cursor: { type: "string", maxLength: CURSOR_LENGTH_MAX, description: "`next_cursor` of the page before" },
} as const satisfies Record<string, JsonSchema>;

type Asked = { readonly limit: number; readonly cursor: string | undefined };
type Told = ReturnType<typeof timelineWithGaps>[number];

/** What was folded of a page so far; the document has no stages, so that each record's are those that it adds. */
type Folded = {
  readonly document: EventDocument;
  readonly stages: readonly Stage[];
  readonly replays: NonNullable<EventDocument["replays"]>;
};

export const withRecord = (document: EventDocument, recorded: RecordedEvent): Folded => {
  const after = evolveEvent({ ...document, timeline: [], replays: [] }, recorded) ?? document;
  return {
    // A new decision begins with no attempts, but those before it were made all the same.
    document: after.attempts.length === 0 ? { ...after, attempts: document.attempts } : after,
    stages: after.timeline,
    replays: after.replays ?? [],
  };
};

/** All stages of an event, from its log: the view keeps the first and the last of very many. */
export const timelinePage = async (
  log: Pick<EventLog, "read">,
  { id, event }: { readonly id: string; readonly event: EventDocument },
  { limit, cursor }: Asked,
): Promise<Page<Told> | Problem> => {
  const from = cursor === undefined ? null : decodeCursor(cursor);
  if (cursor !== undefined && (from === null || !/^\d{1,12}$/.test(from.id)))
    return invalid("cursor", "must be the `next_cursor` of the page before");
  const stream = `delivery-${id}`;
  const stages: Stage[] = [];
  const replays: Folded["replays"][number][] = [];
  let document: EventDocument = { ...event, attempts: [] };
  let next: string | null = null;
  let last = from === null ? null : Number(from.id);
  const records = await log.read(stream, last, limit);
  for (const recorded of records) {
    const folded = withRecord(document, recorded);
    if (stages.length + folded.stages.length > limit) break;
    document = folded.document;
    stages.push(...folded.stages);
    replays.push(...folded.replays);
    last = recorded.revision;
  }
  const behind = await log.read(stream, last, RECORDS_BEHIND);
  const at = stages.at(-1)?.at ?? String(from?.value ?? event.received_at);
  if (behind.length > 0) next = encodeCursor({ value: at, id: String(last) });
  for (const recorded of behind) document = withRecord(document, recorded).document;
  const data = timelineWithGaps({ ...event, attempts: document.attempts, replays, timeline: stages });
  const [first, ...others] = data;
  const gap = first === undefined || from === null ? 0 : Date.parse(first.at) - Date.parse(String(from.value));
  return {
    data: first === undefined ? [] : [{ ...first, ms: Math.max(0, gap || 0) }, ...others],
    next_cursor: next,
  };
};
