import type { EventLog, Expected, Metadata, NewEvent, Revision } from "../../domain/ports/event-log.ts";
import { BLANK_TYPE } from "../../infra/stream-name.ts";
import { eventId } from "../streams/envelope.ts";
import { appendKnown } from "../streams/run-command.ts";

const APPEND_MAX = 100;

export const placeholderId = (stream: string, revision: Revision): string =>
  eventId(`log-copy/placeholder/${stream}`, revision);

const placeholder = (stream: string, revision: Revision, meta: Metadata): NewEvent => ({
  id: placeholderId(stream, revision),
  type: BLANK_TYPE,
  data: {},
  meta: { ...meta, actor: { kind: "system", id: "log-copy" }, command_id: "log-copy", causation_id: null },
});

/**
 * Erased placeholders take the revisions up to `upTo`, so that no other event gets them. False if an earlier copy left
 * real records there, which the caller erases after all records are copied.
 */
export const eraseUpTo = async (log: EventLog, stream: string, upTo: Revision, meta: Metadata): Promise<boolean> => {
  let expected: Exclude<Expected, "any"> = "absent";
  for (;;) {
    const first: Revision = expected === "absent" ? 0 : expected + 1;
    if (first > upTo) break;
    const events = Array.from({ length: Math.min(upTo - first + 1, APPEND_MAX) }, (_, index) =>
      placeholder(stream, first + index, meta),
    );
    const appended = await appendKnown(log, stream, expected, events);
    const last: Expected = appended.outcome === "appended" ? appended.revision : appended.actual;
    if (last === "absent" || last < first - 1) throw new Error(`${stream} lost revision ${first - 1}`);
    expected = last;
  }
  const [shown] = await log.read(stream, null, 1);
  if (shown === undefined || shown.revision > upTo) return true;
  if (shown.id !== placeholderId(stream, shown.revision)) return false;
  await log.erase(stream, upTo);
  return true;
};
