import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Stripe } from "stripe";
import type { StripeOptions } from "../../infra/billing/stripe/client.ts";

type Fields = Readonly<Record<string, string>>;
type Asked = { readonly method: string; readonly path: string; readonly fields: Fields; readonly key: string | null };
type Answer = { readonly status: number; readonly body: object };
type Metadata = Readonly<Record<string, string>>;

export type StripeSubscription = {
  readonly id: string;
  readonly customer: string;
  readonly price: string;
  readonly status?: string;
  readonly metadata?: Metadata;
  readonly cancel_at_period_end?: boolean;
  readonly cancel_at?: number | null;
  /** The price that its schedule goes on with, and when (seconds). */
  readonly next?: { readonly price: string; readonly from: number };
};

/** A checkout: open until it is paid or expires. */
export type StripeSession = {
  readonly id: string;
  readonly customer: string;
  readonly status: "open" | "complete" | "expired";
};

export const PERIOD_END = Date.parse("2026-04-10T00:00:00.000Z") / 1_000;
const PERIOD_START = Date.parse("2026-03-10T00:00:00.000Z") / 1_000;
const SECRET_KEY = "sk_test_countersign";
const WEBHOOK_SECRET = "whsec_countersign_tests";
export const PRICES = { starter: "price_starter", core: "price_core", scale: "price_scale" } as const;
export const OVERAGE_PRICE = "price_overage";

const refusal = (status: number, message: string, more: object = {}): Answer => ({
  status,
  body: { error: { type: "invalid_request_error", message, ...more } },
});
const done = (body: object): Answer => ({ status: 200, body });

/** `metadata[account]=x` as `{account: "x"}`. */
const metadataIn = (fields: Fields, prefix = "metadata"): Metadata =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const member = new RegExp(`^${prefix.replaceAll(/[[\]]/g, "\\$&")}\\[(\\w+)\\]$`).exec(name)?.[1];
      return member === undefined ? [] : [[member, value] as const];
    }),
  );

const phase = (price: string, start_date: number, end_date: number | null) => ({
  start_date,
  end_date,
  items: [{ price, quantity: 1 }],
});

const shown = (it: StripeSubscription, isExpanded: boolean) => ({
  id: it.id,
  object: "subscription",
  customer: it.customer,
  status: it.status ?? "active",
  metadata: it.metadata ?? {},
  cancel_at: it.cancel_at ?? null,
  cancel_at_period_end: it.cancel_at_period_end ?? false,
  default_payment_method: "pm_1",
  schedule:
    it.next === undefined
      ? null
      : isExpanded
        ? {
            id: "sub_sched_1",
            object: "subscription_schedule",
            current_phase: { start_date: PERIOD_START, end_date: it.next.from },
            phases: [phase(it.price, PERIOD_START, it.next.from), phase(it.next.price, it.next.from, null)],
          }
        : "sub_sched_1",
  items: {
    object: "list",
    has_more: false,
    data: [
      {
        id: `si_${it.id}`,
        object: "subscription_item",
        current_period_start: PERIOD_START,
        current_period_end: PERIOD_END,
        price: { id: it.price, object: "price" },
        quantity: 1,
      },
    ],
  },
});

/** As much of Stripe's API as the adapter needs, with its shapes, its idempotency and its refusals, on a port of this machine. */
export const startStripe = async () => {
  const asked: Asked[] = [];
  const customers = new Map<string, { id: string; email: string; metadata: Metadata; deleted: boolean }>();
  const subscriptions = new Map<string, StripeSubscription>();
  const sessions = new Map<string, StripeSession>();
  const meterEvents = new Map<string, Fields>();
  const answers = new Map<string, { readonly fields: string; readonly answer: Answer }>();
  let made = 0;
  const next = (prefix: string): string => {
    made += 1;
    return `${prefix}_${made}`;
  };
  const world = {
    /** Called before each answer: to be slow, or to break off. "lost": done, and the answer is not sent. */
    before: async (_it: Asked): Promise<"lost" | "fails" | undefined> => undefined,
  };

  const customer = (id: string): Answer => {
    const found = customers.get(id);
    if (found === undefined) return refusal(404, `No such customer: '${id}'`, { code: "resource_missing" });
    if (found.deleted) return done({ id, object: "customer", deleted: true });
    return done({ ...found, object: "customer" });
  };

  const list = (fields: Fields): Answer => {
    const wanted = fields.status;
    const data = [...subscriptions.values()].filter(({ customer: of, status = "active", price }) => {
      const isWanted = wanted === undefined ? status !== "canceled" : wanted === "all" || wanted === status;
      return of === fields.customer && isWanted && (fields.price === undefined || fields.price === price);
    });
    const isExpanded = fields["expand[0]"] === "data.schedule";
    return done({
      object: "list",
      url: "/v1/subscriptions",
      has_more: false,
      data: data.map((it) => shown(it, isExpanded)),
    });
  };

  const openSessions = (fields: Fields): Answer => {
    const isAsked = (it: StripeSession): boolean => it.customer === fields.customer && it.status === fields.status;
    const data = [...sessions.values()].filter(isAsked).map((it) => ({ ...it, object: "checkout.session" }));
    return done({ object: "list", url: "/v1/checkout/sessions", has_more: false, data });
  };

  const expire = (id: string): Answer => {
    const found = sessions.get(id);
    if (found?.status !== "open") return refusal(400, "Only Checkout Sessions that are open can be expired.");
    const expired = { ...found, status: "expired" } as const;
    sessions.set(id, expired);
    return done({ ...expired, object: "checkout.session" });
  };

  const meter = (fields: Fields): Answer => {
    const { identifier = "", event_name } = fields;
    // As it was seen in test mode: without a code.
    if (meterEvents.has(identifier)) return refusal(400, `An event already exists with identifier ${identifier}.`);
    meterEvents.set(identifier, fields);
    return done({ object: "billing.meter_event", identifier, event_name, payload: metadataIn(fields, "payload") });
  };

  const create = (path: string, fields: Fields): Answer => {
    const { customer: of = "" } = fields;
    const created = PERIOD_START;
    const expiring = /^\/v1\/checkout\/sessions\/(\w+)\/expire$/.exec(path)?.[1];
    if (expiring !== undefined) return expire(expiring);
    switch (path) {
      case "/v1/customers": {
        const id = next("cus");
        customers.set(id, { id, email: fields.email ?? "", metadata: metadataIn(fields), deleted: false });
        return customer(id);
      }
      case "/v1/checkout/sessions": {
        const id = next("cs_test");
        if (customers.get(of)?.deleted !== false) return refusal(400, "No such customer", { code: "resource_missing" });
        sessions.set(id, { id, customer: of, status: "open" });
        return done({
          id,
          object: "checkout.session",
          url: `https://checkout.stripe.test/${id}`,
          expires_at: PERIOD_END,
        });
      }
      case "/v1/billing_portal/sessions": {
        const id = next("bps");
        return done({ id, object: "billing_portal.session", created, url: `https://billing.stripe.test/${id}` });
      }
      case "/v1/subscriptions": {
        const price = fields["items[0][price]"] ?? "";
        const it = { id: next("sub"), customer: of, price, metadata: metadataIn(fields) };
        subscriptions.set(it.id, it);
        return done(shown(it, false));
      }
      case "/v1/billing/meter_events":
        return meter(fields);
      default:
        return refusal(404, `Unrecognized request URL (POST: ${path})`);
    }
  };

  const answer = ({ method, path, fields, key }: Asked): Answer => {
    if (method === "GET") {
      if (path === "/v1/subscriptions") return list(fields);
      if (path === "/v1/checkout/sessions") return openSessions(fields);
      if (path.startsWith("/v1/customers/")) return customer(path.slice("/v1/customers/".length));
      return refusal(404, `Unrecognized request URL (GET: ${path})`);
    }
    const told = JSON.stringify([path, fields]);
    const first = key === null ? undefined : answers.get(key);
    if (first !== undefined && first.fields !== told) {
      return refusal(400, "Keys for idempotent requests can only be used with the same parameters", {
        type: "idempotency_error",
      });
    }
    const given = first?.answer ?? create(path, fields);
    if (key !== null) answers.set(key, { fields: told, answer: given });
    return given;
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://stripe");
    const body = new URLSearchParams(await text(request));
    const fields = Object.fromEntries([...searchParams, ...body]);
    const key = request.headers["idempotency-key"] ?? null;
    const it: Asked = { method: request.method ?? "", path: pathname, fields, key: key === null ? null : String(key) };
    const send = ({ status, body: said }: Answer): void => {
      // Stripe's own word on whether its client should try again by itself: the tests need not wait for that.
      const retries = status === 503 ? { "stripe-should-retry": "false" } : {};
      response.writeHead(status, { "content-type": "application/json", ...retries });
      response.end(JSON.stringify(said));
    };
    if (request.headers.authorization !== `Bearer ${SECRET_KEY}`) return send(refusal(401, "Invalid API Key provided"));
    asked.push(it);
    const how = await world.before(it);
    if (how === "fails") return send({ status: 503, body: { error: { type: "api_error", message: "try again" } } });
    const given = answer(it);
    if (how === "lost") return void response.destroy();
    send(given);
  };

  const server = createServer((request, response) => void serve(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server on a port.
  const { port } = server.address() as AddressInfo;
  const place: StripeOptions = {
    secretKey: SECRET_KEY,
    webhookSecret: WEBHOOK_SECRET,
    prices: PRICES,
    overagePrice: OVERAGE_PRICE,
    meterEvent: "countersign_overage_blocks",
    apiUrl: `http://127.0.0.1:${port}`,
  };
  const stripe = new Stripe(SECRET_KEY);

  type Signing = { readonly secret?: string; readonly ageS?: number };
  const signed = (payload: string, { secret = WEBHOOK_SECRET, ageS = 0 }: Signing = {}) => {
    const timestamp = Math.floor(Date.now() / 1_000) - ageS;
    const signature = stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
    return { payload, headers: { "content-type": "application/json; charset=utf-8", "stripe-signature": signature } };
  };

  return {
    place,
    world,
    asked,
    customers,
    subscriptions,
    sessions,
    meterEvents,
    /** What was asked for with POST at a path. */
    posted: (path: string) =>
      asked.filter((it) => it.method === "POST" && it.path === path).map(({ fields }) => fields),
    /** Puts a subscription there, as it is from now on. */
    has(it: StripeSubscription): void {
      subscriptions.set(it.id, it);
    },
    /** A webhook as Stripe sends it, signed by its own package. */
    webhook(type: string, object: object, { id = next("evt"), ...how }: { id?: string } & Signing = {}) {
      return signed(JSON.stringify({ id, object: "event", type, created: PERIOD_START, data: { object } }), how);
    },
    signed,
    async stop(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
};

export type StripeServer = Awaited<ReturnType<typeof startStripe>>;
