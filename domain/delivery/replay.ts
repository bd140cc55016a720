import { accept, type Decision, reject } from "../decider.ts";
import { defined } from "../defined.ts";
import type { CommandOf, ReplayRejection } from "./commands.ts";
import type { DeliveryEvent, Request } from "./events.ts";
import type { ActiveDelivery, Delivery, FailedDelivery, LatestReplay } from "./state.ts";

/** An event that was replayed so often has another problem, and each replay reads its whole stream. */
export const REPLAYS_MAX = 100;

/** Micro-euros spent before the latest replay; null if nothing had reached the receiver by then. */
export const countedOf = (state: Delivery): number | null => {
  if (state.phase === "stopped") return state.counted;
  return "replay" in state ? (state.replay?.counted ?? null) : null;
};

/** True if the places of an agent's request were released, because nothing can have reached the receiver. */
export const hasGivenBack = (state: Delivery): boolean =>
  state.phase === "failed" &&
  state.request.origin.kind === "agent" &&
  state.reached === null &&
  countedOf(state) === null;

const replaysOf = (state: Delivery): readonly string[] => ("replays" in state ? state.replays : []);

export const wasReplayedBy = (state: Delivery, id: string): boolean => replaysOf(state).includes(id);

export const isReplayedTooOften = (state: Delivery): boolean => replaysOf(state).length >= REPLAYS_MAX;

export const withReplay = (state: Delivery, id: string | undefined): readonly string[] => {
  const before = replaysOf(state);
  return id === undefined || before.includes(id) ? before : [...before, id];
};

export const replayIdOf = (it: { readonly replay: LatestReplay | null; readonly request: Request }): string | null =>
  it.replay?.id ?? it.request.replay?.id ?? null;

export const replayField = (it: Parameters<typeof replayIdOf>[0]): { readonly replay_id?: string } =>
  defined({ replay_id: replayIdOf(it) ?? undefined });

/** The first attempt after a replay is the replay's; the schedule makes all others. */
export const triggerOf = (state: ActiveDelivery): "auto" | "replay" =>
  replayIdOf(state) !== null && state.attempts === (state.replay?.before ?? 0) ? "replay" : "auto";

/** The schedule counts attempts since the admission or the latest replay, without those made while the circuit was open. */
export const attemptOfSchedule = ({ attempts, replay, probes }: ActiveDelivery): number =>
  attempts - (replay?.before ?? 0) - probes;

type Replayed = Extract<DeliveryEvent, { type: "EventReplayed" }>["data"];

/** An agent's request may have reached its receiver before: its cost stays counted, and no estimate is added. */
const countedBefore = ({ request, replay, spent }: FailedDelivery): Pick<Replayed, "cost" | "ledgers" | "counted"> =>
  request.origin.kind === "agent" ? { cost: 0, ledgers: [], counted: (replay?.counted ?? 0) + (spent ?? 0) } : {};

const notFailed = (state: Exclude<Delivery, FailedDelivery>): ReplayRejection => {
  switch (state.phase) {
    case "absent":
    case "abandoned":
    case "blocked":
      return "not-admitted";
    case "held":
      return "in-progress";
    case "stopped":
      return "not-failed";
    default:
      if (state.request.bundle !== undefined) return "of-bundle";
      if (state.phase === "delivered") return "already-delivered";
      return state.phase === "recorded" ? "not-failed" : "in-progress";
  }
};

export const decideReplay = (
  { replay: { id, by, reason }, places, at }: CommandOf<"Replay">,
  state: Delivery,
): Decision<DeliveryEvent, ReplayRejection> => {
  if (wasReplayedBy(state, id)) return accept();
  if (state.phase !== "failed") return reject(notFailed(state));
  if (state.request.bundle !== undefined) return reject("of-bundle");
  if (state.erased) return reject("payload-erased");
  if (isReplayedTooOften(state)) return reject("too-often");
  const needsPlaces = hasGivenBack(state);
  if (needsPlaces && places === null) return reject("places-needed");
  const { event_id, endpoint_id } = state.request;
  return accept({
    type: "EventReplayed",
    data: {
      event_id,
      endpoint_id: endpoint_id ?? "",
      replay_id: id,
      by,
      reason,
      attempts: state.attempts,
      admitted_at: state.admittedAt,
      ...(needsPlaces ? places : countedBefore(state)),
      at,
    },
  });
};
