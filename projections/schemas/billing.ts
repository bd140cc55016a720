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
        description: "The plan of the last decision. After scheduled.from the scheduled plan applies.",
      },
      scheduled: orNull(
        closed<NonNullable<BillingDocument["scheduled"]>>("The plan that follows automatically.", {
          plan: PLAN,
          from: time("When it begins."),
        }),
        "the plan goes on.",
      ),
      status: oneOf(["active", "past_due", "cancelled"], "The provider's status; past_due: it could not collect."),
      provider: text("The billing provider: manual, stripe, …. Empty before the first purchase."),
      customer: text("The provider's id for the account. Empty if it has none."),
      overage_reported: {
        type: "object",
        description: "Started blocks of 25,000 events that were reported to the provider, by month (YYYY-MM).",
        additionalProperties: count("Blocks, in all."),
      },
      changed_at: time("When any of this changed last."),
    }),
  ],
};
