import type { DeliveryEvent, Replayer } from "../domain/delivery/events.ts";
import type { RecordedEvent } from "../domain/ports/event-log.ts";
import type { ReplayEvent, ReplayFilter } from "../domain/replay/events.ts";
import { eventOf, type Projection } from "./projection.ts";
import { deliveryOf } from "./streams.ts";

export type ReplayDocument = {
  readonly account: string;
  readonly status: "running" | "done" | "cancelled";
  readonly filter: ReplayFilter;
  /** Number of events that the filter selected at the start. */
  readonly total: number;
  /** Number of events that were sent or decided again; `delivered` and `failed` count how these ended. */
  readonly replayed: number;
  readonly delivered: number;
  readonly failed: number;
  /** Number of events that could not be replayed, or had changed meanwhile. */
  readonly skipped: number;
  readonly rate_per_second: number;
  readonly by: Replayer;
  readonly reason: string | null;
  readonly started_at: string;
  /** When all events were done or the replay was cancelled; null until then. */
  readonly ended_at: string | null;
  readonly cancelled: { readonly by: Replayer; readonly reason: string | null } | null;
};

const REPLAY = "replay-";

/** The types of a delivery's records that show progress of a replay, and the field that counts each. */
const PROGRESS = {
  EventReplayed: "replayed",
  EventDelivered: "delivered",
  DeliveryFailed: "failed",
  EventCancelled: "failed",
  HoldEnded: "failed",
  EventAdmitted: "replayed",
  EventHeld: "replayed",
  EventBlocked: "blocked",
} as const satisfies Partial<Record<DeliveryEvent["type"], string>>;

type ProgressEvent = Extract<DeliveryEvent, { type: keyof typeof PROGRESS }>;

const progressIn = (recorded: RecordedEvent): ProgressEvent | null =>
  // `hasOwn`, because an event type may be called "constructor", which every object has.
  Object.hasOwn(PROGRESS, recorded.type) && deliveryOf(recorded) !== null ? eventOf<ProgressEvent>(recorded) : null;

const replayOf = ({ data }: ProgressEvent): string | null => {
  if ("replay_id" in data) return data.replay_id ?? null;
  return "replay" in data ? (data.replay?.id ?? null) : null;
};

const idOf = (recorded: RecordedEvent): string | null => {
  if (recorded.stream.startsWith(REPLAY)) return recorded.stream.slice(REPLAY.length);
  const event = progressIn(recorded);
  return event === null ? null : replayOf(event);
};

type Started = Extract<ReplayEvent, { type: "ReplayStarted" }>["data"];

const started = ({ replay_id: _, up_to: _snapshot, log: _log, at, ...about }: Started): ReplayDocument => ({
  ...about,
  status: "running",
  replayed: 0,
  delivered: 0,
  failed: 0,
  skipped: 0,
  started_at: at,
  ended_at: null,
  cancelled: null,
});

const counted = (document: ReplayDocument, event: ProgressEvent): ReplayDocument => {
  const progress = PROGRESS[event.type];
  // The gates refused the event again, so its replay has ended without a delivery.
  if (progress === "blocked") return { ...document, replayed: document.replayed + 1, failed: document.failed + 1 };
  return { ...document, [progress]: document[progress] + 1 };
};

const evolve = (document: ReplayDocument | null, recorded: RecordedEvent): ReplayDocument | null => {
  const progress = progressIn(recorded);
  // Only a bulk replay has a document; the replay of a single event has none.
  if (progress !== null) return document === null ? null : counted(document, progress);
  const event = eventOf<ReplayEvent>(recorded);
  if (event.type === "ReplayStarted") return started(event.data);
  if (document === null) return null;
  switch (event.type) {
    case "ReplayProgressed":
      return { ...document, skipped: event.data.skipped };
    case "ReplayCancelled": {
      const { by, reason, at } = event.data;
      return { ...document, status: "cancelled", ended_at: at, cancelled: { by, reason } };
    }
    case "ReplayFinished":
      // All events that were not replayed by then count as skipped, even if a node that died has not counted them.
      return {
        ...document,
        status: "done",
        skipped: Math.max(0, document.total - document.replayed),
        ended_at: event.data.at,
      };
    default:
      return document;
  }
};

export const replays: Projection<ReplayDocument> = {
  schema: {
    name: "replays.v1",
    fields: { account: "text", status: "text", started_at: "text" },
    indexes: [
      ["account", "started_at"],
      // For the running replays of all accounts.
      ["status", "started_at"],
    ],
  },
  idsOf: (event) => {
    const id = idOf(event);
    return id === null ? [] : [id];
  },
  apply(event, documents) {
    const id = idOf(event);
    if (id === null) return;
    const before = documents.get(id);
    const after = evolve(before, event);
    if (after !== before) documents.put(id, after);
  },
};
