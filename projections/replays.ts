import type { DeliveryEvent, Replayer } from "../domain/delivery/events.ts";
import type { RecordedEvent } from "../domain/ports/event-log.ts";
import type { Document } from "../domain/ports/view-store.ts";
import type { ReplayEvent, ReplayFilter } from "../domain/replay/events.ts";
import type { Projection } from "./projection.ts";
import { deliveryOf } from "./streams.ts";

/** A bulk replay and its progress. */
export type ReplayDocument = {
  readonly account: string;
  readonly status: "running" | "done" | "cancelled";
  readonly filter: ReplayFilter;
  /** Events that the filter selected at the start. */
  readonly total: number;
  /** Events sent or decided again; the next two fields count their final outcomes. */
  readonly replayed: number;
  readonly delivered: number;
  readonly failed: number;
  /** Events that could not be replayed, or had changed meanwhile. */
  readonly skipped: number;
  readonly rate_per_second: number;
  readonly by: Replayer;
  readonly reason: string | null;
  readonly started_at: string;
  /** When all were done, or the replay was cancelled. */
  readonly ended_at: string | null;
  /** Who cancelled it, and why. */
  readonly cancelled: { readonly by: Replayer; readonly reason: string | null } | null;
};

const REPLAY = "replay-";

/** The field in which a delivery's record names its replay. */
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
  // The gates refused it again, so this replay had no effect.
  if (told === "blocked") return { ...document, replayed: document.replayed + 1, failed: document.failed + 1 };
  return { ...document, [told]: document[told] + 1 };
};

const evolve = (document: ReplayDocument | null, recorded: RecordedEvent): ReplayDocument | null => {
  const event = toldIn(recorded);
  // A replay of a single event has no document.
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
      // Events that were not replayed by then are skipped, even if a node that died had not counted them.
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

/** One document for each bulk replay: its progress, and the list of those that run. */
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
