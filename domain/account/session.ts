import { accept, type Decider, reject } from "../decider.ts";
import type { Commitment } from "../evidence/commitment.ts";
import type { SessionEvent } from "./events.ts";

export type SessionMaker = "browser" | "command-line";

export type SessionState =
  | { readonly phase: "absent" }
  | {
      readonly phase: "open";
      readonly account: string;
      readonly member: string;
      readonly epoch: number;
      readonly expires_at: string;
      readonly mac: string;
      readonly madeBy: SessionMaker;
    }
  | { readonly phase: "closed"; readonly account: string; readonly member: string };

export type SessionCommand =
  | {
      readonly type: "OpenSession";
      readonly account: string;
      readonly member: string;
      readonly epoch: number;
      readonly expires_at: string;
      readonly mac: string;
      readonly client: Commitment;
      readonly madeBy: SessionMaker;
      readonly at: string;
    }
  | { readonly type: "CloseSession"; readonly at: string };

/** Stream `session-<hash of the token>`. A session expires without a record. */
export const session: Decider<SessionState, SessionCommand, SessionEvent, "session-exists"> = {
  initial: { phase: "absent" },

  evolve(state, event) {
    switch (event.type) {
      case "SessionOpened": {
        const { account, member, epoch, expires_at, mac, made_by: madeBy = "browser" } = event.data;
        return { phase: "open", account, member, epoch, expires_at, mac, madeBy };
      }
      case "SessionClosed":
        return { phase: "closed", account: event.data.account, member: event.data.member };
      default:
        return state;
    }
  },

  decide(command, state) {
    switch (command.type) {
      case "OpenSession": {
        const { account, member, epoch, expires_at, mac, client, madeBy, at } = command;
        // Tokens are random, so a token that already has a session was chosen by the caller.
        if (state.phase !== "absent") return reject("session-exists");
        const marked = madeBy === "browser" ? {} : { made_by: madeBy };
        const data = { account, member, epoch, expires_at, mac, client, ...marked, at };
        return accept({ type: "SessionOpened", data });
      }
      case "CloseSession": {
        if (state.phase !== "open") return accept();
        const { account, member } = state;
        return accept({ type: "SessionClosed", data: { account, member, at: command.at } });
      }
    }
  },
};
