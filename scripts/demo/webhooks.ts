import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { defined } from "../../domain/defined.ts";

export type Webhook = {
  readonly what: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

const JSON_HEADERS = { "content-type": "application/json" } as const;
const token = (bytes: number): string => randomBytes(bytes).toString("hex");

/**
 * HMAC-SHA256 over `<time>.<body>`, hex: https://docs.stripe.com/webhooks#verify-manually. `atS`: seconds since 1970.
 */
export const stripe = (
  secret: string,
  event: { readonly id: string; readonly type: string },
  atS = Math.floor(Date.now() / 1_000),
): Webhook => {
  const body = JSON.stringify(event);
  const signature = createHmac("sha256", secret).update(`${atS}.${body}`).digest("hex");
  return {
    what: `stripe ${event.type}`,
    headers: { ...JSON_HEADERS, "stripe-signature": `t=${atS},v1=${signature}` },
    body,
  };
};

/** HMAC-SHA256 over the body, hex: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries */
export const github = (secret: string, event: "push" | "pull_request", payload: object): Webhook => {
  const body = JSON.stringify(payload);
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  return {
    what: `github ${event}`,
    headers: {
      ...JSON_HEADERS,
      "user-agent": "GitHub-Hookshot/044aadd",
      "x-github-delivery": randomUUID(),
      "x-github-event": event,
      "x-hub-signature-256": `sha256=${signature}`,
    },
    body,
  };
};

/** Shopify signs the body with HMAC-SHA256 in base64 (https://shopify.dev/docs/apps/build/webhooks/subscribe/https). */
export const shopify = (secret: string, topic: string, payload: object): Webhook => {
  const body = JSON.stringify(payload);
  return {
    what: `shopify ${topic}`,
    headers: {
      ...JSON_HEADERS,
      "x-shopify-hmac-sha256": createHmac("sha256", secret).update(body).digest("base64"),
      "x-shopify-shop-domain": "teapots.myshopify.com",
      "x-shopify-topic": topic,
      "x-shopify-webhook-id": randomUUID(),
    },
    body,
  };
};

/** A payment of `amount` cents. With a null `id` the payment lacks the id that the policy requires. */
export const paymentSucceeded = (amount: number, id: string | null = `pi_3${token(12)}`) => ({
  id: `evt_1${token(12)}`,
  object: "event",
  api_version: "2024-06-20",
  created: Math.floor(Date.now() / 1_000),
  type: "payment_intent.succeeded",
  livemode: false,
  pending_webhooks: 1,
  request: { id: null, idempotency_key: randomUUID() },
  data: {
    object: {
      ...defined({ id: id ?? undefined }),
      object: "payment_intent",
      amount,
      amount_received: amount,
      currency: "eur",
      description: "Order 1042",
      latest_charge: `ch_3${token(12)}`,
      payment_method_types: ["card"],
      status: "succeeded",
    },
  },
});

const repository = { id: 186853002, name: "shop", full_name: "teapots/shop", private: true, default_branch: "main" };
const sender = { login: "maria", id: 583231, type: "User" };

export const push = () => ({
  ref: "refs/heads/main",
  before: token(20),
  after: token(20),
  repository,
  pusher: { name: "maria", email: "maria@example.com" },
  sender,
  commits: [{ id: token(20), message: "Warm the pot first", added: [], removed: [], modified: ["src/brew.ts"] }],
});

/** A push without a repository, which the schema of the policy refuses although the signature holds. */
export const pushOfNothing = () => ({ ref: "refs/heads/main", before: token(20), after: token(20) });

export const pullRequestOpened = (number: number) => ({
  action: "opened",
  number,
  pull_request: {
    id: 1_907_000_000 + number,
    number,
    state: "open",
    title: "Let the tea draw",
    head: { ref: "draw", sha: token(20) },
    base: { ref: "main", sha: token(20) },
  },
  repository,
  sender,
});

/** A Shopify order; with a null `email`, a guest's. */
export const orderCreated = (email: string | null) => ({
  id: 5_623_871_234_123,
  admin_graphql_api_id: "gid://shopify/Order/5623871234123",
  name: "#1042",
  created_at: new Date().toISOString(),
  currency: "EUR",
  total_price: "24.99",
  financial_status: "paid",
  customer: defined({ id: 207_119_551, first_name: "Maria", email: email ?? undefined }),
  line_items: [{ id: 466_157_049, title: "Teapot, blue", quantity: 1, price: "24.99" }],
});
