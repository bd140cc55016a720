import { accept, type Decision, reject } from "../decider.ts";
import type { ReplayCommand, ReplayRejection } from "./commands.ts";
import type { DeliveryEvent, Request } from "./events.ts";
import type { AdmittedDelivery as Admitted, Delivery, InReplays, Replaying } from "./state.ts";

/** Of one event: whoever has asked so often has something else to mend, and its stream is read as a whole each time. */
export const REPLAYS_MAX = 100;

type Replayed = Extract<DeliveryEvent, { type: "EventReplayed" }>["data"];

/** Micro-euros that the receiver was paid for before the last replay, which stay spent; null when nothing had reached one. */
export const countedOf = (state: Delivery): number | null => {
  if (state.phase === "admitted") return state.replay?.counted ?? null;
  return state.phase === "ended" ? (state.counted ?? null) : null;
};

/** Nothing that an agent asked for has ever reached its receiver: what it reserved is free again. */
export const hasGivenBack = (state: Delivery): boolean =>
  state.phase === "admitted" &&
  state.end === "failed" &&
  state.request.origin.kind === "agent" &&
  state.lease === null &&
  state.reached === null &&
  countedOf(state) === null;

const replaysOf = (state: Delivery): readonly string[] => ("replays" in state ? (state.replays ?? []) : []);

/** However far it has got since, and whatever else has replayed it behind that. */
export const wasReplayedBy = (state: Delivery, id: string): boolean => replaysOf(state).includes(id);

/** It may be asked for no more replays. */
export const isReplayedTooOften = (state: Delivery): boolean => replaysOf(state).length >= REPLAYS_MAX;

/** The replays as they go on behind `state`, `id` among them. */
export const inReplays = (state: Delivery, id?: string): InReplays => {
  const before = replaysOf(state);
  const replays = id === undefined || before.includes(id) ? before : [...before, id];
  return replays.length === 0 ? {} : { replays };
};

/** Of the replay, if this is one, that what happens to a delivery belongs to. */
export const replayIdOf = ({ replay, request }: { readonly replay?: Replaying; readonly request: Request }) =>
  replay?.id ?? request.replay?.id;

/** The same as a member of a record, left out where there is none. */
export const replayField = (state: Parameters<typeof replayIdOf>[0]): { readonly replay_id?: string } => {
  const id = replayIdOf(state);
  return id === undefined ? {} : { replay_id: id };
};

/** What the next attempt is made for: the first one of a replay is the replay's. */
export const triggerOf = (state: Admitted): "auto" | "replay" =>
  replayIdOf(state) !== undefined && state.attempts === (state.replay?.before ?? 0) ? "replay" : "auto";

/** Attempts since it was admitted or replayed, without probes: the number by which the endpoint's schedule is read. */
export const attemptOfSchedule = ({ replay, probes = 0 }: Admitted, number: number): number =>
  number - (replay?.before ?? 0) - probes;

/** The delivery as it begins anew. */
export const replayed = (state: Admitted, data: Replayed): Admitted => {
  const { spent: _, ...rest } = state;
  const { cost, ledgers, counted = null, at, replay_id: id, by, reason } = data;
  const places = cost === undefined && ledgers === undefined ? {} : { cost: cost ?? null, ledgers: ledgers ?? [] };
  return {
    ...rest,
    ...inReplays(state, id),
    request: { ...state.request, ...places },
    lease: null,
    dueAt: at,
    end: null,
    cancelling: null,
    reached: null,
    probes: 0,
    replay: { id, by, reason, at, before: state.attempts, counted },
  };
};

/** Of an agent's request that its receiver had before: what it was counted for, and no estimate a second time. */
const countedBefore = ({ request, replay, spent }: Admitted): Pick<Replayed, "cost" | "ledgers" | "counted"> =>
  request.origin.kind === "agent" ? { cost: 0, ledgers: [], counted: (replay?.counted ?? 0) + (spent ?? 0) } : {};

export const decideReplay = (
  { replay: { id, by, reason }, places, at }: ReplayCommand,
  state: Delivery,
): Decision<DeliveryEvent, ReplayRejection> => {
  // Given again, however far it has got since: one replay replays once.
  if (wasReplayedBy(state, id)) return accept();
  if (state.phase === "held") return reject("in-progress");
  if (state.phase === "ended") return reject("not-failed");
  if (state.phase !== "admitted") return reject("not-admitted");
  if (state.request.bundle !== undefined) return reject("of-bundle");
  if (state.end === null) return reject("in-progress");
  if (state.end === "delivered") return reject("already-delivered");
  if (state.end === "recorded") return reject("not-failed");
  if (state.erased) return reject("payload-erased");
  if (isReplayedTooOften(state)) return reject("too-often");
  const isFree = hasGivenBack(state);
  if (isFree && places === null) return reject("places-needed");
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
      ...(isFree ? places : countedBefore(state)),
      at,
    },
  });
};
