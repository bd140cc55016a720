import type { BillingDocument } from "../billing.ts";
import { closed, count, oneOf, orNull, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT } from "./words.ts";

const PLAN = oneOf(["free", "starter", "core", "scale"], "A plan's name.");

export const billingView: PublishedView = {
  view: "billing.v1",
  description: "Which plan each account has and who bills it. What was used is in usage.v1.",
  id: "The account's id, acc_….",
  documents: [
    closed<BillingDocument>("How an account is billed.", {
      account: ACCOUNT,
      plan: {
        ...PLAN,
        description: "The plan that was decided on last. Once scheduled.from is past, that plan holds.",
      },
      scheduled: orNull(
        closed<NonNullable<BillingDocument["scheduled"]>>("The plan that follows by itself.", {
          plan: PLAN,
          from: time("From when on it holds."),
        }),
        "the plan goes on.",
      ),
      status: oneOf(
        ["active", "past_due", "cancelled"],
        "How it stands with the provider; past_due: it could not collect.",
      ),
      provider: text("Who bills: manual, stripe, …. Empty as long as nothing was bought."),
      customer: text("What the provider calls the account. Empty where it has no name for it."),
      overage_reported: {
        type: "object",
        description: "Begun blocks of 25,000 events that the provider has been told of, by month (YYYY-MM).",
        additionalProperties: count("Blocks, in all."),
      },
      changed_at: time("When any of this changed last."),
    }),
  ],
};
