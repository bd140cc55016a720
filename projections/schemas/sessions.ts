import type { SessionDocument } from "../sessions.ts";
import { closed, count, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT } from "./words.ts";

export const sessionsView: PublishedView = {
  view: "sessions.v1",
  description: "The sessions of people who signed in. A session that ended by itself or with all others stays here.",
  id: "The session's id, ses_…; it is no credential.",
  documents: [
    closed<SessionDocument>("A session.", {
      account: ACCOUNT,
      member: text("The member who signed in."),
      epoch: count("Counts how often all sessions of the member were ended; only those of the newest epoch hold."),
      created_at: time("When the member signed in."),
      expires_at: time("When the session ends by itself."),
    }),
  ],
};
