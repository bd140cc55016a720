import type { DeliveryEvent } from "../../domain/delivery/events.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Span } from "../../domain/ports/span-exporter.ts";
import { approvalStream } from "../approvals/approvals.ts";
import { BUNDLE_DECISIONS, bundleSpans } from "./bundle-spans.ts";
import { DECISIONS, executionSpans, spansInParts } from "./execution-spans.ts";

type Reads = Pick<EventLog, "read">;

const READ_PAGE = 500;
/** A blocked event that is sent again and again has many decisions; a trace of more records would be unreadable. */
const RECORDS_MAX = 2_000;
/** At most this many records of a stream are read: repeats may add one each second, most of which no trace shows. */
const READ_MAX = 20_000;
const REPEATS_MAX = 100;

const REPEATS: ReadonlySet<string> = new Set<DeliveryEvent["type"]>(["DuplicatesCounted", "DeliveryIdReused"]);

const repeatLimit = () => {
  let repeats = 0;
  return (page: readonly RecordedEvent[]): readonly RecordedEvent[] =>
    page.filter(({ type }) => {
      if (!REPEATS.has(type)) return true;
      repeats += 1;
      return repeats <= REPEATS_MAX;
    });
};

const recordsOf = async (log: Reads, stream: string): Promise<readonly RecordedEvent[]> => {
  const records: RecordedEvent[] = [];
  const limitRepeats = repeatLimit();
  let after: number | null = null;
  for (let read = 0; read < READ_MAX && records.length < RECORDS_MAX; read += READ_PAGE) {
    const page: readonly RecordedEvent[] = await log.read(stream, after, READ_PAGE);
    records.push(...limitRepeats(page));
    if (page.length < READ_PAGE) break;
    after = page.at(-1)?.revision ?? after;
  }
  return records;
};

const REPLAYED = "EventReplayed" satisfies DeliveryEvent["type"];

/** Keeps the first record and those from the last replay on: earlier replays have ended and were exported. */
const begunWith = (records: readonly RecordedEvent[]): readonly RecordedEvent[] => {
  const replayed = records.findLastIndex(({ type }) => type === REPLAYED);
  return replayed > 1 ? [...records.slice(0, 1), ...records.slice(replayed)] : records;
};

/** The records of one decision up to its `end`, without those of earlier and later decisions. */
const recordsEndingWith = async (
  log: Reads,
  end: RecordedEvent,
  decisions: ReadonlySet<string>,
): Promise<readonly RecordedEvent[]> => {
  if (decisions.has(end.type)) return [end];
  let records: readonly RecordedEvent[] = [];
  let limitRepeats = repeatLimit();
  for (let after: number | null = null; ; ) {
    const page: readonly RecordedEvent[] = await log.read(end.stream, after, READ_PAGE);
    records = [...records, ...limitRepeats(page.filter(({ revision }) => revision <= end.revision))];
    const last = records.findLastIndex(({ type }) => decisions.has(type));
    if (last > 0) limitRepeats = repeatLimit();
    records = begunWith(records.slice(Math.max(0, last))).slice(0, RECORDS_MAX);
    after = page.at(-1)?.revision ?? end.revision;
    if (after >= end.revision) return records;
  }
};

const approvalsOf = async (
  log: Reads,
  records: readonly RecordedEvent[],
  held: "EventHeld" | "BundleHeld",
): Promise<readonly RecordedEvent[]> => {
  const asked: RecordedEvent[] = [];
  for (const { type, data } of records) {
    if (type !== held) continue;
    // Every record of a hold names its approval, which the type of the log's records does not express.
    const { approval_id } = data.approval as { readonly approval_id: string };
    asked.push(...(await recordsOf(log, approvalStream(approval_id))));
  }
  return asked;
};

const ofEvent = async (log: Reads, records: readonly RecordedEvent[]): Promise<readonly Span[]> =>
  executionSpans(records, await approvalsOf(log, records, "EventHeld"));
const ofBundle = async (log: Reads, records: readonly RecordedEvent[]): Promise<readonly Span[]> =>
  bundleSpans(records, await approvalsOf(log, records, "BundleHeld"));

export const spansOfEvent = async (log: Reads, eventId: string): Promise<readonly Span[]> =>
  ofEvent(log, await recordsOf(log, `delivery-${eventId}`));

export const spansOfEndedEvent = async (log: Reads, end: RecordedEvent): Promise<readonly Span[]> => {
  const records = await recordsEndingWith(log, end, DECISIONS);
  return spansInParts(records, await approvalsOf(log, records, "EventHeld")).at(-1) ?? [];
};

export const spansOfEndedBundle = async (log: Reads, end: RecordedEvent): Promise<readonly Span[]> =>
  ofBundle(log, await recordsEndingWith(log, end, BUNDLE_DECISIONS));

const STARTS: ReadonlySet<string> = new Set(["StepStarted", "UndoStarted"]);

export const traceOfBundle = async (log: Reads, bundleId: string): Promise<readonly Span[]> => {
  const records = await recordsOf(log, `bundle-${bundleId}`);
  const started = records.filter(({ type }) => STARTS.has(type)).map(({ data }) => String(data.event_id));
  const below = await Promise.all(started.map((eventId) => spansOfEvent(log, eventId)));
  return [...(await ofBundle(log, records)), ...below.flat()];
};
