import type { Client, HookSource } from "./client.ts";
import { hookSource } from "./client.ts";
import { create, type Orders, type OrdersWorld, orders, ordersWorld } from "./orders.ts";
import { until } from "./program.ts";

/** What a sender would like to be run by whoever looks at it. */
export const HOSTILE = "<img src=x onerror=alert(1)>";
const POLICY = {
  name: "orders",
  cost: { fixed_eur: 0.02 },
  deny: [{ name: `no order over 500 ${HOSTILE}`, when: "has(payload.amount) && payload.amount > 500" }],
  approval: { when: 'payload.order == "large"', expires_after_s: 3_600 },
};

export type ConsoleScene = OrdersWorld & {
  readonly shop: Orders;
  readonly source: HookSource;
  /** Ids of events, by what has become of them. */
  readonly events: Readonly<Record<"delivered" | "failed" | "blocked" | "held", string>>;
  /** Ids of bundles. */
  readonly bundles: Readonly<Record<"committed" | "rolledBack" | "incomplete" | "blocked", string>>;
  eventIs(id: string, status: string): Promise<unknown>;
};

/** An account in which everything has happened that its people look at, all of it named by somebody hostile. */
export const consoleScene = async (base: string, as: Client): Promise<ConsoleScene> => {
  const shop = await orders();
  const endpoint = { name: `till ${HOSTILE}` };
  const world = await ordersWorld(base, shop.target, {
    ...{ policy: POLICY, endpoint, as },
    agent: { name: `helper ${HOSTILE}` },
  });
  const about = { name: `shop ${HOSTILE}`, policy_id: world.policyId, endpoint_id: world.endpointId };
  const source = await hookSource(as, about);
  const sent = async (order: string, more: object = {}): Promise<string> => {
    const payload = { type: `order.paid ${HOSTILE}`, order, note: HOSTILE, ...more };
    return (await source.send(order, payload, { "x-note": HOSTILE })).body.event_id;
  };
  const eventIs = (id: string, status: string) =>
    until(`${id} is ${status}`, async () => (await as.call("GET", `/v1/events/${id}`)).body.status === status);

  const events = {
    delivered: await sent("first"),
    failed: await sent("second", { do: "refuse" }),
    blocked: await sent("third", { amount: 501 }),
    held: await sent("large"),
  };
  await sent("first");
  await source.send("forged", {}, { "x-signature": "0".repeat(64), "user-agent": HOSTILE });
  for (const [status, id] of Object.entries(events)) await eventIs(id, status);
  await until("the duplicate is counted", async () => {
    return (await as.call("GET", `/v1/events/${events.delivered}`)).body.duplicates === 1;
  });

  const bundle = async (name: string, ...steps: Parameters<OrdersWorld["agent"]["bundle"]>[1]): Promise<string> => {
    const { body } = await world.agent.bundle(name, steps, { name: `${name} ${HOSTILE}`, run_id: "run-1" });
    return body.id ?? body.bundle_id;
  };
  const bundles = {
    committed: await bundle("committed", create("a"), create("b")),
    rolledBack: await bundle("rolled back", create("c"), create("d", { do: "refuse" }), create("e")),
    incomplete: await bundle("incomplete", create("f", { undo: "refuse" }), create("g", { do: "refuse" })),
    blocked: await bundle("blocked", create("h"), {
      action: "order.create",
      payload: { order: "i", amount: 900 },
    }),
  };
  return { ...world, shop, source, events, bundles, eventIs };
};
