import type { AccountEvent } from "../domain/account/events.ts";
import type { RecordedEvent } from "../domain/ports/event-log.ts";
import { eventOf, perDocument } from "./projection.ts";

export type BillingDocument = {
  readonly account: string;
  /** The plan that was decided last. From `scheduled.from` on, `scheduled.plan` applies without a further record. */
  readonly plan: string;
  readonly scheduled: { readonly plan: string; readonly from: string } | null;
  readonly status: "active" | "past_due" | "cancelled";
  /** The billing provider's name; "" while the account has none. */
  readonly provider: string;
  /** The provider's id for the account; "" while it has none. */
  readonly customer: string;
  /** Blocks of overage, counted once begun, that were reported to the provider for each month. */
  readonly overage_reported: { readonly [month: string]: number };
  readonly changed_at: string;
};

const BILLED = [
  "AccountOpened",
  "PlanChanged",
  "DowngradeScheduled",
  "DowngradeCancelled",
  "SubscriptionChanged",
  "OverageReported",
] as const satisfies readonly AccountEvent["type"][];

type Billed = Extract<AccountEvent, { type: (typeof BILLED)[number] }>;

const billedIn = (recorded: RecordedEvent): Billed | null =>
  BILLED.some((type) => type === recorded.type) ? eventOf<Billed>(recorded) : null;

/** The document at a time: a scheduled plan that has taken effect by then becomes the plan. */
const asOf = (document: BillingDocument, at: string): BillingDocument => {
  const { scheduled } = document;
  return scheduled === null || scheduled.from > at ? document : { ...document, plan: scheduled.plan, scheduled: null };
};

const opened = (account: string, plan: string, at: string): BillingDocument => ({
  account,
  plan,
  scheduled: null,
  status: "active",
  provider: "",
  customer: "",
  overage_reported: {},
  changed_at: at,
});

const folded = (
  before: BillingDocument,
  { type, data }: Exclude<Billed, { type: "AccountOpened" }>,
): BillingDocument => {
  const current = { ...asOf(before, data.at), changed_at: data.at };
  const { provider } = data;
  switch (type) {
    case "PlanChanged":
      return { ...current, provider, plan: data.plan, scheduled: null };
    case "DowngradeScheduled":
      return { ...current, provider, scheduled: { plan: data.plan, from: data.from } };
    case "DowngradeCancelled":
      return { ...current, scheduled: null };
    case "SubscriptionChanged":
      return { ...current, provider, status: data.status, customer: data.customer };
    case "OverageReported":
      return { ...current, overage_reported: { ...current.overage_reported, [data.month]: data.blocks } };
  }
};

export const billing = perDocument<BillingDocument>(
  {
    name: "billing.v1",
    fields: { account: "text", provider: "text" },
    indexes: [["provider", "account"]],
  },
  (recorded) => billedIn(recorded)?.data.account ?? null,
  (document, recorded) => {
    const event = billedIn(recorded);
    if (event === null) return document;
    if (event.type === "AccountOpened") return opened(event.data.account, event.data.plan, event.data.at);
    // An account's first record opens it, so records without a document are not of this account and are ignored.
    return document === null ? null : folded(document, event);
  },
);
