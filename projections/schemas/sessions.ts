import type { Commitment } from "../../domain/evidence/commitment.ts";
import type { SessionDocument } from "../sessions.ts";
import { closed, count, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT } from "./words.ts";

export const sessionsView: PublishedView = {
  view: "sessions.v1",
  description: "The sessions of people who signed in. A session that expired or was ended with all others stays here.",
  id: "The session's id, ses_…; it is no credential.",
  documents: [
    closed<SessionDocument>("A session.", {
      account: ACCOUNT,
      member: text("The member who signed in."),
      epoch: count("How often all sessions of the member were ended; only those of the newest epoch are valid."),
      created_at: time("When the member signed in."),
      expires_at: time("When the session expires."),
      client: closed<Commitment>("A commitment to the IP address and the browser, which are not in the view.", {
        id: text("Names the value that can be erased, per_…."),
        commitment: text("Hex SHA-256 over 16 random bytes and the value."),
        size: count("The value's bytes."),
      }),
    }),
  ],
};
