import type { DeliveryEvent } from "../../domain/delivery/events.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Span } from "../../domain/ports/span-exporter.ts";
import { approvalStream } from "../approvals/approvals.ts";
import { BUNDLE_DECISIONS, bundleSpans } from "./bundle-spans.ts";
import { DECISIONS, executionSpans, spansInParts } from "./execution-spans.ts";

type Reads = Pick<EventLog, "read">;

const READ_PAGE = 500;
/** A blocked event that is sent repeatedly has as many decisions; a longer trace would be unreadable. */
const RECORDS_MAX = 2_000;
/** Records read of one stream: the repeats of an event are a record each second, as long as its sender goes on. */
const READ_MAX = 20_000;
/** More repeats would only crowd out what happened to the event between them. */
const REPEATS_MAX = 100;

const REPEATS: ReadonlySet<string> = new Set<DeliveryEvent["type"]>(["DuplicatesCounted", "DeliveryIdReused"]);

/** Takes the pages of a stream in order and leaves out the repeats beyond the limit. */
const fewRepeats = () => {
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
  const told = fewRepeats();
  let after: number | null = null;
  for (let read = 0; read < READ_MAX && records.length < RECORDS_MAX; read += READ_PAGE) {
    const page: readonly RecordedEvent[] = await log.read(stream, after, READ_PAGE);
    records.push(...told(page));
    if (page.length < READ_PAGE) break;
    after = page.at(-1)?.revision ?? after;
  }
  return records;
};

const REPLAYED = "EventReplayed" satisfies DeliveryEvent["type"];

/** A decision and its last replay with all that followed; the replays before ended, and were exported, by themselves. */
const begunWith = (records: readonly RecordedEvent[]): readonly RecordedEvent[] => {
  const replayed = records.findLastIndex(({ type }) => type === REPLAYED);
  return replayed > 1 ? [...records.slice(0, 1), ...records.slice(replayed)] : records;
};

/** The records of the decision that `end` ends, without those of the decisions before and after it. */
const recordsEndingWith = async (
  log: Reads,
  end: RecordedEvent,
  decisions: ReadonlySet<string>,
): Promise<readonly RecordedEvent[]> => {
  if (decisions.has(end.type)) return [end];
  let records: readonly RecordedEvent[] = [];
  let told = fewRepeats();
  for (let after: number | null = null; ; ) {
    const page: readonly RecordedEvent[] = await log.read(end.stream, after, READ_PAGE);
    records = [...records, ...told(page.filter(({ revision }) => revision <= end.revision))];
    const last = records.findLastIndex(({ type }) => decisions.has(type));
    if (last > 0) told = fewRepeats();
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
    // The records of holds are typed; the log has plain JSON.
    const { approval_id } = data.approval as { readonly approval_id: string };
    asked.push(...(await recordsOf(log, approvalStream(approval_id))));
  }
  return asked;
};

const ofEvent = async (log: Reads, records: readonly RecordedEvent[]): Promise<readonly Span[]> =>
  executionSpans(records, await approvalsOf(log, records, "EventHeld"));
const ofBundle = async (log: Reads, records: readonly RecordedEvent[]): Promise<readonly Span[]> =>
  bundleSpans(records, await approvalsOf(log, records, "BundleHeld"));

/** The spans of an event; those of a bundle's step are below the bundle's. Rejects with the log's errors, like all here. */
export const spansOfEvent = async (log: Reads, eventId: string): Promise<readonly Span[]> =>
  ofEvent(log, await recordsOf(log, `delivery-${eventId}`));

/** The spans of the decision or replay that ends with this record. */
export const spansOfEndedEvent = async (log: Reads, end: RecordedEvent): Promise<readonly Span[]> => {
  const records = await recordsEndingWith(log, end, DECISIONS);
  return spansInParts(records, await approvalsOf(log, records, "EventHeld")).at(-1) ?? [];
};

/** The spans of a bundle without its steps and undos, which end by themselves. */
export const spansOfEndedBundle = async (log: Reads, end: RecordedEvent): Promise<readonly Span[]> =>
  ofBundle(log, await recordsEndingWith(log, end, BUNDLE_DECISIONS));

const STARTS: ReadonlySet<string> = new Set(["StepStarted", "UndoStarted"]);

/** The spans of a bundle and of each step and undo that was started. */
export const traceOfBundle = async (log: Reads, bundleId: string): Promise<readonly Span[]> => {
  const records = await recordsOf(log, `bundle-${bundleId}`);
  const started = records.filter(({ type }) => STARTS.has(type)).map(({ data }) => String(data.event_id));
  const below = await Promise.all(started.map((eventId) => spansOfEvent(log, eventId)));
  return [...(await ofBundle(log, records)), ...below.flat()];
};
