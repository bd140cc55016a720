import type { EventLog, Position, RecordedEvent, Revision } from "../../domain/ports/event-log.ts";
import { isErasable, parseStreamName } from "../../infra/stream-name.ts";
import { type Chain, chained, EMPTY_CHAIN, recordText } from "./chain.ts";
import { placeholderId } from "./placeholders.ts";
import { recordsOf } from "./records.ts";

export type ComparedPart = {
  readonly source: Chain;
  readonly target: Chain;
  readonly sourceAfter: Position | null;
  readonly targetAfter: Position | null;
};

export const NOTHING_COMPARED: ComparedPart = {
  source: EMPTY_CHAIN,
  target: EMPTY_CHAIN,
  sourceAfter: null,
  targetAfter: null,
};

export type Comparison = {
  readonly compared: ComparedPart;
  readonly gone: ReadonlyMap<string, Revision>;
  readonly difference: string | null;
  /** The record of the source that follows the target's end; null if the target has all records. */
  readonly missing: RecordedEvent | null;
};

export type ComparisonRange = {
  readonly from: ComparedPart;
  /** The position of the source's last record to compare; null if the source was empty. */
  readonly end: Position | null;
  readonly onRecord: (count: number) => void;
};

type Reading = Pick<EventLog, "read" | "last">;

/**
 * True if the source has erased the record: it knows the event, but shows nothing of the payload up to this revision.
 */
const isGone = async (source: Reading, { stream, revision, id }: RecordedEvent): Promise<boolean> => {
  const { category, key } = parseStreamName(stream);
  if (!isErasable({ category })) return false;
  const [shown] = await source.read(stream, null, 1);
  if (shown !== undefined && revision >= shown.revision) return false;
  if (id === placeholderId(stream, revision)) return true;
  // Ids of personal data are random, so a stream of this name cannot have come from another log.
  if (category === "personal") return true;
  return (await source.last(`delivery-${key}`)) !== null || (await source.last(`bundle-${key}`)) !== null;
};

const named = (record: RecordedEvent | null): string =>
  record === null ? "no record" : `${record.type} (${record.stream}, revision ${record.revision})`;

const differenceOf = (number: number, source: RecordedEvent | null, target: RecordedEvent | null): string => {
  const isSamePlace = source?.stream === target?.stream && source?.revision === target?.revision;
  return isSamePlace
    ? `Record ${number}, ${named(source)}, has another content in the target than in the source.`
    : `Record ${number} of the source is ${named(source)}, of the target it is ${named(target)}.`;
};

export const compareLogs = async (
  source: EventLog,
  target: EventLog,
  { from, end, onRecord }: ComparisonRange,
): Promise<Comparison> => {
  let compared = from;
  const gone = new Map<string, Revision>();
  const targetEnd = await target.head();
  const sources = end === null ? null : recordsOf(source, from.sourceAfter, end);
  const targets = targetEnd === null ? null : recordsOf(target, from.targetAfter, targetEnd);
  const nextOf = async (records: typeof sources): Promise<RecordedEvent | null> =>
    (await records?.next())?.value ?? null;

  let [s, t] = [await nextOf(sources), await nextOf(targets)];
  for (;;) {
    if (t === null) return { compared, gone, difference: null, missing: s };
    const text = recordText(t);
    if (s !== null && recordText(s) === text) {
      compared = {
        source: chained(compared.source, text),
        target: chained(compared.target, text),
        sourceAfter: s.position,
        targetAfter: t.position,
      };
      onRecord(compared.target.count);
      [s, t] = [await nextOf(sources), await nextOf(targets)];
    } else if (await isGone(source, t)) {
      gone.set(t.stream, t.revision);
      t = await nextOf(targets);
    } else {
      return { compared, gone, difference: differenceOf(compared.source.count + 1, s, t), missing: null };
    }
  }
};
