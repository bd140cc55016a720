import { accept, type Decider, reject } from "../decider.ts";
import type { EmailEvent } from "./events.ts";

export type Claim = Extract<EmailEvent, { type: "EmailClaimed" }>["data"];

export type EmailState = { readonly phase: "free" } | { readonly phase: "claimed"; readonly claim: Claim };

export type EmailCommand =
  | ({ readonly type: "ClaimEmail" } & Claim)
  | { readonly type: "ReleaseEmail"; readonly account: string; readonly member: string; readonly at: string };

/** Stream `email-<hash of the address>`: an address belongs to at most one member of one account. */
export const emailClaim: Decider<EmailState, EmailCommand, EmailEvent, "email-taken"> = {
  initial: { phase: "free" },

  evolve(_state, event) {
    switch (event.type) {
      case "EmailClaimed":
        return { phase: "claimed", claim: event.data };
      case "EmailReleased":
        return { phase: "free" };
    }
  },

  decide(command, state) {
    switch (command.type) {
      case "ClaimEmail": {
        const { type: _, ...claim } = command;
        if (state.phase === "free") return accept({ type: "EmailClaimed", data: claim });
        return state.claim.member === claim.member ? accept() : reject("email-taken");
      }
      case "ReleaseEmail": {
        // Another member may have claimed the address meanwhile: that member's claim stays.
        if (state.phase === "free" || state.claim.member !== command.member) return accept();
        const { account, member, at } = command;
        return accept({ type: "EmailReleased", data: { account, member, at } });
      }
    }
  },
};
