import { Webhook as StandardWebhook } from "standardwebhooks";
import type { Reply } from "../../test/support/client.ts";
import { until } from "../../test/support/program.ts";
import { paint, short, type Terminal } from "./terminal.ts";
import {
  github,
  orderCreated,
  paymentSucceeded,
  pullRequestOpened,
  push,
  pushOfNothing,
  shopify,
  stripe,
  type Webhook,
} from "./webhooks.ts";
import { expect, type Source, send, shownAnswer, type World } from "./world.ts";

export type Sent = { readonly webhook: Webhook; readonly eventId: string };

const WAIT_MS = 10_000;
/** Seconds of age beyond the 300 s that are tolerated, for every provider that signs the time. */
const STALE_S = 600;

const shownEvent = (world: World, id: string, status: string): Promise<Reply["body"]> =>
  until(
    `${id} is ${status}`,
    async () => {
      const { body } = await world.client.call("GET", `/v1/events/${id}`);
      return body.status === status ? body : null;
    },
    WAIT_MS,
  );

const admitted = async (world: World, out: Terminal, source: Source, webhook: Webhook): Promise<Sent> => {
  const { receiver, signingSecret } = world;
  const sentAt = Date.now();
  const { body } = await send(world, source, webhook, "202 queued");
  const eventId: string = body.event_id;
  await shownEvent(world, eventId, "delivered");
  const arrivals = receiver.arrivals.filter(({ id }) => id === eventId);
  const [arrival] = arrivals;
  expect(arrival !== undefined && arrivals.length === 1, `${webhook.what} arrived ${arrivals.length} times, not once.`);
  expect(arrival.body === webhook.body, `${webhook.what} arrived with another body than was sent.`);
  // `verify` throws for a wrong signature. The cast is safe, because the signed headers come only once.
  new StandardWebhook(signingSecret).verify(arrival.body, arrival.headers as Record<string, string>);
  const about = `${short(eventId)} arrived once, after ${arrival.at - sentAt} ms, its signature holds`;
  out.row(webhook.what, shownAnswer("202 queued"), about);
  return { webhook, eventId };
};

export const admission = async (world: World, out: Terminal): Promise<Sent> => {
  out.section("Admitted: signed as the provider does, let through by the policy, delivered under its event id");
  const payment = await admitted(world, out, world.stripe, stripe(world.stripe.secret, paymentSucceeded(2_499)));
  await admitted(world, out, world.github, github(world.github.secret, "push", push()));
  await admitted(world, out, world.github, github(world.github.secret, "pull_request", pullRequestOpened(7)));
  await admitted(
    world,
    out,
    world.shopify,
    shopify(world.shopify.secret, "orders/create", orderCreated("m@example.com")),
  );
  return payment;
};

export const duplicates = async (world: World, out: Terminal, { webhook, eventId }: Sent): Promise<void> => {
  out.section("Duplicate: the provider sends the same delivery again");
  const again = await send(world, world.stripe, webhook, "200 duplicate");
  expect(again.body.event_id === eventId, "The duplicate was answered with another event id.");
  out.row(webhook.what, shownAnswer("200 duplicate"), `of ${short(eventId)}, which is delivered no second time`);
  // A genuinely signed payment that has the delivered event's id but another body.
  const { id } = JSON.parse(webhook.body) as { id: string };
  const other = stripe(world.stripe.secret, { ...paymentSucceeded(1), id });
  await send(world, world.stripe, other, "409 delivery-id-reused");
  out.row("its id again, on another body", shownAnswer("409 delivery-id-reused"), "the first one stands");
};

export const forgeries = async (world: World, out: Terminal): Promise<void> => {
  out.section("Forged: refused with the reason, before any gate is asked");
  const payment = paymentSucceeded(2_499);
  const { secret } = world.stripe;
  const genuine = stripe(secret, payment);
  const nowS = Math.floor(Date.now() / 1_000);
  const attempts: readonly (readonly [string, Webhook, string])[] = [
    ["signed with another secret", stripe("whsec_guessed", payment), "mismatch"],
    ["amount changed on the way", { ...genuine, body: genuine.body.replaceAll("2499", "1") }, "mismatch"],
    ["no signature", { ...genuine, headers: { "content-type": "application/json" } }, "missing"],
    ["recorded ten minutes ago", stripe(secret, payment, nowS - STALE_S), "stale"],
  ];
  for (const [how, webhook, reason] of attempts) {
    const { body } = await send(world, world.stripe, webhook, `401 invalid-signature ${reason}`);
    out.row(how, shownAnswer(`401 ${reason}`), body.detail);
  }
};

const refused = async (
  world: World,
  out: Terminal,
  { source, webhook, how, answer }: { source: Source; webhook: Webhook; how: string; answer: string },
): Promise<void> => {
  const { headers, body } = await send(world, source, webhook, answer);
  const denied = body.verdict.gates.find((gate: { outcome: string }) => gate.outcome === "deny");
  expect(denied !== undefined, `The verdict on ${how} names no gate.`);
  expect(body.verdict.decision === "deny", `The verdict on ${how} is not to deny.`);
  const wait = headers.get("retry-after");
  expect((wait !== null) === answer.startsWith("429"), `Retry-After of ${how} is ${wait}.`);
  out.row(
    how,
    shownAnswer(answer),
    `${denied.code}: ${denied.detail}${wait === null ? "" : `; Retry-After ${wait} s`}`,
  );
};

export const gates = async (world: World, out: Terminal): Promise<void> => {
  out.section("Blocked: each gate refuses what violates the policy, and says why");
  const pay = (amount: number, id?: null) => ({
    source: world.stripe,
    webhook: stripe(world.stripe.secret, paymentSucceeded(amount, id)),
  });
  const code = (payload: object) => ({
    source: world.github,
    webhook: github(world.github.secret, "push", payload),
  });
  await refused(world, out, { ...pay(2_499, null), how: "payment without its id", answer: "422 gate-require-fields" });
  await refused(world, out, { ...code(pushOfNothing()), how: "push of no repository", answer: "422 gate-schema" });
  await refused(world, out, { ...pay(500_001), how: "payment of 5,000.01 EUR", answer: "422 gate-content" });
  const second = pay(100);
  await admitted(world, out, second.source, second.webhook);
  await refused(world, out, { ...pay(100), how: "a third one of 0.40 EUR", answer: "429 gate-budget" });
  const third = code(push());
  await admitted(world, out, third.source, third.webhook);
  await refused(world, out, { ...code(push()), how: "a fourth within the minute", answer: "429 gate-rate" });
};

export const observing = async (world: World, out: Terminal): Promise<void> => {
  out.section("Observe: a policy with block_on_violation false lets through and flags");
  const order = shopify(world.shopify.secret, "orders/create", orderCreated(null));
  const { eventId } = await admitted(world, out, world.shopify, order);
  const { verdict } = await shownEvent(world, eventId, "delivered");
  const [gate] = verdict.gates;
  const said = `decision ${verdict.decision}, observed ${verdict.observed}, ${gate.gate} ${gate.outcome}`;
  const expected = "decision allow, observed true, require_fields deny";
  expect(said === expected, `The verdict is "${said}", and "${expected}" was expected.`);
  out.row("its verdict", verdict.decision, `observed; ${gate.code}: ${gate.detail}`);
};

export const recovery = async (world: World, out: Terminal): Promise<Sent> => {
  out.section("A receiver that is down for a moment: 503 twice, then 200");
  const { receiver, shopify: source } = world;
  let calls = 0;
  receiver.answer((_arrival, response) => {
    calls += 1;
    response.writeHead(calls <= 2 ? 503 : 200, { "content-type": "text/plain" });
    response.end(calls <= 2 ? "restarting" : "done");
  });
  const webhook = shopify(source.secret, "orders/create", orderCreated("m@example.com"));
  const { body } = await send(world, source, webhook, "202 queued");
  out.row(webhook.what, shownAnswer("202 queued"), short(body.event_id));
  const shown = await shownEvent(world, body.event_id, "delivered");
  receiver.answer((_arrival, response) => response.end());
  const outcomes = shown.attempts.map((attempt: { outcome: string }) => attempt.outcome).join(", ");
  expect(outcomes === "failed, failed, succeeded", `The attempts came to ${outcomes}.`);
  const arrivals = receiver.arrivals.filter(({ id }) => id === body.event_id);
  const numbers = arrivals.map(({ headers }) => headers["countersign-attempt"]).join(" ");
  expect(numbers === "1 2 3", `The receiver saw the attempts ${numbers}.`);
  out.row("delivered", paint("green", "at the third attempt"), "all three under one webhook-id");
  return { webhook, eventId: body.event_id };
};
