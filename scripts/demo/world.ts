import { randomBytes } from "node:crypto";
import { type Client, type Reply, signUp } from "../../test/support/client.ts";
import type { Receiver } from "../../test/support/receiver.ts";
import { paint, short, type Terminal } from "./terminal.ts";
import type { Webhook } from "./webhooks.ts";

/** A step did not happen as announced. The message is a sentence for the person at the terminal. */
export class NotAsSaid extends Error {
  override readonly name = "NotAsSaid";
}

export const expect: (holds: boolean, otherwise: string) => asserts holds = (holds, otherwise) => {
  if (!holds) throw new NotAsSaid(otherwise);
};

export type Source = { readonly url: string; readonly secret: string };

export type World = {
  readonly client: Client;
  readonly receiver: Receiver;
  readonly endpointId: string;
  readonly signingSecret: string;
  readonly stripe: Source;
  readonly github: Source;
  readonly shopify: Source;
  readonly counted: { admitted: number; blocked: number };
};

/** In a later scene each gate of these policies refuses a webhook. */
const POLICIES = {
  payments: {
    require_fields: ["data.object.id"],
    deny: [{ name: "nothing over 5,000 euros", when: "payload.data.object.amount > 500000" }],
    cost: { fixed_eur: 0.4 },
    budget_eur_day: 1,
  },
  code: {
    schema: { type: "object", required: ["repository"], properties: { repository: { type: "object" } } },
    rate_per_minute: 3,
  },
  orders: { require_fields: ["customer.email"], block_on_violation: false },
} as const;

const RULES: Readonly<Record<keyof typeof POLICIES, string>> = {
  payments: "a payment id, at most 5,000 EUR, 0.40 EUR each of 1.00 EUR a day",
  code: "a repository (JSON Schema), 3 a minute",
  orders: "a customer's address; observe only",
};

const RETRY_SCHEDULE_S = [1, 1, 1];

export const setUp = async (base: string, receiver: Receiver, out: Terminal): Promise<World> => {
  const client = await signUp(base);
  out.row(
    "POST /v1/auth/signup",
    `${paint("green", "201")} ${short(client.account)}`,
    "an account, and an API key for it",
  );
  const made = async (path: string, body: object, about: string): Promise<Reply["body"]> => {
    const it = await client.make(path, body);
    out.row(`POST ${path}`, `${paint("green", "201")} ${short(it.id)}`, about);
    return it;
  };
  const endpoint = await made(
    "/v1/endpoints",
    { name: "shop", url: receiver.url, retry_schedule_s: RETRY_SCHEDULE_S },
    `delivers to ${receiver.url}`,
  );
  const source = async (type: string, policy: keyof typeof POLICIES): Promise<Source> => {
    const { id: policy_id } = await made(
      "/v1/policies",
      { name: policy, ...POLICIES[policy] },
      `${policy}: ${RULES[policy]}`,
    );
    const secret = `whsec_${randomBytes(24).toString("hex")}`;
    const settings = { name: type, type, secret, policy_id, endpoint_id: endpoint.id };
    const { ingest_url: url } = await made("/v1/sources", settings, `${type}, under ${policy}`);
    return { url, secret };
  };
  return {
    client,
    receiver,
    endpointId: endpoint.id,
    signingSecret: endpoint.signing_secret,
    stripe: await source("stripe", "payments"),
    github: await source("github", "code"),
    shopify: await source("shopify", "orders"),
    counted: { admitted: 0, blocked: 0 },
  };
};

/** An answer in short, such as "202 queued", "200 duplicate", "401 invalid-signature stale" or "429 gate-rate". */
const answerOf = ({ status, body }: Reply): string =>
  [status, body.code ?? (body.duplicate === true ? "duplicate" : body.status), body.reason ?? ""].join(" ").trimEnd();

export const send = async (world: World, source: Source, webhook: Webhook, expected: string): Promise<Reply> => {
  const { what, headers, body } = webhook;
  const response = await fetch(source.url, { method: "POST", headers, body });
  const reply = { status: response.status, headers: response.headers, body: await response.json() };
  const answer = answerOf(reply);
  expect(answer === expected, `${what} was answered "${answer}", and "${expected}" was expected.`);
  if (reply.status === 202) world.counted.admitted += 1;
  if (reply.status === 422 || reply.status === 429) world.counted.blocked += 1;
  return reply;
};

export const shownAnswer = (answer: string): string => paint(answer.startsWith("2") ? "green" : "yellow", answer);
