import type { Readable } from "node:stream";
import type { Position } from "../../domain/ports/event-log.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import type { PositionText } from "../http/position-text.ts";
import type { ChangeFollower, Due } from "./change-follower.ts";
import { RETRY_MS, type SentEvents, sentEvents } from "./sent-events.ts";
import { shownAs, VIEW_OF } from "./topics.ts";

export type ChangeStreamSource = Omit<SentEvents, "frames" | "wake"> & {
  readonly follower: ChangeFollower;
  /** From which the client resumes; null at the log's beginning. */
  readonly begin: Position | null;
  readonly views: Pick<ViewStore, "getMany">;
  readonly positions: Pick<PositionText, "of">;
};

const frame = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;

/** Nothing of a document but its status goes out, and that only to its account. */
const framesOfDue = async (
  { views, follower, positions }: ChangeStreamSource,
  due: Due,
): Promise<readonly string[]> => {
  if ("changed" in due) return [frame(due)];
  const { topic, changes } = due;
  const documents = await views.getMany(VIEW_OF[topic], [...changes.keys()]);
  // The replay of a single event has no document, and no list shows it.
  const shown = [...changes].filter(([id]) => topic !== "replays" || documents.has(id));
  return shown.map(([id, position]) => {
    const found = documents.get(id);
    const own = found?.account === follower.account ? found : undefined;
    return frame({ topic, ...shownAs(topic, id, own), position: positions.of(position) });
  });
};

async function* framesOf(source: ChangeStreamSource, mayGoOn: () => Promise<boolean>): AsyncGenerator<string, void> {
  const { follower, positions, times } = source;
  // A frame with an id and no data is no event to a client, but the client remembers the id and resumes from there.
  const idOf = (position: Position): string => `id: ${positions.of(position)}\n\n`;
  let resumable = source.begin;
  let sentAt = performance.now();
  if (!(await mayGoOn())) return;
  yield `retry: ${RETRY_MS}\n${resumable === null ? "\n" : idOf(resumable)}`;
  while (await mayGoOn()) {
    const before = sentAt;
    for (const due of follower.take(performance.now()))
      for (const text of await framesOfDue(source, due)) {
        yield text;
        sentAt = performance.now();
      }
    const reached = follower.resumable();
    const isSilent = performance.now() - sentAt >= times.heartbeatMs;
    if (reached !== null && reached !== resumable && (isSilent || sentAt !== before)) {
      resumable = reached;
      yield idOf(reached);
    }
    if (isSilent) {
      yield ":\n\n";
      sentAt = performance.now();
    }
    await follower.pause(performance.now(), times.heartbeatMs);
  }
}

/** Says what has changed, without its contents. It ends as `sentEvents` do. */
export const changeStream = (source: ChangeStreamSource): Readable =>
  sentEvents({ ...source, frames: (mayGoOn) => framesOf(source, mayGoOn), wake: source.follower.wake });
