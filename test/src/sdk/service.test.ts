import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { Countersign, isCountersignError } from "../../../src/sdk/index.ts";
import { type Client, signUp } from "../../support/client.ts";
import { countersign } from "../../support/command-line.ts";
import { coveredBy } from "../../support/message-signature.ts";
import {
  killPrograms,
  type Program,
  removeFolder,
  startProgram,
  temporaryFolder,
  until,
} from "../../support/program.ts";
import { type Receiver, receiver } from "../../support/receiver.ts";
import { compile, writeProject } from "./compiler.ts";

const REFUND = {
  type: "object",
  description: "Gives money back */ for a charge.",
  properties: { charge: { type: "string" }, amount_eur: { type: "number", description: "At most what was paid." } },
  required: ["charge"],
  additionalProperties: false,
};

const folder = temporaryFolder();
let program: Program;
let target: Receiver;
let client: Client;
let signingSecret: string;

const test = suite("the SDK against the service");

test.before(async () => {
  program = await startProgram();
  target = await receiver();
  client = await signUp(program.url);
  const { id, signing_secret } = await client.make("/v1/endpoints", { name: "payments", url: target.url });
  signingSecret = signing_secret;
  const actions = {
    "refund.create": { schema: REFUND, reversibility: "irreversible" },
    "mail.send": { reversibility: "irreversible" },
  };
  for (const [name, action] of Object.entries(actions)) {
    const put = await client.session("PUT", `/v1/actions/${name}`, { endpoint_id: id, ...action });
    assert.is(put.status, 201, JSON.stringify(put.body));
  }
});
test.after(async () => {
  await program.stop();
  await target.close();
  killPrograms();
  removeFolder(folder);
});

test("the types of the account's actions are written by the command line, and hold calls to their schemas", async () => {
  const out = join(folder, "actions.ts");
  const env = { COUNTERSIGN_API_KEY: client.key };
  const ended = await countersign(["sdk", "types", "--url", program.url, "--out", out], { env });
  assert.is(ended.status, 0, ended.stderr);
  const use = `
    import type { Actions } from "./actions.ts";
    export const refund: Actions["refund.create"]["payload"] = { charge: "ch_1", amount_eur: 3 };
    export const mail: Actions["mail.send"]["payload"] = "anything";
    // @ts-expect-error the wrong type
    export const wrong: Actions["refund.create"]["payload"] = { charge: 1 };
    // @ts-expect-error a name that the schema does not have
    export const odd: Actions["refund.create"]["payload"] = { charge: "ch_1", amount: 3 };
    // @ts-expect-error an unknown action
    export type Unknown = Actions["refund.delete"];
  `;
  const options = {
    module: "nodenext",
    target: "es2022",
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
  };
  writeProject(folder, { "actions.ts": readFileSync(out, "utf8"), "use.ts": use }, { ...options, types: [] });
  assert.equal(await compile(["-p", folder]), []);
});

/** As `sdk types` writes it, with what the target answers. */
type Actions = {
  readonly "refund.create": {
    readonly payload: { readonly charge: string; readonly amount_eur?: number };
    readonly result: { readonly refund: string };
  };
  readonly "mail.send": { readonly payload: unknown };
};

const agent = async (policy: Record<string, unknown> | null = null, actions = ["*"]) => {
  const policyId = policy === null ? null : (await client.make("/v1/policies", { name: "agents", ...policy })).id;
  const { id, key } = await client.make("/v1/agents", { name: "agent", policy_id: policyId, scope: { actions } });
  const countersign = new Countersign<Actions>({ baseUrl: program.url, key });
  return { id: String(id), key: String(key), countersign };
};

const refunds = (): void =>
  target.answer(({ body }, response) => {
    const { charge } = JSON.parse(body);
    response.setHeader("content-type", "application/json").end(JSON.stringify({ refund: `re_${charge}` }));
  });

const codeOf = async (work: Promise<unknown>): Promise<unknown> => {
  const error = await work.then(
    (value) => assert.unreachable(JSON.stringify(value)),
    (thrown: unknown) => thrown,
  );
  if (!isCountersignError(error)) throw error;
  return error.code;
};

test("an action reaches its target once, and its answer comes back", async () => {
  refunds();
  const { countersign } = await agent();
  const before = target.arrivals.length;
  const call = () =>
    countersign.execute("refund.create", { charge: "ch_1" }, { idempotencyKey: 'job "1"', runId: "run-1", depth: 1 });
  const first = await call();
  assert.ok(first.status === "delivered");
  assert.equal([first.result, first.replayed], [{ statusCode: 200, body: { refund: "re_ch_1" } }, false]);
  assert.is(first.verdict?.decision, "allow");
  assert.equal(await call(), { ...first, replayed: true });
  assert.equal(await countersign.execution<"refund.create">(first.eventId), first);
  const [arrival, ...others] = target.arrivals.slice(before);
  assert.is(others.length, 0);
  assert.is(arrival?.id, first.eventId);
  assert.equal(JSON.parse(arrival?.body ?? ""), { charge: "ch_1" });
  assert.equal(
    [arrival?.headers["countersign-action"], arrival?.headers["countersign-run"]],
    ["refund.create", "run-1"],
  );
});

test("a second signature covers the agent and the action, which the one of Standard Webhooks does not", async () => {
  refunds();
  const { countersign } = await agent();
  const { eventId } = await countersign.execute(
    "refund.create",
    { charge: "ch_2" },
    { idempotencyKey: "signed", runId: "run-2" },
  );
  const arrival = target.arrivals.find(({ id }) => id === eventId);
  assert.ok(arrival !== undefined);
  const { headers, body } = arrival;
  const ours = Object.keys(headers).filter((name) => name.startsWith("countersign-"));
  assert.equal(
    coveredBy(signingSecret, headers, body)?.sort(),
    ["webhook-id", "webhook-timestamp", "content-digest", ...ours].sort(),
  );
  assert.ok(ours.includes("countersign-agent") && ours.includes("countersign-run"));
  for (const name of ["webhook-id", ...ours])
    assert.is(coveredBy(signingSecret, { ...headers, [name]: "2" }, body), null, name);
  assert.is(coveredBy(signingSecret, headers, `${body} `), null);
});

test("an answer that was lost on the way is asked for again, and the action has happened once", async () => {
  refunds();
  const { key } = await agent();
  const before = target.arrivals.length;
  let lost = 0;
  const countersign = new Countersign<Actions>({
    baseUrl: program.url,
    key,
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      if (lost === 2) return response;
      lost += 1;
      throw new TypeError("the connection broke");
    },
  });
  const done = await countersign.execute("refund.create", { charge: "ch_2" });
  assert.is(done.status, "delivered");
  assert.equal([lost, done.replayed], [2, true]);
  assert.is(target.arrivals.length, before + 1);
});

test("refusals are codes", async () => {
  const { id, countersign } = await agent({ deny: [{ name: "no large ones", when: "payload.amount_eur > 100.0" }] });
  const refused = countersign.execute("refund.create", { charge: "ch_3", amount_eur: 500 });
  const error = await refused.catch((it: unknown) => it);
  assert.ok(isCountersignError(error, "gate-content"), String(error));
  assert.is(error.verdict?.decision, "deny");
  assert.match(error.eventId ?? "", /^evt_/);
  assert.ok(error.traceId);

  const free = new Countersign({ baseUrl: program.url, key: (await agent(null, ["mail.*", "pay.*"])).key });
  assert.is(await codeOf(free.execute("refund.create", {})), "out-of-scope");
  assert.is(await codeOf(free.execute("pay.out", {})), "unknown-action");
  const loose = new Countersign({ baseUrl: program.url, key: (await agent()).key });
  assert.is(await codeOf(loose.execute("refund.create", { charge: 1 })), "gate-schema");
  await loose.execute("mail.send", 1, { idempotencyKey: "k" });
  assert.is(await codeOf(loose.execute("mail.send", 2, { idempotencyKey: "k" })), "idempotency-key-reused");
  assert.is(await codeOf(loose.execution(`evt_${"a".repeat(32)}`)), "not-found");
  const nobody = new Countersign({ baseUrl: program.url, key: `csa_${"a".repeat(43)}` });
  assert.is(await codeOf(nobody.execute("mail.send", {})), "unauthenticated");

  await client.call("POST", `/v1/agents/${id}/suspend`, { reason: "enough" });
  assert.is(await codeOf(countersign.execute("refund.create", { charge: "ch_4" })), "agent-suspended");
});

test("a refusal by the target is a result, not an error", async () => {
  target.answer((_, response) => response.writeHead(410, { "content-type": "text/plain" }).end("gone"));
  const endpoint = await client.make("/v1/endpoints", { name: "closed", url: target.url });
  await client.session("PUT", "/v1/actions/old.one", { endpoint_id: endpoint.id, reversibility: "irreversible" });
  const { key } = await agent();
  const done = await new Countersign({ baseUrl: program.url, key }).execute("old.one", {});
  assert.ok(done.status === "failed", JSON.stringify(done));
  assert.equal([done.result, done.failure?.kind], [{ statusCode: 410, body: "gone" }, "http-4xx"]);
});

test("an execution that takes longer than the wait is returned as it is, and can be waited for", async () => {
  target.answer((_, response) => {
    setTimeout(() => response.setHeader("content-type", "application/json").end('{"refund":"late"}'), 400);
  });
  const { countersign } = await agent();
  const slow = await countersign.execute("refund.create", { charge: "ch_5" }, { waitMs: 0 });
  assert.is(slow.status, "queued");
  const done = await countersign.waitForApproval<"refund.create">(slow.eventId, { timeoutMs: 20_000 });
  assert.ok(done.status === "delivered");
  assert.is(done.result.body.refund, "late");
});

const decide = async (approvalId: string, decision: "approve" | "reject"): Promise<void> => {
  const { body } = await client.session("GET", `/v1/approvals/${approvalId}`);
  const comment = "looked at";
  const made = await client.session("POST", `/v1/approvals/${approvalId}/${decision}`, {
    digest: body.digest,
    comment,
  });
  assert.is(made.status, 200, JSON.stringify(made.body));
};

for (const [decision, end] of [
  ["approve", "delivered"],
  ["reject", "rejected"],
] as const) {
  test(`a held execution is returned at once, and can be waited for until a person decides: ${end}`, async () => {
    refunds();
    const { countersign } = await agent({ approval: { when: "true", min_approvals: 1, expires_after_s: 600 } });
    const before = target.arrivals.length;
    const held = await countersign.execute("refund.create", { charge: "ch_6" });
    assert.ok(held.status === "held", JSON.stringify(held));
    const waiting = countersign.waitForApproval<"refund.create">(held.eventId, { timeoutMs: 30_000 });
    await until("the approval is requested", async () => {
      return (await client.session("GET", `/v1/approvals/${held.approvalId}`)).status === 200;
    });
    await decide(held.approvalId, decision);
    const done = await waiting;
    assert.is(done.status, end);
    if (done.status === "delivered") assert.is(done.result.body.refund, "re_ch_6");
    assert.is(target.arrivals.length - before, end === "delivered" ? 1 : 0);
  });
}

type Orders = {
  readonly "order.create": { readonly payload: { readonly sku: string }; readonly result: { readonly id: string } };
  readonly "order.mail": { readonly payload: { readonly to: string; readonly order: string } };
};

/** An agent whose bundles create an order and send a mail; the target takes no mail without an address. */
const ordering = async (policy: Record<string, unknown> | null = null) => {
  target.answer(({ headers, body }, response) => {
    const isRefused = headers["countersign-action"] === "order.mail" && JSON.parse(body).to === "";
    response.writeHead(isRefused ? 422 : 200, { "content-type": "application/json" }).end('{"id":"o-1"}');
  });
  const endpoint = await client.make("/v1/endpoints", { name: "shop", url: target.url, retry_schedule_s: [] });
  const actions = {
    "order.cancel": { reversibility: "reversible" },
    "order.create": { reversibility: "compensable", compensation: "order.cancel" },
    "order.mail": { reversibility: "irreversible" },
  };
  for (const [name, action] of Object.entries(actions))
    await client.session("PUT", `/v1/actions/${name}`, { endpoint_id: endpoint.id, ...action });
  const { key } = await agent(policy);
  const orders = new Countersign<Orders>({ baseUrl: program.url, key });
  const order = (to: string, idempotencyKey?: string) =>
    orders.bundle(
      [
        { action: "order.create", payload: { sku: "s-1" } },
        { action: "order.mail", payload: { to, order: { $result: { step: 0, pointer: "/id" } } } },
      ],
      { name: "order", idempotencyKey },
    );
  return { orders, order };
};

test("a bundle is done as a whole, with results of its steps in later ones, or taken back", async () => {
  const { orders, order } = await ordering();
  const before = target.arrivals.length;
  const done = await order("a@example.com", "o-1");
  assert.is(done.status, "committed", JSON.stringify(done));
  const [first] = done.steps;
  if (first.status === "succeeded") assert.is(first.result.body.id, "o-1");
  assert.equal(await order("a@example.com", "o-1"), { ...done, replayed: true });
  const sent = target.arrivals.slice(before).map(({ body }) => JSON.parse(body));
  assert.equal(sent, [{ sku: "s-1" }, { to: "a@example.com", order: "o-1" }]);

  const undone = await order("");
  assert.equal([undone.status, undone.left], ["rolled_back", []]);
  assert.equal(
    undone.steps.map(({ status }) => status),
    ["compensated", "failed"],
  );
  assert.match(undone.reason ?? "", "order.mail");
  const last = target.arrivals.at(-1);
  assert.equal([last?.headers["countersign-action"], last?.id], ["order.cancel", undone.steps[0].compensationEventId]);
  assert.equal(JSON.parse(last?.body ?? ""), {
    ...{ payload: { sku: "s-1" }, result: { id: "o-1" }, forward_webhook_id: undone.steps[0].eventId },
  });
  // A step is an execution as any other.
  assert.is((await orders.execution<"order.create">(undone.steps[0].eventId ?? "")).status, "delivered");
});

test("a bundle that cannot be one is refused with the place in it", async () => {
  const { orders } = await ordering();
  const wrong = orders.bundle([
    { action: "order.mail", payload: { to: "a", order: "o" } },
    { action: "order.create", payload: { sku: "s" } },
  ]);
  const error = await wrong.catch((it: unknown) => it);
  assert.ok(isCountersignError(error, "irreversible-not-last"), String(error));
  assert.equal(
    error.errors.map(({ path }) => path),
    ["/steps/0/action"],
  );
  const cyclic = orders.bundle([{ action: "order.create", payload: { sku: { $result: { step: 0, pointer: "" } } } }]);
  assert.is(await codeOf(cyclic), "invalid-bundle");
});

test("a bundle that is held is waited for until a person has decided on all of it", async () => {
  const { orders, order } = await ordering({ approval: { when: "true", min_approvals: 1, expires_after_s: 600 } });
  const held = await order("a@example.com");
  assert.ok(held.status === "held" && held.approvalId !== null, JSON.stringify(held));
  const { approvalId, bundleId } = held;
  const waiting = orders.waitForBundle(bundleId, { timeoutMs: 30_000 });
  await until("the approval is requested", async () => {
    return (await client.session("GET", `/v1/approvals/${approvalId}`)).status === 200;
  });
  await decide(approvalId, "approve");
  assert.is((await waiting).status, "committed");
});

test("a service that is killed and started again in the middle of a call ends it as if nothing had been", async () => {
  let began = (): void => {};
  const hasBegun = new Promise<void>((resolve) => {
    began = resolve;
  });
  target.answer((_, response) => {
    began();
    setTimeout(() => response.setHeader("content-type", "application/json").end('{"refund":"re_7"}'), 300);
  });
  const before = target.arrivals.length;
  const { key } = await agent();
  const patient = new Countersign<Actions>({ baseUrl: program.url, key, attemptsMax: 20 });
  const call = patient.execute("refund.create", { charge: "ch_7" }, { waitMs: 30_000 });
  await hasBegun;
  await program.kill();
  program = await startProgram({ PORT: new URL(program.url).port }, program.dir);
  const done = await call;
  assert.ok(done.status === "delivered", JSON.stringify(done));
  assert.is(done.result.body.refund, "re_7");
  assert.is(done.replayed, true);
  const ids = new Set(target.arrivals.slice(before).map(({ id }) => id));
  assert.equal([...ids], [done.eventId]);
});

test.run();
