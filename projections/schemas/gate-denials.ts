import type { GateDenialDocument } from "../gate-denials.ts";
import { closed, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT } from "./words.ts";

export const gateDenialsView: PublishedView = {
  view: "refusals.v1",
  description:
    "The gate that refused an event. If the event is admitted later, the document stays; events.v3 has the status.",
  id: "The event's id, evt_….",
  documents: [
    closed<GateDenialDocument>("A blocked event.", {
      account: ACCOUNT,
      gate: text("The gate that refused it, such as budget."),
      code: text("A code for programs."),
      received_at: time("When its first request arrived."),
    }),
  ],
};
