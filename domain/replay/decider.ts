import { accept, type Decider, reject } from "../decider.ts";
import type { ReplayCommand, ReplayRejection } from "./commands.ts";
import type { ReplayCursor, ReplayEvent } from "./events.ts";
import type { ReplayState } from "./state.ts";

const isBehind = (a: ReplayCursor | null, b: ReplayCursor | null): boolean => {
  if (b === null) return false;
  if (a === null) return true;
  return a.received_at === b.received_at ? a.id < b.id : a.received_at < b.received_at;
};

export const replay: Decider<ReplayState, ReplayCommand, ReplayEvent, ReplayRejection> = {
  initial: { phase: "absent", abandonedUpTo: 0 },

  evolve(state, event) {
    if (event.type === "ReplayStarted") {
      return { phase: "running", started: event.data, cursor: null, skipped: [], claim: null };
    }
    if (state.phase === "absent") {
      return event.type === "ReplayAbandoned" ? { ...state, abandonedUpTo: event.data.place } : state;
    }
    switch (event.type) {
      case "ReplayProgressed": {
        const { cursor, skipped_by: skipped = [], node, at } = event.data;
        return { ...state, cursor, skipped, claim: { node, at } };
      }
      case "ReplayCancelled":
        return { ...state, phase: "cancelled" };
      case "ReplayFinished":
        return { ...state, phase: "done" };
      case "ReplayAbandoned":
        return state;
    }
  },

  decide(command, state) {
    if (command.type === "StartReplay") {
      // The id comes from the command, so an existing replay was started by the same command.
      if (state.phase === "absent") {
        if (command.place <= state.abandonedUpTo) return reject("abandoned");
        return accept({ type: "ReplayStarted", data: { ...command.replay, at: command.at } });
      }
      return state.started.account === command.replay.account ? accept() : reject("conflict");
    }
    if (command.type === "AbandonReplay") {
      const { replayId: replay_id, place, at } = command;
      if (state.phase !== "absent") return reject("started");
      if (place <= state.abandonedUpTo) return accept();
      return accept({ type: "ReplayAbandoned", data: { replay_id, place, at } });
    }
    if (state.phase === "absent") return reject("not-found");
    const { replay_id, account } = state.started;
    const { at } = command;
    switch (command.type) {
      case "ProgressReplay": {
        if (state.phase !== "running") return reject("ended");
        const { cursor, skipped: skipped_by, node } = command;
        const skipped = skipped_by.reduce((sum, { count }) => sum + count, 0);
        // Another node has already handled events after this cursor.
        if (isBehind(cursor, state.cursor)) return reject("overtaken");
        return accept({ type: "ReplayProgressed", data: { replay_id, cursor, skipped, skipped_by, node, at } });
      }
      case "CancelReplay":
        if (account !== command.account) return reject("not-found");
        if (state.phase === "cancelled") return accept();
        if (state.phase === "done") return reject("ended");
        return accept({ type: "ReplayCancelled", data: { replay_id, by: command.by, reason: command.reason, at } });
      case "FinishReplay":
        if (state.phase !== "running") return state.phase === "done" ? accept() : reject("ended");
        return accept({ type: "ReplayFinished", data: { replay_id, at } });
    }
  },
};
