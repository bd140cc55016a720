import type { EventLog, RecordedEvent, Revision } from "../../domain/ports/event-log.ts";

export async function* pagesOf(
  log: Pick<EventLog, "read">,
  stream: string,
  after: Revision | null,
  pageMax: number,
): AsyncGenerator<readonly RecordedEvent[]> {
  for (let from = after; ; ) {
    const page = await log.read(stream, from, pageMax);
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageMax) return;
    from = last.revision;
  }
}
