import type { RefusalDocument } from "../refusals.ts";
import { closed, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT } from "./words.ts";

export const refusalsView: PublishedView = {
  view: "refusals.v1",
  description:
    "Which gate refused an event. An event that was sent again and admitted keeps its document: events.v2 says how it stands.",
  id: "The event's id, evt_….",
  documents: [
    closed<RefusalDocument>("A blocked event.", {
      account: ACCOUNT,
      gate: text("The gate that refused it, such as budget."),
      code: text("Why, for machines."),
      received_at: time("When the first request of it came."),
    }),
  ],
};
