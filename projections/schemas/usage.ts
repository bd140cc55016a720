import type { UsageDocument } from "../usage.ts";
import { closed, count, type JsonSchema } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT } from "./words.ts";

const MONTH: JsonSchema = {
  type: "string",
  pattern: "^[0-9]{4}-[0-9]{2}$",
  description: "The calendar month in UTC, YYYY-MM.",
};

export const usageView: PublishedView = {
  view: "usage.v1",
  description: "What each account used in a month: what the bill is made from. Months without events have no document.",
  id: "<account>/<month>.",
  documents: [
    closed<UsageDocument>("An account's month.", {
      account: ACCOUNT,
      month: MONTH,
      events: count(
        "Events of sources that were admitted, each once: what is billed. One that was held counts once it is approved, in " +
          "the month in which it was held.",
      ),
      blocked: count("Requests that a policy refused, repeats of one event included. Never billed."),
      observed: count("Events admitted although they violated a policy that only observes."),
    }),
  ],
};
