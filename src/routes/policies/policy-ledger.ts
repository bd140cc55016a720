import { dayIn } from "../../../domain/calendar.ts";
import type { Clock } from "../../../domain/ports/clock.ts";
import { READERS, type Route, route } from "../../http/route.ts";
import type { Ledgers } from "../../ledgers/ledgers.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import { notFound, problem } from "../../streams/problems.ts";
import { ownPolicy } from "./policies.ts";
import { LEDGER, policyDay } from "./policy-day.ts";

export type PolicyLedgerDeps = {
  readonly aggregates: Aggregates;
  readonly ledgers: Pick<Ledgers, "figures">;
  readonly timeZoneOf: (account: string) => Promise<string>;
  readonly clock: Clock;
};

const isDay = (text: string): boolean => {
  const time = Date.parse(`${text}T00:00:00Z`);
  // Date.parse reads February 31 as a day in March, so the result is compared with the text.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
};

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
      const timeZone = await timeZoneOf(policy.account);
      const day = String(call.query.day ?? dayIn(timeZone, clock.now()));
      if (!isDay(day)) {
        const errors = [{ path: "/day", message: "is not a calendar day" }];
        return problem("invalid-request", "The parameter day is not a calendar day.", { errors });
      }
      return { status: 200, body: await policyDay(ledgers, policy, { day, timeZone }) };
    },
  }),
];
