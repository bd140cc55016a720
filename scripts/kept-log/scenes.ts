import { type Client, hookSource, type Reply } from "../../test/support/client.ts";
import { create, type Orders, ordersWorld } from "../../test/support/orders.ts";
import { until } from "../../test/support/program.ts";
import { type Receiver, receiver } from "../../test/support/receiver.ts";
import { admission, duplicates, forgeries, gates, observing, recovery } from "../demo/scenes.ts";
import type { Terminal } from "../demo/terminal.ts";
import { setUp } from "../demo/world.ts";

const SILENT: Terminal = { line: () => undefined, section: () => undefined, row: () => undefined };

const answered = async (expected: number, call: Promise<Reply>): Promise<Reply["body"]> => {
  const { status, body } = await call;
  if (status !== expected) throw new Error(`answered ${status}, not ${expected}: ${JSON.stringify(body)}`);
  return body;
};

const statusIs = (client: Client, id: string, status: string): Promise<unknown> =>
  until(`${id} is ${status}`, async () => (await client.call("GET", `/v1/events/${id}`)).body.status === status);

/** The account of the demo, with what its webhooks come to, and a payload that is erased. */
export const webhooks = async (base: string, application: Receiver): Promise<Client> => {
  const world = await setUp(base, application, SILENT);
  const payment = await admission(world, SILENT);
  await duplicates(world, SILENT, payment);
  await forgeries(world, SILENT);
  await gates(world, SILENT);
  await observing(world, SILENT);
  await recovery(world, SILENT);
  await answered(200, world.client.session("DELETE", `/v1/events/${payment.eventId}/payload`, { reason: "asked for" }));
  return world.client;
};

/** Bundles that are committed and rolled back, and a request that a person approves. */
export const agents = async (client: Client, shop: Orders): Promise<void> => {
  const approval = { when: 'payload.order == "large"', expires_after_s: 3_600 };
  const { agent } = await ordersWorld(client.base, shop.target, { as: client, policy: { approval } });
  await answered(200, agent.bundle("committed", [create("a"), create("b")], { name: "checkout" }));
  await answered(200, agent.bundle("undone", [create("c"), create("d", { do: "refuse" })]));
  const { approval_id: id, event_id } = (await agent.execute("held", create("large"))).body;
  const { digest } = await until("the approval is shown", async () => {
    const { status, body } = await client.session("GET", `/v1/approvals/${id}`);
    return status === 200 ? body : null;
  });
  await answered(200, client.session("POST", `/v1/approvals/${id}/approve`, { digest }));
  await statusIs(client, event_id, "delivered");
};

/** A delivery that ends as failed, and is replayed. */
export const failure = async (client: Client): Promise<void> => {
  const application = await receiver();
  try {
    application.answer((_arrival, response) => response.writeHead(500).end());
    const settings = { name: "failing", url: application.url, retry_schedule_s: [] };
    const { id: endpoint_id } = await client.make("/v1/endpoints", settings);
    const source = await hookSource(client, { name: "failing", endpoint_id });
    const { event_id } = await answered(202, source.send("one"));
    await statusIs(client, event_id, "failed");
    application.answer((_arrival, response) => response.end());
    await answered(202, client.session("POST", `/v1/events/${event_id}/replay`, { reason: "it was mended" }));
    await statusIs(client, event_id, "delivered");
  } finally {
    await application.close();
  }
};
