import { PLANS, type Plan } from "../../domain/account/plans.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import { sources } from "../../projections/sources.ts";

/** Counting stops here, so that it takes little time. No plan includes as many sources. */
const SOURCES_MAX = 1_000;

export const sourcesInUse = (views: Pick<ViewStore, "count">, account: string): Promise<number> =>
  views.count(sources.schema.name, [{ field: "account", is: "=", value: account }], SOURCES_MAX);

/** Warns if the wanted plan includes fewer sources than are in use. None of them is stopped. */
const sourcesNotice = ({ name, endpoints }: Plan, inUse: number): readonly string[] =>
  inUse <= endpoints
    ? []
    : [
        `${inUse} sources are in use and the plan ${name} includes ${endpoints}: all ${inUse} go on, and a new ` +
          `one can be made once fewer than ${endpoints} are left.`,
      ];

/** Warns of a shorter retention. Ended events keep the one that they were promised (`domain/account/retention.ts`). */
const payloadsNotice = ({ retentionDays }: Plan, { retentionDays: before }: Plan): readonly string[] =>
  retentionDays >= before
    ? []
    : [
        `Payloads of what ends from then on are kept for ${retentionDays} days instead of ${before}. ` +
          "What has ended by then is kept as long as before.",
      ];

export const noticesFor = (wanted: Plan, holding: Plan, inUse: number): readonly string[] => [
  ...sourcesNotice(wanted, inUse),
  ...payloadsNotice(wanted, holding),
];

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
