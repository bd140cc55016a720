import { suite } from "uvu";
import * as assert from "uvu/assert";
import { monthEnd } from "../../domain/calendar.ts";
import { formsOf, type Shown } from "../support/billing-world.ts";
import { awayFromMonthEnd } from "../support/calendar-room.ts";
import { type Client, type HookSource, hookSource, signUp } from "../support/client.ts";
import { type Engines, engineSets } from "../support/engine-sets.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { PRICES, type StripeServer, startStripe } from "../support/stripe-server.ts";

/** A page as a browser has it, which sends forms as one of the same site does. */
const open = async (url: string, init: RequestInit = {}): Promise<Shown> => {
  const answer = await fetch(url, init);
  const headers = Object.fromEntries(answer.headers);
  return { status: answer.status, html: await answer.text(), headers, url: answer.url };
};
const press = (page: Shown, text: string): Promise<Shown> => {
  const action = formsOf(page)[text];
  assert.ok(action, `no button "${text}" on ${page.html}`);
  const headers = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" };
  return open(action, { method: "POST", headers, body: "" });
};

/** PUBLIC_URL is http://localhost:<port>, and the program listens on 127.0.0.1. */
const here = (program: Program, url: string): string => url.replace(/^http:\/\/localhost:\d+/, program.url);

const planOf = async (client: Client): Promise<string> => (await client.call("GET", "/v1/capabilities")).body.plan;

const AT_ONCE = 50;

/** Sends so many events, each until it is there, as a sender does that is told to come again. */
const fill = async (source: HookSource, count: number): Promise<void> => {
  let next = 0;
  const sender = async (): Promise<void> => {
    while (next < count) {
      const id = `event-${next}`;
      next += 1;
      await until(`${id} is admitted`, async () => (await source.send(id)).status < 300);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
};

for (const { name, open: openEngines } of engineSets()) {
  const test = suite(`plans and billing: ${name}`);
  let engines: Engines;
  let stripe: StripeServer;
  test.before.each(async () => {
    await awayFromMonthEnd();
    [engines, stripe] = await Promise.all([openEngines(), startStripe()]);
  });
  // Also of a test that has failed: whatever it leaves would keep its file from ending.
  test.after.each(async () => {
    killPrograms();
    await Promise.all([engines.close(), stripe.stop()]);
  });

  test("a checkout raises quota, sources and API rate at once; the portal cancels at the month's end, over a restart", async () => {
    const env = { ...engines.env, SIGNUP_PLAN: "free" };
    const program = await startProgram(env);
    const client = await signUp(program.url);
    const source = await hookSource(client);
    await fill(source, 1_000);
    const refused = await source.send("one-more");
    assert.equal([refused.status, refused.body.code], [429, "gate-quota"]);
    assert.is((await client.call("POST", "/v1/sources", { name: "two", type: "github" })).status, 403);
    assert.match(String((await client.call("GET", "/v1/capabilities")).headers.get("ratelimit-policy")), ";q=600;");

    const started = await client.session("POST", "/v1/billing/checkout/start", { plan: "starter" });
    assert.is(started.status, 200);
    const page = await open(here(program, started.body.checkout_url));
    const done = await press(page, "Confirm starter");
    assert.match(done.html, "The plan of");
    assert.is(await planOf(client), "starter");
    assert.is((await source.send("one-more")).status, 202);
    assert.is((await client.call("POST", "/v1/sources", { name: "two", type: "github" })).status, 201);
    assert.match(String((await client.call("GET", "/v1/capabilities")).headers.get("ratelimit-policy")), ";q=1200;");
    const summary = await until("the views have all", async () => {
      const { body } = await client.call("GET", "/v1/billing/summary");
      return body.usage.events === 1_001 && body.usage.endpoints === 2 ? body : null;
    });
    assert.equal([summary.usage.included, summary.usage.blocked, summary.price_eur_month], [25_000, 1, 19]);

    const portal = await client.session("POST", "/v1/billing/portal");
    await press(await open(here(program, portal.body.portal_url)), "Cancel the plan");
    assert.is(await program.stop(), 0);
    const again = await startProgram(env, program.dir);
    const { body } = await client.at(again.url).call("GET", "/v1/billing/summary");
    const from = new Date(monthEnd(Date.now())).toISOString();
    assert.equal([body.plan, body.status, body.scheduled_change], ["starter", "active", { plan: "free", from }]);
    // Whoever opens the link once more finds what holds.
    assert.ok(formsOf(await open(here(again, portal.body.portal_url)))["Keep starter"]);
    assert.is(await again.stop(), 0);
    removeFolder(program.dir);
  });

  test("with Stripe the checkout is Stripe's; its signed webhook is the plan at once, and nobody is told twice", async () => {
    const program = await startProgram({
      ...engines.env,
      SIGNUP_PLAN: "free",
      STRIPE_SECRET_KEY: stripe.place.secretKey,
      STRIPE_WEBHOOK_SECRET: stripe.place.webhookSecret,
      STRIPE_PRICE_STARTER: PRICES.starter,
      STRIPE_PRICE_CORE: PRICES.core,
      STRIPE_PRICE_SCALE: PRICES.scale,
      STRIPE_API_URL: String(stripe.place.apiUrl),
    });
    const client = await signUp(program.url);
    assert.is((await client.call("GET", "/v1/billing/summary")).body.provider, "stripe");
    const started = await client.session("POST", "/v1/billing/checkout/start", { plan: "scale" });
    assert.match(started.body.checkout_url, /^https:\/\/checkout\.stripe\.test\//);
    const [customer] = stripe.customers.values();
    assert.equal(customer?.metadata, { account: client.account });
    const id = customer?.id ?? "";
    stripe.has({ id: "sub_1", customer: id, price: PRICES.scale });
    const { payload, headers } = stripe.webhook("checkout.session.completed", { customer: id });
    for (const _ of [1, 2]) {
      const answer = await fetch(`${program.url}/billing/stripe/webhook`, { method: "POST", headers, body: payload });
      assert.is(answer.status, 200);
    }
    assert.is(await planOf(client), "scale");
    const forged = { method: "POST", headers, body: payload.replace("completed", "expired") };
    assert.is((await fetch(`${program.url}/billing/stripe/webhook`, forged)).status, 401);
    const page = await fetch(`${program.url}/billing/checkout/acc_x.y`);
    assert.is(page.status, 404, "no pages of our own");
    assert.not.match(program.output(), "whsec_");
    assert.is(await program.stop(), 0);
    removeFolder(program.dir);
  });

  test.run();
}
