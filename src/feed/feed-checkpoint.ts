import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Position, Revision } from "../../domain/ports/event-log.ts";
import { type LogCursor, positionAfter } from "../following/log-cursor.ts";
import { systemEnvelope, toEvents } from "../streams/envelope.ts";
import { appendKnown } from "../streams/run-command.ts";

/** Nodes compete for the feed here: of two appends that expect the same revision, only one succeeds. */
const STREAM = "checkpoint-feed";

export type Checkpointed = {
  readonly revision: Revision | "absent";
  readonly place: LogCursor | null;
  readonly after: Position | null;
  /** The id of the node that publishes the feed; null if that node has stopped and handed the feed over. */
  readonly node: string | null;
};

export type FeedCheckpoints = {
  read(): Promise<Checkpointed>;
  write(
    expected: Checkpointed["revision"],
    place: LogCursor | null,
    holder: Checkpointed["node"],
  ): Promise<Revision | null>;
};

export const feedCheckpoints = (
  log: Pick<EventLog, "append" | "read" | "last">,
  clock: Clock,
  node: string,
): FeedCheckpoints => ({
  async read() {
    const last = await log.last(STREAM);
    if (last === null) return { revision: "absent", place: null, after: null, node: null };
    const { position, stream, revision, node } = last.data as
      | (LogCursor & { readonly node: string | null })
      | { readonly position: null; readonly stream: null; readonly revision: null; readonly node: string | null };
    const place = position === null ? null : { position, stream, revision };
    return { revision: last.revision, place, after: await positionAfter(log, last), node };
  },

  async write(expected, place, holder) {
    const next = expected === "absent" ? 0 : expected + 1;
    const envelope = systemEnvelope({
      actor: "feed",
      // An append that is repeated after a lost reply has the same command id, so the log recognises it.
      commandId: `feed/${node}/${next}`,
      at: new Date(clock.now()).toISOString(),
    });
    const data = { ...(place ?? { position: null, stream: null, revision: null }), node: holder };
    const events = toEvents([{ type: "FeedCheckpointed", data }], envelope);
    const appended = await appendKnown(log, STREAM, expected, events);
    return appended.outcome === "appended" ? appended.revision : null;
  },
});
