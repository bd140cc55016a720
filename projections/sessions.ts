import type { AccountEvent, SessionEvent } from "../domain/account/events.ts";
import type { Commitment } from "../domain/personal/events.ts";
import { eventOf, perDocument } from "./projection.ts";
import { subjectOf } from "./streams.ts";

export type SessionDocument = {
  readonly account: string;
  readonly member: string;
  /** A session is valid while this equals the member's epoch. */
  readonly epoch: number;
  readonly created_at: string;
  readonly expires_at: string;
  /** A commitment to the client that opened it. */
  readonly client: Commitment;
};

type Ended = Extract<AccountEvent, { type: "PasswordChanged" | "SessionsEnded" }>;

/** Ending all sessions changes no document here: those sessions have a past epoch. */
export const sessions = perDocument<SessionDocument>(
  {
    name: "sessions.v1",
    fields: { account: "text", member: "text", epoch: "number", created_at: "text" },
    indexes: [["member", "epoch", "created_at"]],
  },
  ({ type, stream, data }) => {
    if (type === "SessionOpened" || type === "SessionClosed") return subjectOf(stream);
    // The session that survives moves to the new epoch.
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
