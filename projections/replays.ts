import type { DeliveryEvent, Replayer } from "../domain/delivery/events.ts";
import type { Words } from "../domain/personal/words.ts";
import type { RecordedEvent } from "../domain/ports/event-log.ts";
import type { ReplayEvent, ReplayFilter } from "../domain/replay/events.ts";
import type { SkipCount } from "../domain/replay/skips.ts";
import { eventOf, type Projection } from "./projection.ts";
import { countIn, sumOfSkips } from "./replay-skips.ts";
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
  readonly skipped_by: readonly SkipCount[];
  /** The part of `skipped_by` that was known at the start. */
  readonly excluded: readonly SkipCount[];
  /** Replayed events that are to be sent and have not ended, by their endpoint. Its circuit decides whether they wait. */
  readonly open: Readonly<Record<string, number>>;
  readonly rate_per_second: number;
  readonly by: Replayer;
  readonly reason: Words | null;
  readonly started_at: string;
  /** When all events were done or the replay was cancelled; null until then. */
  readonly ended_at: string | null;
  readonly cancelled: { readonly by: Replayer; readonly reason: Words | null } | null;
};

const REPLAY = "replay-";

/** The types of a delivery's records that show progress of a replay, and the field that counts each. */
const PROGRESS = {
  EventReplayed: "replayed",
  EventReleased: "released",
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

const started = ({
  replay_id: _,
  up_to: _snapshot,
  log: _log,
  at,
  excluded = [],
  ...about
}: Started): ReplayDocument => ({
  ...about,
  excluded,
  status: "running",
  replayed: 0,
  delivered: 0,
  failed: 0,
  skipped: countIn(excluded),
  skipped_by: excluded,
  open: {},
  started_at: at,
  ended_at: null,
  cancelled: null,
});

/** How many more deliveries to the event's endpoint have begun after the record: 1, or -1 at an end. */
const changeOfOpen = (event: ProgressEvent): number => {
  switch (event.type) {
    case "EventReplayed":
    case "EventAdmitted":
      return 1;
    case "EventReleased":
      // With `attempts`, the event was held again after a release, and has counted as open since.
      return event.data.attempts === undefined ? 1 : 0;
    case "EventDelivered":
    case "DeliveryFailed":
    case "EventCancelled":
      return -1;
    default:
      return 0;
  }
};

const withOpen = (document: ReplayDocument, event: ProgressEvent): ReplayDocument => {
  const change = changeOfOpen(event);
  const id = "endpoint_id" in event.data ? event.data.endpoint_id : null;
  if (change === 0 || id === null || id === "") return document;
  const { [id]: before = 0, ...others } = document.open;
  const now = Math.max(0, before + change);
  return { ...document, open: now === 0 ? others : { ...others, [id]: now } };
};

/** A request that is held again and then rejected names no endpoint; when all have ended, none is open. */
const counted = (before: ReplayDocument, event: ProgressEvent): ReplayDocument => {
  const after = withCount(withOpen(before, event), event);
  return after.replayed > after.delivered + after.failed ? after : { ...after, open: {} };
};

const withCount = (document: ReplayDocument, event: ProgressEvent): ReplayDocument => {
  const progress = PROGRESS[event.type];
  if (progress === "released") return document;
  // The gates refused the event again, so its replay has ended without a delivery.
  if (progress === "blocked") return { ...document, replayed: document.replayed + 1, failed: document.failed + 1 };
  return { ...document, [progress]: document[progress] + 1 };
};

const withSkips = (document: ReplayDocument, asked: readonly SkipCount[]): ReplayDocument => {
  const skipped_by = sumOfSkips([...document.excluded, ...asked]);
  return { ...document, skipped_by, skipped: countIn(skipped_by) };
};

/** Events that left the filter before their turn are in no count until then. */
const withChanged = (document: ReplayDocument): ReplayDocument => {
  const skipped = Math.max(0, document.total - document.replayed);
  const count = skipped - countIn(document.skipped_by);
  const skipped_by =
    count > 0 ? sumOfSkips([...document.skipped_by, { reason: "changed", count }]) : document.skipped_by;
  return { ...document, skipped, skipped_by };
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
      return withSkips(document, event.data.skipped_by ?? [{ reason: "changed", count: event.data.skipped }]);
    case "ReplayCancelled": {
      const { by, reason, at } = event.data;
      return { ...document, status: "cancelled", ended_at: at, cancelled: { by, reason } };
    }
    case "ReplayFinished":
      // All events that were not replayed by then count as skipped, even if a node that died has not counted them.
      return { ...withChanged(document), status: "done", ended_at: event.data.at };
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
