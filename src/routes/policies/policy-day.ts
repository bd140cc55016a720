import { eurOf, MICRO_PER_EUR } from "../../../domain/gate/cost.ts";
import type { PolicyDefinition } from "../../../domain/policy/definition.ts";
import { named } from "../../http/named-schemas.ts";
import type { JsonSchema } from "../../http/route.ts";
import type { LedgerFigures } from "../../ledgers/ledger-stream.ts";
import type { Ledgers } from "../../ledgers/ledgers.ts";
import { dayLedger } from "../../ledgers/policy-days.ts";

const EUROS: JsonSchema = { type: "number", description: "Euros" };
const COUNT: JsonSchema = { type: "integer" };

export const LEDGER: JsonSchema = named("PolicyLedger", {
  type: "object",
  required: [
    "policy_id",
    "day",
    "time_zone",
    "reserved_eur",
    "settled_eur",
    "overrun_eur",
    "available_eur",
    "requests",
  ],
  properties: {
    policy_id: { type: "string" },
    day: { type: "string", format: "date" },
    time_zone: { type: "string", description: "Of the account: its midnight ends the day" },
    reserved_eur: { ...EUROS, description: "Euros of requests that have not ended" },
    settled_eur: { ...EUROS, description: "Euros that were spent" },
    overrun_eur: { ...EUROS, description: "The part of settled_eur that was more than had been reserved" },
    available_eur: {
      type: ["number", "null"],
      description: "What is left of the budget, below 0 after an overrun; null without one",
    },
    requests: {
      type: "object",
      required: ["reserved", "settled"],
      properties: {
        reserved: { ...COUNT, description: "Requests that have not ended" },
        settled: { ...COUNT, description: "Requests that have ended, also those that cost nothing in the end" },
      },
    },
    limits: {
      type: "object",
      required: ["version", "budget_eur_day", "rate_per_minute", "loop"],
      properties: {
        version: { type: "integer", description: "Of the policy: the limits are those in force at this moment" },
        budget_eur_day: { type: ["number", "null"] },
        rate_per_minute: { type: ["integer", "null"] },
        loop: { type: ["object", "null"] },
      },
    },
  },
});

/** What is left of the day's budget, in EUR; null without a budget. Sums of whole micro-euros are exact. */
const available = (
  { budget_eur_day: budget }: PolicyDefinition,
  { reserved, settled }: LedgerFigures,
): number | null => (budget === undefined ? null : eurOf(Math.round(budget * MICRO_PER_EUR) - reserved - settled));

type PolicyOfDay = {
  readonly account: string;
  readonly policyId: string;
  readonly version: number;
  readonly definition: PolicyDefinition;
};

/** The figures come from the ledger itself, by which the next request is judged, and not from a view. */
export const policyDay = async (
  ledgers: Pick<Ledgers, "figures">,
  { account, policyId, version, definition }: PolicyOfDay,
  { day, timeZone }: { readonly day: string; readonly timeZone: string },
) => {
  const figures = await ledgers.figures(dayLedger(policyId, day), account);
  const { reserved, settled, overrun, open, spent } = figures;
  return {
    policy_id: policyId,
    day,
    time_zone: timeZone,
    reserved_eur: eurOf(reserved),
    settled_eur: eurOf(settled),
    overrun_eur: eurOf(overrun),
    available_eur: available(definition, figures),
    requests: { reserved: open, settled: spent },
    limits: {
      version,
      budget_eur_day: definition.budget_eur_day ?? null,
      rate_per_minute: definition.rate_per_minute ?? null,
      loop: definition.loop ?? null,
    },
  };
};
