import type { RetainedDocument } from "../retention.ts";
import { closed, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT } from "./words.ts";

export const retentionView: PublishedView = {
  view: "retention.v1",
  description:
    "The events and bundles that have ended and whose payloads are still there. What is erased leaves it; the payloads " +
    "of a bundle's steps go with those of the bundle.",
  id: "The event's id, evt_…, or the bundle's, bun_….",
  documents: [
    closed<RetainedDocument>("An event, or a bundle.", {
      account: ACCOUNT,
      ended_at: time("When it ended: from here the days of the plan are counted."),
    }),
  ],
};
