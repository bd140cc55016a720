import type { ServerResponse } from "node:http";
import { type Agent, defineAction, registerAgent } from "./agent.ts";
import { type Client, signUp } from "./client.ts";
import { type Receiver, receiver } from "./receiver.ts";

/**
 * What the target makes of an order. `refuse`: 422; `gone`: 410, which disables the endpoint; `lost`: done, and the answer is lost; `dropped`:
 * not done, and no answer either; `hang`: done, and answered when it is let go.
 */
type How = "ok" | "refuse" | "gone" | "lost" | "dropped" | "hang";

export type Order = { readonly order: string; readonly do?: How; readonly undo?: "ok" | "refuse" };

export type Orders = {
  readonly target: Receiver;
  /** What is in effect, by the webhook-id that did it: each does it once, however often it comes. */
  readonly effects: Map<string, string>;
  /** The orders, each with "create" or "cancel" before it, in the order in which each came first. */
  arrived(): readonly string[];
  /** How many ms it takes to answer, once it is done; 0 unless told otherwise. */
  delay(of: () => number): void;
  /** Answers all that hang. */
  letGo(): void;
  hanging(): number;
};

type Undo = {
  readonly payload: Order;
  readonly result: { readonly id: string } | null;
  readonly forward_webhook_id: string;
};

const parsed = (body: string): Order | Undo => JSON.parse(body) as Order | Undo;
const isUndo = (body: Order | Undo): body is Undo => "forward_webhook_id" in body;

/** An application in which orders are created and cancelled, and that does each webhook-id once. */
export const orders = async (): Promise<Orders> => {
  const target = await receiver();
  const effects = new Map<string, string>();
  const held: (() => void)[] = [];

  let delayOf = (): number => 0;

  const answer = (response: ServerResponse, status: number, body: unknown = {}): void => {
    const end = (): void => {
      if (response.destroyed) return;
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    const ms = delayOf();
    if (ms === 0) end();
    else setTimeout(end, ms);
  };

  const undo = ({ payload, forward_webhook_id: id }: Undo, response: ServerResponse): void => {
    const isRefused = payload.undo === "refuse";
    if (!isRefused) effects.delete(id);
    answer(response, isRefused ? 422 : 200);
  };

  const act = (id: string, { order, do: how = "ok" }: Order, response: ServerResponse): void => {
    const done = (): void => answer(response, 200, { id: `id of ${order}` });
    if (how === "ok" || how === "lost" || how === "hang") effects.set(id, order);
    if (how === "refuse") answer(response, 422);
    else if (how === "gone") answer(response, 410);
    else if (how === "dropped" || how === "lost") response.destroy();
    else if (how === "hang") held.push(done);
    else done();
  };

  target.answer(({ id, body }, response) => {
    const it = parsed(body);
    if (isUndo(it)) undo(it, response);
    else act(id, it, response);
  });

  return {
    target,
    effects,
    arrived() {
      // A connection that ends without an answer may have ended before the request: it is sent again at once.
      const first = new Map(target.arrivals.map(({ id, body }) => [id, parsed(body)]));
      return [...first.values()].map((it) => (isUndo(it) ? `cancel ${it.payload.order}` : `create ${it.order}`));
    },
    delay(of) {
      delayOf = of;
    },
    letGo() {
      for (const done of held.splice(0)) done();
    },
    hanging: () => held.length,
  };
};

export const create = (order: string, more: Omit<Order, "order"> = {}) => ({
  action: "order.create",
  payload: { order, ...more },
});

export type OrdersWorld = {
  readonly client: Client;
  readonly agent: Agent;
  readonly policyId: string;
  readonly endpointId: string;
};

/**
 * An account whose agent may create orders (`order.cancel` takes one back), note them (`order.note`, of which nothing has to
 * be taken back) and send mail (`mail.send`, which nothing takes back).
 */
export const ordersWorld = async (
  base: string,
  target: Receiver,
  {
    policy = {},
    endpoint = {},
    agent = {},
    as,
  }: {
    policy?: Record<string, unknown>;
    endpoint?: Record<string, unknown>;
    agent?: Record<string, unknown>;
    /** Somebody new unless given. */
    as?: Client;
  } = {},
): Promise<OrdersWorld> => {
  const client = as ?? (await signUp(base));
  const settings = { name: "app", url: target.url, retry_schedule_s: [], concurrency: 100, ...endpoint };
  const { id: endpointId } = await client.make("/v1/endpoints", settings);
  const cost = { fixed_eur: 1 };
  await defineAction(client, "order.cancel", endpointId, {});
  await defineAction(client, "order.create", endpointId, {
    ...{ reversibility: "compensable", compensation: "order.cancel", cost },
  });
  await defineAction(client, "order.note", endpointId, { cost });
  await defineAction(client, "mail.send", endpointId, { reversibility: "irreversible", cost });
  const { id: policyId } = await client.make("/v1/policies", { name: "p", budget_eur_day: 1_000_000, ...policy });
  return { client, policyId, endpointId, agent: await registerAgent(base, client, { policy_id: policyId, ...agent }) };
};
