import type { AccountEvent, SessionEvent } from "../domain/account/events.ts";
import type { Commitment } from "../domain/evidence/commitment.ts";
import { eventOf, perDocument } from "./projection.ts";
import { subjectOf } from "./streams.ts";

export type SessionDocument = {
  readonly account: string;
  readonly member: string;
  /** A session is valid while this number equals its member's epoch. */
  readonly epoch: number;
  readonly created_at: string;
  readonly expires_at: string;
  /** The commitment to the address and user agent from which the session was opened. */
  readonly client: Commitment;
};

type Ended = Extract<AccountEvent, { type: "PasswordChanged" | "SessionsEnded" }>;

/** Ending all sessions of a member changes no document, because only the member's epoch changes. */
export const sessions = perDocument<SessionDocument>(
  {
    name: "sessions.v1",
    fields: { account: "text", member: "text", epoch: "number", created_at: "text" },
    indexes: [["member", "epoch", "created_at"]],
  },
  ({ type, stream, data }) => {
    if (type === "SessionOpened" || type === "SessionClosed") return subjectOf(stream);
    // The one session that is kept moves to the new epoch.
    if (type === "PasswordChanged" || type === "SessionsEnded") return data.keeps === null ? null : String(data.keeps);
    return null;
  },
  (document, recorded) => {
    const event = eventOf<SessionEvent | Ended>(recorded);
    switch (event.type) {
      case "SessionOpened": {
        const { account, member, epoch, expires_at, client, at } = event.data;
        return { account, member, epoch, created_at: at, expires_at, client };
      }
      case "SessionClosed":
        return null;
      default:
        return document === null ? null : { ...document, epoch: event.data.epoch };
    }
  },
);
