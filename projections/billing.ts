import type { AccountEvent } from "../domain/account/events.ts";
import type { RecordedEvent } from "../domain/ports/event-log.ts";
import { eventOf, perDocument } from "./projection.ts";

export type BillingDocument = {
  readonly account: string;
  /** The last decided plan: from `scheduled.from` on the scheduled plan applies, without another record. */
  readonly plan: string;
  readonly scheduled: { readonly plan: string; readonly from: string } | null;
  readonly status: "active" | "past_due" | "cancelled";
  /** Empty if the account has no provider yet. */
  readonly provider: string;
  /** The provider's id for the account; empty if it has none. */
  readonly customer: string;
  /** Started blocks reported to the provider, by month. */
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

/** Applies a scheduled plan that had taken effect by then. */
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
    // An account's first record is its opening; any record before that is ignored.
    return document === null ? null : folded(document, event);
  },
);
