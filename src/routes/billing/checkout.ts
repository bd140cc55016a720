import { account as accountDecider } from "../../../domain/account/decider.ts";
import { planNamed } from "../../../domain/account/overage.ts";
import type { Plan } from "../../../domain/account/plans.ts";
import { planAt, type Subscription } from "../../../domain/account/subscription.ts";
import type { BillingPage, BillingProvider, Payer } from "../../../domain/ports/billing.ts";
import type { Clock } from "../../../domain/ports/clock.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import { accountStream } from "../../accounts/accounts.ts";
import { noticesFor, PAID, sourcesInUse } from "../../billing/notices.ts";
import { subscriptionSync } from "../../billing/subscription-sync.ts";
import type { RecordCall } from "../../calls/call-records.ts";
import type { PersonalData } from "../../erasure/personal-data.ts";
import { time } from "../../http/json-schema.ts";
import { named } from "../../http/named-schemas.ts";
import { type Call, type Handler, type JsonSchema, positionOf, type Route, route } from "../../http/route.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import { type Problem, problem } from "../../streams/problems.ts";

export type CheckoutDeps = {
  readonly aggregates: Pick<Aggregates, "load" | "handle">;
  readonly views: Pick<ViewStore, "count">;
  readonly provider: BillingProvider;
  readonly subscriptionOf: (account: string) => Promise<Subscription>;
  readonly clock: Clock;
  readonly recordCall: RecordCall;
  readonly personal: Pick<PersonalData, "shown">;
};

/** Old browsers and proxies accept addresses of at most 2,083 characters. */
const URL_LENGTH_MAX = 2_048;

const url: JsonSchema = { type: "string", format: "uri" };
const address = (description: string) =>
  ({
    type: "string",
    minLength: 1,
    maxLength: URL_LENGTH_MAX,
    description: `http or https: ${description}`,
  }) as const satisfies JsonSchema;

const START_BODY = named("CheckoutRequest", {
  type: "object",
  required: ["plan"],
  additionalProperties: false,
  properties: {
    plan: { enum: PAID },
    success_url: address("where the person returns after the purchase"),
    cancel_url: address("where the person returns after cancelling"),
  },
  examples: [{ plan: "core" }],
});

const PORTAL_BODY = named("PortalRequest", {
  type: "object",
  additionalProperties: false,
  properties: { return_url: address("where the portal leads back to") },
  examples: [{}],
});

const STARTED: JsonSchema = named("CheckoutSession", {
  type: "object",
  required: ["checkout_url", "session_id", "expires_at", "notices"],
  properties: {
    checkout_url: url,
    session_id: { type: "string" },
    expires_at: time,
    notices: {
      type: "array",
      items: { type: "string" },
      description: "What is in use beyond the new plan, and what will no longer be stored",
    },
  },
});

const OPENED: JsonSchema = named("PortalSession", {
  type: "object",
  required: ["portal_url", "expires_at"],
  properties: { portal_url: url, expires_at: time },
});

/** The normalised address; null if no browser should be sent there. Encoding can make an address nine times as long. */
const webAddress = (text: string): string | null => {
  const parsed = URL.canParse(text) ? new URL(text) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.href.length > URL_LENGTH_MAX) return null;
  // A user name before the @ could be taken for the host, so it is refused.
  return parsed.username === "" && parsed.password === "" ? parsed.href : null;
};

const MUST_BE = `must be an http or https address without a user name, of at most ${URL_LENGTH_MAX} characters when encoded`;

/** The normalised addresses of the body, or a problem; null stands for one that was left out. */
const addressesIn = <K extends string>(body: Partial<Record<K, string>>, names: readonly K[]) => {
  const found = names.map((name) => [name, body[name] === undefined ? null : webAddress(body[name])] as const);
  const errors = found
    .filter(([name, href]) => href === null && body[name] !== undefined)
    .map(([name]) => ({ path: `/${name}`, message: MUST_BE }));
  const [first] = errors;
  if (first !== undefined) {
    return problem("invalid-request", `In the body: ${first.path} ${first.message}.`, { errors });
  }
  // `found` has an entry for every name.
  return Object.fromEntries(found) as Record<K, string | null>;
};

const payerOf = async (
  personal: CheckoutDeps["personal"],
  { principal }: Call,
  { customer }: Subscription,
): Promise<Payer> => ({
  account: principal.account,
  // Only members get here, as the route accepts sessions only.
  email: principal.kind === "member" ? await personal.shown(principal.email, principal.account) : "",
  by: principal.id,
  customer,
});

/** Records the account's customer id before the link is given out, so that the provider's webhooks find the account. */
const remember = async (
  { aggregates, provider }: CheckoutDeps,
  { principal, envelope }: Call,
  { customer, sessionId }: BillingPage,
  before: Subscription,
): Promise<void> => {
  if (customer === null || (customer === before.customer && provider.name === before.provider)) return;
  const about = { provider: provider.name, customer, reference: sessionId, by: principal.id, at: envelope.at };
  await aggregates.handle(
    accountDecider,
    accountStream(principal.account),
    { type: "NameCustomer", ...about },
    envelope,
  );
};

/** Records the link before it is given out, because whoever has it can change what the account pays. */
const recordLink = (
  { provider, recordCall }: CheckoutDeps,
  call: Call,
  { sessionId, expiresAt }: BillingPage,
  what: { readonly page: "checkout" | "portal"; readonly plan: string | null },
) =>
  recordCall(call.principal.account, call, (client) => ({
    type: "BillingLinkMade",
    data: {
      ...{ ...what, provider: provider.name, session_id: sessionId, expires_at: expiresAt },
      ...{ client, at: call.envelope.at },
    },
  }));

/** Asks the provider for its present state before a purchase, as its webhooks may be late or lost. */
const caughtUp = async (deps: CheckoutDeps, { principal: { account }, envelope }: Call): Promise<Subscription> => {
  const { provider, subscriptionOf } = deps;
  const known = asKnownTo(provider, await subscriptionOf(account));
  // A provider without webhooks is this service itself, so there is no other state to ask for.
  if (known.customer === null || provider.webhooks === null) return known;
  const sync = subscriptionSync(provider, provider.webhooks, deps);
  await sync({ reference: envelope.commandId, customer: known.customer, account });
  return asKnownTo(provider, await subscriptionOf(account));
};

/** The subscription without its customer id if that is one of another provider. */
const asKnownTo = ({ name }: BillingProvider, subscription: Subscription): Subscription =>
  subscription.provider === name ? subscription : { ...subscription, customer: null };

const samePlan = (wanted: Plan["name"], { scheduled }: Subscription, at: string): Problem => {
  const more = scheduled !== null && scheduled.from > at ? " What is scheduled can be taken back in the portal." : "";
  return problem("conflict", `The account has the plan ${wanted} already.${more}`);
};

const start =
  (deps: CheckoutDeps): Handler<{ body: typeof START_BODY }> =>
  async (call) => {
    const { body } = call;
    const addresses = addressesIn(body, ["success_url", "cancel_url"]);
    if ("problem" in addresses) return addresses;
    const { account } = call.principal;
    const subscription = await caughtUp(deps, call);
    // What the provider has just answered may be newer than the call's time.
    const at = new Date(deps.clock.now()).toISOString();
    const holding = planAt(subscription, at);
    if (holding === body.plan) return samePlan(body.plan, subscription, at);
    const order = { plan: body.plan, successUrl: addresses.success_url, cancelUrl: addresses.cancel_url };
    const page = await deps.provider.startCheckout(await payerOf(deps.personal, call, subscription), order);
    await remember(deps, call, page, subscription);
    const position = await recordLink(deps, call, page, { page: "checkout", plan: body.plan });
    const notices = noticesFor(planNamed(body.plan), planNamed(holding), await sourcesInUse(deps.views, account));
    return {
      status: 200,
      body: { checkout_url: page.url, session_id: page.sessionId, expires_at: page.expiresAt, notices },
      ...positionOf({ position }),
    };
  };

const portal =
  (deps: CheckoutDeps): Handler<{ body: typeof PORTAL_BODY }> =>
  async (call) => {
    const addresses = addressesIn(call.body, ["return_url"]);
    if ("problem" in addresses) return addresses;
    const subscription = asKnownTo(deps.provider, await deps.subscriptionOf(call.principal.account));
    const page = await deps.provider.portal(await payerOf(deps.personal, call, subscription), addresses.return_url);
    await remember(deps, call, page, subscription);
    const position = await recordLink(deps, call, page, { page: "portal", plan: null });
    const body = { portal_url: page.url, expires_at: page.expiresAt };
    return { status: 200, body, ...positionOf({ position }) };
  };

export const checkoutRoutes = (deps: CheckoutDeps): readonly Route[] => [
  route({
    method: "POST",
    path: "/v1/billing/checkout/start",
    who: { session: "admin" },
    summary: "Create a checkout page; upgrades take effect at once, downgrades at the end of the period",
    tag: "billing",
    body: START_BODY,
    problems: ["conflict", "not-found"],
    answers: { 200: STARTED },
    handle: start(deps),
  }),
  route({
    method: "POST",
    path: "/v1/billing/portal",
    who: { session: "admin" },
    summary: "Create a portal page, where the plan can be viewed, changed and cancelled",
    tag: "billing",
    body: PORTAL_BODY,
    bodyOptional: true,
    problems: ["conflict", "not-found"],
    answers: { 200: OPENED },
    handle: portal(deps),
  }),
];
