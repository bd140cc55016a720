import type { DeliveryEvent, Replayer } from "../domain/delivery/events.ts";
import type { RecordedEvent } from "../domain/ports/event-log.ts";
import type { Document } from "../domain/ports/view-store.ts";
import type { ReplayEvent, ReplayFilter } from "../domain/replay/events.ts";
import type { Projection } from "./projection.ts";
import { deliveryOf } from "./streams.ts";

/** A replay of many events, and what has become of them. */
export type ReplayDocument = {
  readonly account: string;
  readonly status: "running" | "done" | "cancelled";
  readonly filter: ReplayFilter;
  /** Events that the filter chose when it began. */
  readonly total: number;
  /** Sent again, or decided again; the last two say what came of it in the end. */
  readonly replayed: number;
  readonly delivered: number;
  readonly failed: number;
  /** Could not be replayed, or had come to something else meanwhile. */
  readonly skipped: number;
  readonly rate_per_second: number;
  readonly by: Replayer;
  readonly reason: string | null;
  readonly started_at: string;
  /** When all had been dealt with, or it was cancelled. */
  readonly ended_at: string | null;
  /** Of a cancellation. */
  readonly cancelled: { readonly by: Replayer; readonly reason: string | null } | null;
};

const REPLAY = "replay-";

/** By which member of its data a delivery's record names the replay that it belongs to. */
const TOLD = {
  EventReplayed: "replayed",
  EventDelivered: "delivered",
  DeliveryFailed: "failed",
  EventCancelled: "failed",
  HoldEnded: "failed",
  EventAdmitted: "replayed",
  EventHeld: "replayed",
  EventBlocked: "blocked",
} as const satisfies Partial<Record<DeliveryEvent["type"], string>>;

type ToldEvent = Extract<DeliveryEvent, { type: keyof typeof TOLD }>;

const toldIn = (recorded: RecordedEvent): ToldEvent | null =>
  // Own keys only: a type called "constructor" is not one of them.
  Object.hasOwn(TOLD, recorded.type) && deliveryOf(recorded) !== null ? (recorded as unknown as ToldEvent) : null;

const replayOf = ({ data }: ToldEvent): string | null => {
  if ("replay_id" in data) return data.replay_id ?? null;
  return "replay" in data ? (data.replay?.id ?? null) : null;
};

const idOf = (recorded: RecordedEvent): string | null => {
  if (recorded.stream.startsWith(REPLAY)) return recorded.stream.slice(REPLAY.length);
  const event = toldIn(recorded);
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

const counted = (document: ReplayDocument, event: ToldEvent): ReplayDocument => {
  const told = TOLD[event.type];
  // Refused by the gates once more: sent again, and for nothing.
  if (told === "blocked") return { ...document, replayed: document.replayed + 1, failed: document.failed + 1 };
  return { ...document, [told]: document[told] + 1 };
};

const evolve = (document: ReplayDocument | null, recorded: RecordedEvent): ReplayDocument | null => {
  const event = toldIn(recorded);
  // A replay of one event has no document.
  if (event !== null) return document === null ? null : counted(document, event);
  // The stream's category says which events are in it; a type that this build does not know falls through.
  const of = recorded as unknown as ReplayEvent;
  if (of.type === "ReplayStarted") return started(of.data);
  if (document === null) return null;
  switch (of.type) {
    case "ReplayProgressed":
      return { ...document, skipped: of.data.skipped };
    case "ReplayCancelled": {
      const { by, reason, at } = of.data;
      return { ...document, status: "cancelled", ended_at: at, cancelled: { by, reason } };
    }
    case "ReplayFinished":
      // What was not replayed by then is passed over for good, whatever a node that died had counted of it.
      return {
        ...document,
        status: "done",
        skipped: Math.max(0, document.total - document.replayed),
        ended_at: of.data.at,
      };
    default:
      return document;
  }
};

/** One document a replay of many: the list of replays, their progress, and the loop's list of those that run. */
export const replays: Projection = {
  schema: {
    name: "replays.v1",
    fields: { account: "text", status: "text", started_at: "text" },
    indexes: [
      ["account", "started_at"],
      // Over all accounts: those that run.
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
    // The view's own documents come back as they were put.
    const before = documents.get(id) as unknown as ReplayDocument | null;
    const after = evolve(before, event);
    // Plain JSON throughout; the compiler does not see that of a type with optional members.
    if (after !== before) documents.put(id, after as unknown as Document);
  },
};
