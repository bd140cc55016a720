import { account } from "../../../domain/account/decider.ts";
import { defined } from "../../../domain/defined.ts";
import { accountStream } from "../../accounts/accounts.ts";
import { nonBlank } from "../../http/json-schema.ts";
import { named } from "../../http/named-schemas.ts";
import { type Handler, positionOf, type Route, route } from "../../http/route.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import { notFound } from "../../streams/problems.ts";
import { accountProblem } from "./account-problems.ts";
import { ACCOUNT, accountAnswer } from "./login-answer.ts";
import { ACCOUNT_NAME_MAX, TIME_ZONE, timeZoneOf, UNKNOWN_TIME_ZONE } from "./signup-input.ts";

export type AccountRoutesDeps = { readonly aggregates: Pick<Aggregates, "handle"> };

const BODY = named("AccountChanges", {
  type: "object",
  additionalProperties: false,
  properties: {
    name: nonBlank(ACCOUNT_NAME_MAX),
    time_zone: {
      ...TIME_ZONE,
      description:
        "An IANA name, such as Europe/Madrid. Budgets then begin their days by its midnights, and the change counts at " +
        "once: if the next day has begun there, its budgets begin with nothing spent. A day that has begun is not begun " +
        "again. Figures of days before the change stay as they were counted",
    },
  },
  examples: [{ name: "Shop", time_zone: "Europe/Madrid" }],
});

const change =
  ({ aggregates }: AccountRoutesDeps): Handler<{ body: typeof BODY }> =>
  async ({ principal, body, envelope }) => {
    const time_zone = body.time_zone === undefined ? undefined : timeZoneOf(body.time_zone);
    if (time_zone === null) return UNKNOWN_TIME_ZONE;
    const changes = defined({ name: body.name?.trim(), time_zone });
    const command = { type: "ChangeAccount", changes, at: envelope.at } as const;
    const changed = await aggregates.handle(account, accountStream(principal.account), command, envelope);
    if (changed.outcome === "rejected") return accountProblem(changed.rejection);
    const { state } = changed;
    if (state.phase !== "open") return notFound();
    return { status: 200, body: accountAnswer(state, envelope.at), ...positionOf(changed) };
  };

export const accountRoutes = (deps: AccountRoutesDeps): readonly Route[] => [
  route({
    method: "PATCH",
    path: "/v1/account",
    who: { session: "admin" },
    summary: "Change the account's name or time zone",
    tag: "accounts",
    body: BODY,
    problems: ["not-found"],
    answers: { 200: ACCOUNT },
    handle: change(deps),
  }),
];
