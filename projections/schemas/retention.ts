import type { RetainedDocument } from "../retention.ts";
import { closed, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT } from "./words.ts";

export const retentionView: PublishedView = {
  view: "retention.v1",
  description:
    "The ended events and bundles whose payloads are not erased yet. The payloads of a bundle's steps are erased with " +
    "the bundle's.",
  id: "The event's id, evt_…, or the bundle's, bun_….",
  documents: [
    closed<RetainedDocument>("An event, or a bundle.", {
      account: ACCOUNT,
      ended_at: time("When it ended: the plan's days count from here."),
    }),
  ],
};
