import { PLANS, type Plan } from "../../domain/account/plans.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import { sources } from "../../projections/sources.ts";

/** Above what any plan includes; a view that lags must not make an endless count. */
const SOURCES_MAX = 1_000;

export const sourcesInUse = (views: Pick<ViewStore, "count">, account: string): Promise<number> =>
  views.count(sources.schema.name, [{ field: "account", is: "=", value: account }], SOURCES_MAX);

/** What a plan below what is in use means, in numbers. Not one source stops. */
const sourcesNotice = ({ name, endpoints }: Plan, inUse: number): readonly string[] =>
  inUse <= endpoints
    ? []
    : [
        `${inUse} sources are in use and the plan ${name} includes ${endpoints}: all ${inUse} go on, and a new ` +
          `one can be made once fewer than ${endpoints} are left.`,
      ];

/** What ended before keeps the days that it was promised (`domain/account/retention.ts`). */
const payloadsNotice = ({ retentionDays }: Plan, { retentionDays: before }: Plan): readonly string[] =>
  retentionDays >= before
    ? []
    : [
        `Payloads of what ends from then on are kept for ${retentionDays} days instead of ${before}. ` +
          "What has ended by then is kept as long as before.",
      ];

/** What a change from the plan that holds to another one means for what there is. */
export const noticesFor = (wanted: Plan, holding: Plan, inUse: number): readonly string[] => [
  ...sourcesNotice(wanted, inUse),
  ...payloadsNotice(wanted, holding),
];

/** What changes from one plan to another, in numbers. */
export const saysOf = ({ name, priceEurMonth, eventsPerMonth, endpoints, retentionDays, hardStop }: Plan): string => {
  const events = eventsPerMonth.toLocaleString("en");
  const beyond = hardStop ? "and no more" : "then 12 EUR for each begun 25,000";
  const sourcesIncluded = endpoints === 1 ? "1 source" : `${endpoints} sources`;
  const price = `${priceEurMonth} EUR a month`;
  return `${name}: ${price}, ${events} events a month ${beyond}, ${sourcesIncluded}, payloads for ${retentionDays} days`;
};

export const PAID = Object.values(PLANS)
  .filter(({ priceEurMonth }) => priceEurMonth > 0)
  .map(({ name }) => name);
