import type { EventLog, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import { pageSize } from "../following/page-size.ts";
import { type Chain, chained, EMPTY_CHAIN, recordText } from "./chain.ts";

const PAGE_MAX = 1_000;

export async function* recordsOf(
  log: Pick<EventLog, "readAll">,
  after: Position | null,
  end: Position,
  pageMax = PAGE_MAX,
): AsyncGenerator<RecordedEvent, void, undefined> {
  const size = pageSize(pageMax);
  for (let at = after; ; ) {
    const page = await log.readAll(at, size.events());
    size.learn(page);
    for (const record of page) {
      if (record.position > end) return;
      yield record;
      at = record.position;
    }
    if (page.length === 0) return;
  }
}

export const chainOf = async (
  log: Pick<EventLog, "readAll" | "head">,
  onRecord: (count: number, record: RecordedEvent) => void = () => undefined,
): Promise<Chain> => {
  const end = await log.head();
  let chain = EMPTY_CHAIN;
  if (end === null) return chain;
  for await (const record of recordsOf(log, null, end)) {
    chain = chained(chain, recordText(record));
    onRecord(chain.count, record);
  }
  return chain;
};
