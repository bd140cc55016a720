import { dayIn } from "../../../domain/calendar.ts";
import { eurOf, MICRO_PER_EUR } from "../../../domain/gate/cost.ts";
import type { PolicyDefinition } from "../../../domain/policy/definition.ts";
import type { Clock } from "../../../domain/ports/clock.ts";
import { named } from "../../http/named-schemas.ts";
import { type JsonSchema, READERS, type Route, route } from "../../http/route.ts";
import type { LedgerFigures } from "../../ledgers/ledger-stream.ts";
import type { Ledgers } from "../../ledgers/ledgers.ts";
import { dayLedger } from "../../ledgers/policy-days.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import { notFound, problem } from "../../streams/problems.ts";
import { ownPolicy } from "./policies.ts";

export type PolicyLedgerDeps = {
  readonly aggregates: Aggregates;
  readonly ledgers: Pick<Ledgers, "figures">;
  readonly timeZoneOf: (account: string) => Promise<string>;
  readonly clock: Clock;
};

const EUROS: JsonSchema = { type: "number", description: "Euros" };
const COUNT: JsonSchema = { type: "integer" };

const LEDGER: JsonSchema = named("PolicyLedger", {
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
      properties: { reserved: COUNT, settled: COUNT },
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

const isDay = (text: string): boolean => {
  const time = Date.parse(`${text}T00:00:00Z`);
  // Date.parse reads February 31 as a day in March, so the result is compared with the text.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
};

/** What is left of the day's budget, in EUR; null without a budget. Sums of whole micro-euros are exact. */
const available = (
  { budget_eur_day: budget }: PolicyDefinition,
  { reserved, settled }: LedgerFigures,
): number | null => (budget === undefined ? null : eurOf(Math.round(budget * MICRO_PER_EUR) - reserved - settled));

/** The figures come from the ledger itself, by which the next request is judged, and not from a view. */
export const policyLedgerRoutes = ({ aggregates, ledgers, timeZoneOf, clock }: PolicyLedgerDeps): readonly Route[] => [
  route({
    method: "GET",
    path: "/v1/policies/{id}/ledger",
    who: READERS,
    summary: "What is reserved and spent under a policy on a day",
    tag: "policies",
    query: {
      day: {
        type: "string",
        pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
        description: "YYYY-MM-DD in the account's time zone; left out: today",
      },
    },
    answers: { 200: LEDGER },
    async handle(call) {
      const policy = await ownPolicy({ aggregates }, call);
      if (policy === null) return notFound();
      const { account, policyId, version, definition } = policy;
      const timeZone = await timeZoneOf(account);
      const day = String(call.query.day ?? dayIn(timeZone, clock.now()));
      if (!isDay(day)) {
        const errors = [{ path: "/day", message: "is not a calendar day" }];
        return problem("invalid-request", "The parameter day is not a calendar day.", { errors });
      }
      const figures = await ledgers.figures(dayLedger(policyId, day), account);
      const { reserved, settled, overrun, open, spent } = figures;
      return {
        status: 200,
        body: {
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
        },
      };
    },
  }),
];
