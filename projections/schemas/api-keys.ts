import type { ApiKeyDocument } from "../api-keys.ts";
import { closed, oneOf, orNull, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT } from "./words.ts";

export const apiKeysView: PublishedView = {
  view: "api-keys.v2",
  description: "The API keys of the accounts. A revoked key is not here, but in the audit log; an expired one stays.",
  id: "The key's id, key_….",
  documents: [
    closed<ApiKeyDocument>("An API key, without secrets.", {
      account: ACCOUNT,
      name: text("Its name."),
      role: oneOf(["admin", "auditor", "viewer"], "What the key may do; each role includes the ones after it."),
      last4: text("The last four characters of the key, to recognise it by."),
      expires_at: orNull(time("When the key stops working."), "it does not expire."),
      created_by: text("The id of the member, or of the key, that made it."),
      created_at: time("When it was made."),
      last_used_at: orNull(
        time("Its first use on the newest day, in the account's time zone, on which it was used."),
        "it was never used.",
      ),
    }),
  ],
};
