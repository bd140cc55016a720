import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { BillingProvider } from "../../../domain/ports/billing.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import type { Document } from "../../../domain/ports/view-store.ts";
import { stripeBilling } from "../../../infra/billing/stripe/provider.ts";
import { usage, usageId } from "../../../projections/usage.ts";
import { overageLoop } from "../../../src/billing/overage.ts";
import { aggregates } from "../../../src/streams/aggregates.ts";
import { watchedViews } from "../../../src/views/watched-views.ts";
import { ACCOUNT, type BillingWorld, billingWorld } from "../../support/billing-world.ts";
import { PUBLIC_URL } from "../../support/http-app.ts";
import { losingLog } from "../../support/losing-log.ts";
import { OVERAGE_PRICE, type StripeServer, startStripe } from "../../support/stripe-server.ts";

const test = suite<{ stripe: StripeServer }>("overage");

test.before.each(async (context) => {
  context.stripe = await startStripe();
});
test.after.each(async ({ stripe }) => stripe.stop());

/** An account on the starter plan (25,000 events) that Stripe bills, in the middle of March. */
const billed = async (stripe: StripeServer) => {
  const provider = stripeBilling(stripe.place, () => PUBLIC_URL);
  const world = await billingWorld({ plan: "starter", provider });
  await world.portal();
  return { ...world, provider };
};

/** As the usage view has it. */
const used = async ({ views, log }: BillingWorld, months: Readonly<Record<string, number>>): Promise<void> => {
  const documents = Object.entries(months).map(([month, events]): readonly [string, Document] => [
    usageId(ACCOUNT, month),
    { account: ACCOUNT, month, events, blocked: 0, observed: 0 },
  ]);
  await views.drop(usage.schema.name, await log.identity());
  await views.commit(usage.schema.name, null, "1", { documents: new Map(documents) });
};

const fail = (error: unknown): never => {
  throw error;
};

/** A node of its own over the world's views; `log` is what it sees of the world's log. */
const node = (
  world: BillingWorld,
  provider: BillingProvider,
  log: EventLog = world.log,
  onError: (e: unknown) => void = fail,
  progress: Parameters<typeof overageLoop>[0]["progress"] = { waitFor: async () => true },
) => {
  const { views, clock } = world;
  return overageLoop({ views, progress, aggregates: aggregates(log, clock), provider, clock, onError });
};

const blocksAt = ({ meterEvents }: StripeServer): readonly string[] => [...meterEvents.keys()].sort();
const block = (month: string, number: number): string => `${ACCOUNT}/${month}/${number}`;

test("usage that was folded from records which a restored log lacks is not reported", async ({ stripe }) => {
  const world = await billed(stripe);
  await world.project();
  const { views, clock } = world;
  const log = await world.log.identity();
  const documents = new Map([[usageId(ACCOUNT, "2026-03"), { account: ACCOUNT, month: "2026-03", events: 50_001 }]]);
  await views.drop(usage.schema.name, log);
  const record = { stream: "delivery-evt_lost", revision: 0, id: "lost" };
  await views.commit(usage.schema.name, null, "0000000000009999", { documents, record });
  // As a deliverer sees them whose projector, in another process, has not started yet.
  const progress = watchedViews({ log: world.log, views, names: [usage.schema.name], clock });
  assert.is(await node(world, world.provider, world.log, fail, progress).look(), 0);
  assert.is(stripe.meterEvents.size, 0);
  assert.is(await node(world, world.provider).look(), 2, "as by a deliverer that does not ask");
});

test("each started block is reported once, and so is late usage of the last month", async ({ stripe }) => {
  const world = await billed(stripe);
  await world.project();
  const { look } = node(world, world.provider);
  await used(world, { "2026-03": 25_000 });
  assert.is(await look(), 0);
  await used(world, { "2026-03": 50_001 });
  assert.is(await look(), 2);
  assert.is(await look(), 0);
  const customer = (await world.subscriptionOf()).customer ?? "";
  assert.equal(stripe.meterEvents.get(block("2026-03", 1)), {
    event_name: "countersign_overage_blocks",
    identifier: block("2026-03", 1),
    "payload[stripe_customer_id]": customer,
    "payload[value]": "1",
  });
  assert.equal((await world.subscriptionOf()).reported, { "2026-03": 2 });
  assert.is((await world.summary()).provider, "stripe");

  // April: one more of March was let go late, and April has begun a block of its own.
  world.clock.advance(25 * 86_400_000);
  await used(world, { "2026-02": 90_000, "2026-03": 75_001, "2026-04": 25_001 });
  assert.is(await look(), 2);
  assert.equal(blocksAt(stripe), [...[1, 2, 3].map((number) => block("2026-03", number)), block("2026-04", 1)]);
  assert.equal((await world.subscriptionOf()).reported, { "2026-03": 3, "2026-04": 1 });
});

test("overage has a separate subscription, so that the portal can still change the plan's subscription", async ({
  stripe,
}) => {
  const world = await billed(stripe);
  await world.project();
  await used(world, { "2026-03": 100_001 });
  assert.is(await node(world, world.provider).look(), 4);
  const [collecting, ...more] = stripe.posted("/v1/subscriptions");
  assert.equal([collecting?.["items[0][price]"], more.length], [OVERAGE_PRICE, 0]);
});

test("if the overage subscription has ended on the same day, another one collects the next block", async ({
  stripe,
}) => {
  const world = await billed(stripe);
  await world.project();
  const { look } = node(world, world.provider);
  await used(world, { "2026-03": 25_001 });
  assert.is(await look(), 1);
  for (const it of stripe.subscriptions.values()) stripe.has({ ...it, status: "canceled" });
  await used(world, { "2026-03": 50_001 });
  assert.is(await look(), 1);
  assert.equal(
    [...stripe.subscriptions.values()].map(({ price, status = "active" }) => [price, status]),
    [
      [OVERAGE_PRICE, "canceled"],
      [OVERAGE_PRICE, "active"],
    ],
  );
});

test("each block is billed exactly once, even after lost answers and crashes", async ({ stripe }) => {
  const world = await billed(stripe);
  await world.project();
  await used(world, { "2026-03": 125_001 });
  const lost = new Set<string>();
  stripe.world.before = async ({ path, fields: { identifier = "" } }) => {
    if (path !== "/v1/billing/meter_events" || lost.has(identifier)) return undefined;
    lost.add(identifier);
    return "lost";
  };
  for (const side of ["before", "behind"] as const) {
    for (const nth of [1, 2]) {
      const dying = losingLog(world.log, nth, side);
      const errors: unknown[] = [];
      await node(world, world.provider, dying.log, (error) => errors.push(error)).look();
      assert.is(dying.died(), "OverageReported");
      assert.ok(errors.length > 0);
    }
  }
  await node(world, world.provider).look();
  assert.is(lost.size, 5);
  assert.equal(
    blocksAt(stripe),
    [1, 2, 3, 4, 5].map((number) => block("2026-03", number)),
  );
  assert.equal((await world.subscriptionOf()).reported, { "2026-03": 5 });
});

test("two nodes report the same blocks once", async ({ stripe }) => {
  const world = await billed(stripe);
  await world.project();
  await used(world, { "2026-03": 75_001 });
  await Promise.all([node(world, world.provider).look(), node(world, world.provider).look()]);
  assert.is(stripe.meterEvents.size, 3);
  assert.is((await world.typesOf()).filter((type) => type === "OverageReported").length, 3);
});

test("a change of the plan turns no included usage into overage and takes back no reported block", async ({
  stripe,
}) => {
  const world = await billed(stripe);
  await world.project();
  const { look } = node(world, world.provider);
  await used(world, { "2026-03": 25_001 });
  assert.is(await look(), 1);
  const about = { scheduled: null, status: "active", provider: "stripe", customer: "cus_1", reference: "evt" } as const;
  await world.command({ type: "FollowProvider", plan: "core", ...about, at: world.now() });
  await used(world, { "2026-03": 100_000 });
  assert.is(await look(), 0);
  await world.command({ type: "FollowProvider", plan: "free", ...about, at: world.now() });
  assert.is(await look(), 0);
  world.clock.advance(25 * 86_400_000);
  assert.is(await look(), 0);
  const summary = await world.summary();
  assert.equal([summary.usage.overage_blocks, stripe.meterEvents.size], [0, 1]);
});

test("a clock that is set back by months bills nothing a second time, and goes on once it is right again", async ({
  stripe,
}) => {
  const world = await billed(stripe);
  await world.project();
  const { look } = node(world, world.provider);
  const MONTH_MS = 31 * 86_400_000;
  await used(world, { "2026-03": 25_001, "2026-04": 25_001, "2026-05": 25_001 });
  assert.is(await look(), 1);
  world.clock.advance(2 * MONTH_MS);
  assert.is(await look(), 2);
  // Stripe knows identifiers for a day.
  stripe.meterEvents.clear();
  world.clock.advance(-MONTH_MS);
  assert.is(await look(), 0, "in April, with March before it");
  assert.is(stripe.meterEvents.size, 0);
  world.clock.advance(MONTH_MS);
  await used(world, { "2026-05": 50_001 });
  assert.is(await look(), 1);
  assert.equal(blocksAt(stripe), [block("2026-05", 2)]);
});

test("an account that cancels in the middle of a month is not billed for events under the free plan afterwards", async ({
  stripe,
}) => {
  const world = await billed(stripe);
  await world.project();
  const { look } = node(world, world.provider);
  const about = {
    scheduled: null,
    status: "cancelled",
    provider: "stripe",
    customer: "cus_1",
    reference: "e",
  } as const;
  await world.command({ type: "FollowProvider", plan: "free", ...about, at: world.now() });
  await used(world, { "2026-03": 25_900 });
  assert.is(await look(), 0);
  const { usage, estimated_total_eur } = await world.summary();
  assert.equal([usage.overage_blocks, estimated_total_eur, stripe.meterEvents.size], [0, 0, 0]);
});

test("an account that Stripe refuses does not keep others from being billed; manual billing gets no reports", async ({
  stripe,
}) => {
  const world = await billed(stripe);
  await world.project();
  await used(world, { "2026-03": 25_001 });
  stripe.world.before = async () => "fails";
  const errors: unknown[] = [];
  assert.is(await node(world, world.provider, world.log, (error) => errors.push(error)).look(), 0);
  assert.match(String(errors[0]), "Stripe: reporting overage");

  const manual = await billingWorld({ plan: "starter" });
  await manual.project();
  assert.is(await node(manual, manual.provider).look(), 0);
});

test.run();
