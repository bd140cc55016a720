import { accept, type Decider, reject } from "../decider.ts";

/**
 * How many replays of an account may have begun and not ended. A node works on two of them at once (`bulk-replayer.ts`) and
 * looks for the others every second, so a higher limit would only make more of them wait.
 */
export const RUNNING_MAX = 20;

/** The right to start one replay. Numbers grow, so no number is used twice. */
export type ReplayPlace = { readonly replay_id: string; readonly number: number; readonly at: string };

/** Stream `replays-<account>`. Each record has all places, so the last one is the whole state. */
export type ReplayPlaceEvent = {
  readonly type: "ReplayPlaceTaken";
  readonly data: {
    readonly replay_id: string;
    readonly number: number;
    readonly places: readonly ReplayPlace[];
    readonly at: string;
  };
};

export type ReplayPlaces = { readonly places: readonly ReplayPlace[]; readonly lastNumber: number };

/** `free`: places of replays that have ended or can never start; the next record releases them. */
export type TakeReplayPlace = { readonly replayId: string; readonly free: readonly ReplayPlace[]; readonly at: string };

export const replayPlaces: Decider<ReplayPlaces, TakeReplayPlace, ReplayPlaceEvent, "full"> = {
  initial: { places: [], lastNumber: 0 },

  evolve: (_state, { data: { places, number } }) => ({ places, lastNumber: number }),

  decide({ replayId, free, at }, { places, lastNumber }) {
    const freed = new Set(free.map(({ number }) => number));
    // A request that comes again for the same replay takes over the place of the first one.
    const left = places.filter((place) => place.replay_id !== replayId && !freed.has(place.number));
    if (left.length >= RUNNING_MAX) return reject("full");
    const own: ReplayPlace = { replay_id: replayId, number: lastNumber + 1, at };
    return accept({ type: "ReplayPlaceTaken", data: { ...own, places: [...left, own] } });
  },
};
