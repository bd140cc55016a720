import type { EventLog, RecordedEvent, Span } from "../../domain/ports.ts";
import { approvalStream } from "../approvals.ts";
import { bundleSpans } from "./bundle-spans.ts";
import { executionSpans } from "./execution-spans.ts";

const READ_PAGE = 500;
/** A blocked event that is sent again and again has as many decisions; a trace that long helps nobody. */
const RECORDS_MAX = 2_000;

const recordsOf = async (log: Pick<EventLog, "read">, stream: string): Promise<readonly RecordedEvent[]> => {
  const records: RecordedEvent[] = [];
  while (records.length < RECORDS_MAX) {
    const page = await log.read(stream, records.at(-1)?.revision ?? null, READ_PAGE);
    records.push(...page);
    if (page.length < READ_PAGE) break;
  }
  return records;
};

/** Of what was held: who was asked, and what they said. */
const approvalsOf = async (
  log: Pick<EventLog, "read">,
  records: readonly RecordedEvent[],
  held: string,
): Promise<readonly RecordedEvent[]> => {
  const asked: RecordedEvent[] = [];
  for (const { type, data } of records) {
    if (type !== held) continue;
    // What a hold says of its approval is plain JSON.
    const { approval_id } = data.approval as { readonly approval_id: string };
    asked.push(...(await recordsOf(log, approvalStream(approval_id))));
  }
  return asked;
};

/** An event's own spans; of a bundle's step those below the bundle's. Rejects with the log's errors. */
export const spansOfEvent = async (log: Pick<EventLog, "read">, eventId: string): Promise<readonly Span[]> => {
  const records = await recordsOf(log, `delivery-${eventId}`);
  return executionSpans(records, await approvalsOf(log, records, "EventHeld"));
};

/** A bundle's own spans, without those of its steps and undos. */
export const spansOfBundle = async (log: Pick<EventLog, "read">, bundleId: string): Promise<readonly Span[]> => {
  const records = await recordsOf(log, `bundle-${bundleId}`);
  return bundleSpans(records, await approvalsOf(log, records, "BundleHeld"));
};

const STARTS: ReadonlySet<string> = new Set(["StepStarted", "UndoStarted"]);

/** All of a bundle's trace: its own spans, and those of each step and undo that was started. */
export const traceOfBundle = async (log: Pick<EventLog, "read">, bundleId: string): Promise<readonly Span[]> => {
  const records = await recordsOf(log, `bundle-${bundleId}`);
  const spans = [...bundleSpans(records, await approvalsOf(log, records, "BundleHeld"))];
  for (const { type, data } of records) {
    if (STARTS.has(type)) spans.push(...(await spansOfEvent(log, String(data.event_id))));
  }
  return spans;
};
