import { eventOf } from "../../domain/events.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import type { ReplayCommand, ReplayRejection } from "../../domain/replay/commands.ts";
import { replay } from "../../domain/replay/decider.ts";
import {
  type ReplayPlace,
  type ReplayPlaceEvent,
  type ReplayPlaces,
  replayPlaces,
} from "../../domain/replay/places.ts";
import type { ReplayState } from "../../domain/replay/state.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { LogUnavailable } from "../../infra/log-errors.ts";
import type { Aggregates, Handled } from "../streams/aggregates.ts";
import { type Envelope, systemEnvelope } from "../streams/envelope.ts";
import { runCommand, type StreamState } from "../streams/run-command.ts";
import { replayPlacesStream, replayStream } from "./stream.ts";

export type BulkReplayStartDeps = {
  readonly log: EventLog;
  readonly aggregates: Aggregates;
  readonly clock: Clock;
  readonly randomness: Randomness;
};

type StartReplay = Omit<Extract<ReplayCommand, { type: "StartReplay" }>, "type" | "place">;

/** "full" if the account has as many running replays as it may. Rejects with the log's errors. */
export type StartBulkReplay = (
  start: StartReplay,
  envelope: Envelope,
) => Promise<Handled<ReplayState, ReplayRejection> | "full">;

/** Milliseconds. A request that has not started its replay by then counts as dead and loses its place. */
const START_MS = 30_000;
const NO_PLACE = 0;
const TRIES_MAX = 16;

/**
 * A bulk replay first takes one of the account's places. Its end frees nothing: the request that finds all places taken
 * frees those of ended replays, so no crash keeps a place taken.
 */
export const bulkReplayStart = ({ log, aggregates, clock, randomness }: BulkReplayStartDeps): StartBulkReplay => {
  const turns = new Map<string, Promise<unknown>>();

  const envelopeOf = (account: string): Envelope =>
    systemEnvelope({
      actor: "replays",
      commandId: randomId("cmd_", randomness),
      account,
      at: new Date(clock.now()).toISOString(),
    });

  /** True if the place's replay has ended, or is overdue: it is then barred from starting with this place. */
  const isFree = async (account: string, { replay_id: id, number, at }: ReplayPlace): Promise<boolean> => {
    const { state } = await aggregates.load(replay, replayStream(id));
    if (state.phase !== "absent") return state.phase !== "running";
    if (state.abandonedUpTo >= number) return true;
    // After a jump of the clock a new place may seem old: the request that loses it takes another one.
    if (Math.abs(clock.now() - Date.parse(at)) < START_MS) return false;
    const envelope = envelopeOf(account);
    const command = { type: "AbandonReplay", replayId: id, place: number, at: envelope.at } as const;
    const done = await aggregates.handle(replay, replayStream(id), command, envelope);
    return done.outcome !== "rejected";
  };

  const freeOf = async (account: string, places: readonly ReplayPlace[]): Promise<readonly ReplayPlace[]> => {
    const isFreed = await Promise.all(places.map((place) => isFree(account, place)));
    return places.filter((_, index) => isFreed[index]);
  };

  const lastKnown = async (stream: string): Promise<StreamState<ReplayPlaces>> => {
    const last = await log.last(stream);
    if (last === null) return { state: replayPlaces.initial, revision: null };
    const event = eventOf<ReplayPlaceEvent>(last);
    return { state: replayPlaces.evolve(replayPlaces.initial, event), revision: last.revision };
  };

  /** The number of the place that was taken; null if all places of the account are taken. */
  const take = async (account: string, replayId: string): Promise<number | null> => {
    const stream = replayPlacesStream(account);
    for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
      const envelope = envelopeOf(account);
      const known = await lastKnown(stream);
      const first = replayPlaces.decide({ replayId, free: [], at: envelope.at }, known.state);
      const free = first.ok ? [] : await freeOf(account, known.state.places);
      const command = { replayId, free, at: envelope.at };
      const ran = await runCommand(log, { decider: replayPlaces, stream, from: known, command, envelope });
      const own = ran.known.state.places.find((place) => place.replay_id === replayId);
      if (ran.outcome !== "rejected" && own !== undefined) return own.number;
      // At another revision, another node has changed the places meanwhile, and some may be free.
      if (ran.outcome === "rejected" && ran.known.revision === known.revision) return null;
    }
    throw new LogUnavailable(`${stream} is written by too many at once`);
  };

  const takeInTurn = (account: string, replayId: string): Promise<number | null> => {
    // A request fails together with the previous one of the account, because the log is down for both.
    const mine = (turns.get(account) ?? Promise.resolve()).then(() => take(account, replayId));
    turns.set(account, mine);
    const leave = (): void => {
      if (turns.get(account) === mine) turns.delete(account);
    };
    mine.then(leave, leave);
    return mine;
  };

  return async (start, envelope) => {
    const { replay_id: id, account } = start.replay;
    for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
      const { state } = await aggregates.load(replay, replayStream(id), 0);
      // A repeated command finds the replay that it has started, which needs no further place.
      const place = state.phase === "absent" ? await takeInTurn(account, id) : NO_PLACE;
      if (place === null) return "full";
      const command = { type: "StartReplay", ...start, place } as const;
      const started = await aggregates.handle(replay, replayStream(id), command, envelope);
      if (started.outcome !== "rejected" || started.rejection !== "abandoned") return started;
    }
    throw new LogUnavailable(`${id} was abandoned ${TRIES_MAX} times before it could start`);
  };
};
