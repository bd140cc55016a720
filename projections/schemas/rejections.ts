import type { RejectionDocument } from "../rejections.ts";
import { closed, count, oneOf, orNull, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT } from "./words.ts";

const REASONS: readonly RejectionDocument["reason"][] = ["missing", "malformed", "mismatch", "stale", "unknown-secret"];

const SAMPLE = closed<NonNullable<RejectionDocument["sample"]>>("Who the first of them was from.", {
  ip: text("The address that it came from."),
  user_agent: text("Its User-Agent header, at most 200 characters."),
});

export const rejectionsView: PublishedView = {
  view: "rejections.v1",
  description:
    "Requests that sources refused as nobody could tell whom they were from, counted by source, minute and reason.",
  id: "<source>/<minute>/<reason>.",
  documents: [
    closed<RejectionDocument>("A minute of one source, for one reason.", {
      account: ACCOUNT,
      source_id: text("The source, src_…."),
      minute: time("The minute's beginning."),
      reason: oneOf(REASONS, "What was wrong with the signature."),
      count: count("How many."),
      sample: orNull(SAMPLE, "it was not kept."),
    }),
  ],
};
