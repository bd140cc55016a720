import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { BillingProvider, ProvidedSubscription } from "../../../domain/ports/billing.ts";
import type { Document } from "../../../domain/ports/view-store.ts";
import { usage, usageId } from "../../../projections/usage.ts";
import { overageLoop } from "../../../src/billing/overage.ts";
import { ACCOUNT, billingWorld } from "../../support/billing-world.ts";

const test = suite("another provider");

/** All that a provider has to bring, with a shop on this machine for its other side. */
const corner = () => {
  const shop = new Map<string, ProvidedSubscription>();
  const collected: string[] = [];
  const provider: BillingProvider = {
    name: "corner",
    async startCheckout({ account }, { plan }) {
      const page = { url: `https://corner.example/${plan}`, sessionId: `ses_${plan}` };
      return { ...page, expiresAt: "2027-01-01T00:00:00.000Z", customer: `at-${account}` };
    },
    async portal({ customer }) {
      const page = { url: `https://corner.example/of/${customer}`, sessionId: "ses_portal" };
      return { ...page, expiresAt: "2027-01-01T00:00:00.000Z", customer };
    },
    reportOverage: async ({ customer, month, block }) => void collected.push(`${customer} ${month} ${block}`),
    webhooks: {
      read({ "x-corner": secret }, body) {
        if (secret !== "known to both") return "forged";
        const { id, customer } = JSON.parse(Buffer.from(body).toString());
        return customer === undefined ? null : { reference: id, customer, account: null };
      },
      subscriptionOf: async (customer) => shop.get(customer) ?? null,
    },
  };
  return { shop, collected, provider };
};

test("one object is all of it: checkout, portal, webhooks and overage follow from the port", async () => {
  const { shop, collected, provider } = corner();
  const world = await billingWorld({ provider });
  const started = await world.start("starter");
  assert.equal([started.status, started.body.checkout_url], [200, "https://corner.example/starter"]);
  const customer = `at-${ACCOUNT}`;
  assert.is((await world.portal()).body.portal_url, `https://corner.example/of/${customer}`);

  const hook = async (secret: string, body: object): Promise<number> => {
    const headers = { "x-corner": secret, "content-type": "text/plain" };
    const url = "/billing/corner/webhook";
    return (await world.app.inject({ method: "POST", url, headers, payload: JSON.stringify(body) })).statusCode;
  };
  shop.set(customer, { account: ACCOUNT, plan: "starter", scheduled: null, status: "active" });
  assert.is(await hook("guessed", { id: "1", customer }), 401);
  assert.is(await world.plan(), "free");
  assert.equal(
    [await hook("known to both", { id: "1" }), await hook("known to both", { id: "2", customer })],
    [200, 200],
  );
  const summary = await world.summary();
  assert.equal([summary.plan, summary.provider], ["starter", "corner"]);

  const used: Document = { account: ACCOUNT, month: "2026-03", events: 25_001, blocked: 0, observed: 0 };
  await world.views.drop(usage.schema.name, await world.log.identity());
  await world.views.commit(usage.schema.name, null, "1", { documents: new Map([[usageId(ACCOUNT, "2026-03"), used]]) });
  const onError = (error: unknown): never => {
    throw error;
  };
  const { look } = overageLoop({
    progress: { waitFor: async () => true },
    views: world.views,
    aggregates: world.streams,
    provider,
    clock: world.clock,
    onError,
  });
  assert.equal([await look(), await look(), collected], [1, 0, [`${customer} 2026-03 1`]]);
});

test.run();
