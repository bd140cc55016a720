import type { EventLog, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { isRecord } from "../../projections/audit.ts";
import { allCommitmentsIn, isContradicted } from "../audit/committed-values.ts";
import { payloads } from "../streams/payloads.ts";

/** Records whose values are read at once: a server answers several calls in the time of one. */
const PAGE = 64;

export type PayloadDifference = { readonly id: string; readonly record: RecordedEvent };

/**
 * What the log keeps under the id of a commitment and is not the value that the record commits to, in the order of the records.
 * A value that is not there was erased, or lost: which of them, `countersign verify` tells of an export.
 */
export async function* payloadDifferences(
  log: EventLog,
  onRecords: (count: number) => void,
): AsyncGenerator<PayloadDifference, void> {
  const source = { log, payloads: payloads(log, randomness) };
  let count = 0;
  for (let after: Position | null = null; ; ) {
    const page: readonly RecordedEvent[] = await log.readAll(after, PAGE, "records");
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.position;
    const named = page
      .filter(isRecord)
      .flatMap((record) => allCommitmentsIn(record.data).map((commitment) => ({ record, commitment })));
    const found = await Promise.all(
      named.map(({ record, commitment }) => isContradicted(source, record.meta.account, commitment)),
    );
    for (const [n, { record, commitment }] of named.entries())
      if (found[n] === true) yield { id: commitment.id, record };
    count += page.length;
    onRecords(count);
  }
}
