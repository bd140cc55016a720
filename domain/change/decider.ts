import { accept, type Decider, reject } from "../decider.ts";
import type { Reason } from "../personal/words.ts";
import type { ChangeEvent } from "./events.ts";

type Held = Extract<ChangeEvent, { type: "ChangeHeld" }>["data"];

export type Change =
  | { readonly phase: "absent" }
  | { readonly phase: "abandoned" }
  | { readonly phase: "held"; readonly held: Held }
  | { readonly phase: "applied"; readonly held: Held }
  | {
      readonly phase: "over";
      readonly held: Held;
      readonly outcome: "void" | "rejected" | "expired" | "cancelled";
      readonly reason: Reason;
    };

export type ChangeCommand =
  | { readonly type: "HoldChange"; readonly held: Held }
  /** Ensures that a change with a place can no longer be held, so that its place can be given back. */
  | { readonly type: "AbandonChange"; readonly changeId: string; readonly at: string }
  | { readonly type: "MarkApplied"; readonly at: string }
  | { readonly type: "VoidChange"; readonly reason: Reason; readonly at: string }
  | {
      readonly type: "EndHold";
      readonly outcome: "rejected" | "expired" | "cancelled";
      readonly reason: Reason;
      readonly at: string;
    };

export const change: Decider<Change, ChangeCommand, ChangeEvent, "not-found" | "abandoned"> = {
  initial: { phase: "absent" },

  evolve(state, event) {
    if (event.type === "ChangeHeld") return { phase: "held", held: event.data };
    if (event.type === "ChangeAbandoned") return { phase: "abandoned" };
    if (state.phase === "absent" || state.phase === "abandoned") return state;
    const { held } = state;
    switch (event.type) {
      case "ChangeApplied":
        return { phase: "applied", held };
      case "ChangeVoided":
        return { phase: "over", held, outcome: "void", reason: event.data.reason };
      case "ChangeEnded":
        return { phase: "over", held, outcome: event.data.outcome, reason: event.data.reason };
    }
  },

  decide(command, state) {
    if (command.type === "AbandonChange") {
      if (state.phase !== "absent") return accept();
      return accept({ type: "ChangeAbandoned", data: { change_id: command.changeId, at: command.at } });
    }
    if (state.phase === "abandoned") return reject("abandoned");
    if (command.type === "HoldChange") {
      // The id is derived from the command, so an existing change is the same one.
      return state.phase === "absent" ? accept({ type: "ChangeHeld", data: command.held }) : accept();
    }
    if (state.phase === "absent") return reject("not-found");
    if (state.phase !== "held") return accept();
    const { change_id, approval_id } = state.held;
    const about = { change_id, approval_id, at: command.at };
    switch (command.type) {
      case "MarkApplied":
        return accept({ type: "ChangeApplied", data: about });
      case "VoidChange":
        return accept({ type: "ChangeVoided", data: { ...about, reason: command.reason } });
      case "EndHold":
        return accept({ type: "ChangeEnded", data: { ...about, outcome: command.outcome, reason: command.reason } });
    }
  },
};
