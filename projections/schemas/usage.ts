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
  description: "Each account's usage by month, the basis of its bill. Months without events have no document.",
  id: "<account>/<month>.",
  documents: [
    closed<UsageDocument>("An account's month.", {
      account: ACCOUNT,
      month: MONTH,
      events: count(
        "Admitted events of sources, each once, which are billed. A held event counts when it is approved, in the month " +
          "of its hold.",
      ),
      blocked: count("Requests that a policy refused, including repeats. Never billed."),
      observed: count("Events that violated a policy which only observes."),
    }),
  ],
};
