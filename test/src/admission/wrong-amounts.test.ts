import { createHmac } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Agent, defineAction, registerAgent } from "../../support/agent.ts";
import {
  type Client,
  HOOK_SECRET,
  type HookSource,
  hookSource,
  type Reply,
  reply,
  signUp,
} from "../../support/client.ts";
import { type Receiver, receiver } from "../../support/receiver.ts";
import { serviceInProcess } from "../../support/service-in-process.ts";

const test = suite("wrong amounts");

const running = await serviceInProcess({ SIGNUP_PLAN: "scale" });
const target: Receiver = await receiver();
const client: Client = await signUp(running.base);
const endpoint = await client.make("/v1/endpoints", { name: "app", url: target.url });

test.after(async () => {
  await running.stop();
  await target.close();
});

const RULE = { pointer: "amount", default_eur: 1 };
const APPROVAL = { when: "cost_eur >= 100.0", expires_after_s: 3_600 };
/** As they stand in a body: some of them no JSON of JavaScript would write. */
const WRONG = ['"99999"', "[99999]", '{"value":99999}', "-500", "true", '""', "1e400", "-1e400", "1000000001"];

let made = 0;
const sourceUnder = async (policy: object): Promise<HookSource> => {
  made += 1;
  const { id } = await client.make("/v1/policies", { name: `policy ${made}`, ...policy });
  return hookSource(client, { name: `source ${made}`, policy_id: id, endpoint_id: endpoint.id });
};

const actionWith = async (cost: object | undefined): Promise<string> => {
  made += 1;
  const name = `refund.create${made}`;
  await defineAction(client, name, endpoint.id, cost === undefined ? {} : { cost });
  return name;
};

const agentUnder = async (policy: object | null): Promise<Agent> => {
  made += 1;
  if (policy === null) return registerAgent(running.base, client);
  const { id } = await client.make("/v1/policies", { name: `policy ${made}`, ...policy });
  return registerAgent(running.base, client, { policy_id: id });
};

const gates = ({ body }: Reply): string[] =>
  body.verdict.gates
    .filter((gate: { outcome: string }) => gate.outcome === "deny")
    .map((gate: { gate: string; code: string }) => `${gate.gate} ${gate.code}`);

const assertRefused = (answer: Reply, about: string): void => {
  assert.equal([answer.status, answer.body.code, answer.body.retryable], [422, "cost-unknown", false], about);
  assert.is(gates(answer)[0], "cost cost-unknown", about);
  assert.not.match(answer.body.detail, "99999", "the value may be one that the policy hides");
};

for (const [what, policy] of [
  ["without a budget", { cost: RULE }],
  ["under a budget", { cost: RULE, budget_eur_day: 1_000 }],
  ["where an approval depends on the cost", { cost: RULE, approval: APPROVAL }],
] as const) {
  test(`a webhook with a wrong amount is refused ${what}, and the default stands for an absent one`, async () => {
    const source = await sourceUnder(policy);
    for (const [n, amount] of WRONG.entries()) assertRefused(await source.send(`${n}`, `{"amount":${amount}}`), amount);
    for (const body of ["not JSON", '\ufeff{"amount":99999}', "amount=99999", "[]", '"x"'])
      assertRefused(await source.send(`body ${encodeURIComponent(body)}`, body), body);
    for (const payload of ["{}", '{"amount":null}', '{"amount":0}', '{"amount":-0}']) {
      assert.is((await source.send(payload, payload)).status, 202, payload);
    }
  });

  test(`an agent's request with a wrong amount is refused ${what}, whoever's rule reads it`, async () => {
    const byPolicy = await agentUnder(policy);
    const byAction = await agentUnder({ ...policy, cost: undefined });
    const plain = await actionWith(undefined);
    const ruled = await actionWith(RULE);
    const wrong = ["99999", [99999], { value: 99999 }, -500, true, "", 1_000_000_001];
    for (const [n, amount] of wrong.entries()) {
      const payload = { amount };
      assertRefused(await byPolicy.execute(`${n}`, { action: plain, payload }), `policy ${amount}`);
      assertRefused(await byAction.execute(`${n}`, { action: ruled, payload }), `action ${amount}`);
      assertRefused(await byAction.execute(`own ${n}`, { action: ruled, payload, cost_eur: 2 }), `own ${amount}`);
      const steps = [{ action: ruled, payload: {} }];
      assertRefused(await byPolicy.bundle(`${n}`, [{ action: plain, payload }]), `policy's bundle ${amount}`);
      const second = [
        { action: plain, payload: { amount: 1 } },
        { action: plain, payload },
      ];
      assertRefused(await byPolicy.bundle(`second ${n}`, second), `policy's second step ${amount}`);
      assertRefused(await byAction.bundle(`${n}`, [...steps, { action: ruled, payload }]), `action's bundle ${amount}`);
    }
    assert.is((await byPolicy.execute("absent", { action: plain, payload: {} })).status, 200);
    assert.is((await byAction.execute("null", { action: ruled, payload: { amount: null } })).status, 200);
  });
}

test("an action's rule refuses a wrong amount of an agent that has no policy", async () => {
  const agent = await agentUnder(null);
  const action = await actionWith(RULE);
  assertRefused(await agent.execute("wrong", { action, payload: { amount: "5" } }), "no policy");
  assert.is((await agent.execute("right", { action, payload: { amount: 5 } })).status, 200);
});

test("a bundle's step whose amount turns out wrong in an earlier result is never sent", async () => {
  const agent = await agentUnder(null);
  const plain = await actionWith({ fixed_eur: 1 });
  const ruled = await actionWith(RULE);
  const before = target.arrivals.length;
  const amount = { $result: { step: 0, pointer: "/ok" } };
  const { body } = await agent.bundle("key", [
    { action: plain, payload: {} },
    { action: ruled, payload: { amount } },
  ]);
  assert.equal([body.status, body.steps[1].status, target.arrivals.length - before], ["rolled_back", "skipped", 1]);
});

test("numbers written as text count where the rule says so, and are held and refused by what they say", async () => {
  const cost = { ...RULE, numeric_text: true };
  const source = await sourceUnder({ cost, approval: APPROVAL });
  for (const [text, status] of [
    ["19.99", "queued"],
    ["0", "queued"],
    ["100", "held"],
    ["99999", "held"],
    ["100.00", "held"],
  ] as const) {
    const { body } = await source.send(text, { amount: text });
    assert.is(body.status, status, text);
  }
  const wrong = [
    "",
    " 5",
    "5 ",
    "+5",
    "-5",
    "05",
    "5.",
    ".5",
    "1e3",
    "0x10",
    "1,5",
    "1_0",
    "Infinity",
    "NaN",
    "٥",
    "5\n",
  ];
  for (const [n, text] of [...wrong, "9".repeat(41), "1000000001"].entries())
    assertRefused(await source.send(`wrong ${n}`, { amount: text }), JSON.stringify(text));
  for (const [n, amount] of [["5"], { amount: "5" }, true].entries())
    assertRefused(await source.send(`kind ${n}`, { amount }), JSON.stringify(amount));
  const odd = await client.call("POST", "/v1/policies", { name: "odd", cost: { ...cost, numeric_text: "yes" } });
  assert.equal([odd.status, odd.body.errors[0].path], [422, "/cost/numeric_text"]);
});

test("a policy that only observes lets a wrong amount pass and says so, unless an approval is needed", async () => {
  const watching = await sourceUnder({ cost: RULE, block_on_violation: false });
  const { status, headers, body } = await watching.send("a", { amount: "99999" });
  assert.is(status, 202);
  const after = headers.get("countersign-position");
  const { body: event } = await client.call("GET", `/v1/events/${body.event_id}?after=${after}`);
  assert.equal(
    [event.verdict.observed, event.verdict.gates.map((gate: { gate: string }) => gate.gate)],
    [true, ["cost"]],
  );
  const asking = await sourceUnder({ cost: RULE, block_on_violation: false, approval: APPROVAL });
  assert.is((await asking.send("a", { amount: "99999" })).status, 422);
});

test("a wrong amount after a duplicate name is denied, however it is read", async () => {
  const source = await sourceUnder({ cost: RULE });
  const body = '{"amount":1,"amount":"99999"}';
  const signature = createHmac("sha256", HOOK_SECRET).update(body).digest("hex");
  const headers = { "content-type": "application/json", "x-signature": signature, "x-delivery-id": "twice" };
  assert.is((await reply(await fetch(source.url, { method: "POST", headers, body }))).status, 422);
});

test.run();
