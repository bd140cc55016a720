import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { type Agent, defineAction, registerAgent } from "../../../support/agent.ts";
import { type Client, signUp } from "../../../support/client.ts";
import { until } from "../../../support/program.ts";
import { type Receiver, receiver } from "../../../support/receiver.ts";
import { type ServiceInProcess, serviceInProcess } from "../../../support/service-in-process.ts";

const test = suite("titles of approvals");
const log = memoryEventLog();
let node: ServiceInProcess;
let target: Receiver;

test.before(async () => {
  [node, target] = await Promise.all([serviceInProcess({}, { log }), receiver()]);
});
test.after(async () => {
  await Promise.all([node.stop(), target.close()]);
});

/** The request is held again by the vote itself, or by the reactor that follows changes, whichever is first. */
const VOID = ["digest-mismatch", "already-decided"];
const TITLE = "Refund {/amount|eur} to {/customer}";
const PAYLOAD = { amount: 1240, customer: "Hana Weiss", card: "4242" };

const world = async (): Promise<{ client: Client; agent: Agent; endpoint: string }> => {
  const client = await signUp(node.base);
  const endpoint = (await client.make("/v1/endpoints", { name: "bank", url: target.url })).id;
  await defineAction(client, "refund.create", endpoint, { title: TITLE, labels: { "/customer": "Customer" } });
  const policy = { name: "all", approval: { expires_after_s: 3_600 } };
  const { id: policy_id } = await client.make("/v1/policies", policy);
  return { client, endpoint, agent: await registerAgent(node.base, client, { policy_id }) };
};

const read = async (client: Client, id: string) => (await client.session("GET", `/v1/approvals/${id}`)).body;
const held = async (agent: Agent, key: string): Promise<string> =>
  (await agent.execute(key, { action: "refund.create", payload: PAYLOAD, wait_ms: 0 })).body.approval_id;

test("an approval shows the sentence of its action's version, which its digest covers and its record keeps", async () => {
  const { client, agent, endpoint } = await world();
  const first = await read(client, await held(agent, "k-1"));
  assert.is(first.title, "Refund €1,240.00 to Hana Weiss");
  const record = (await log.readAll(null, 10_000)).findLast(({ type }) => type === "EventHeld");
  assert.match(JSON.stringify(record?.data.bound), TITLE, "the same sentence can be rendered from the log");
  assert.not.match(JSON.stringify(record), "Hana", "no field of the payload stands in the record");

  await defineAction(client, "refund.create", endpoint, { title: "Give back {/amount}" });
  const { digest, shown_digest } = first;
  const voted = await client.session("POST", `/v1/approvals/${first.id}/approve`, { digest, shown_digest });
  assert.equal([voted.status, VOID.includes(voted.body.code)], [409, true]);
  const renewed = await read(client, voted.body.approval_id);
  assert.is(renewed.title, "Give back 1240");
  assert.is.not(renewed.digest, digest);
  assert.is.not(renewed.shown_digest, shown_digest);
  assert.ok(renewed.reasons.some((reason: string) => reason.includes("redefined")));
});

test("a list that is asked for titles has them, and hides in them what the policy hides, also from an admin", async () => {
  const { client, agent, endpoint } = await world();
  const redacting = { name: "hiding", approval: { expires_after_s: 3_600 }, redact: ["customer"] };
  const { id: policy_id } = await client.make("/v1/policies", redacting);
  const discreet = await registerAgent(node.base, client, { policy_id });
  await defineAction(client, "mail.send", endpoint);
  await held(agent, "k-1");
  await held(discreet, "k-2");
  await agent.execute("k-3", { action: "mail.send", payload: {}, wait_ms: 0 });
  const titles = (query: string): Promise<unknown[]> =>
    until("the three are listed", async () => {
      const { data } = (await client.session("GET", `/v1/approvals?for=all${query}`)).body;
      return data.length === 3 ? data.map(({ title }: { title?: string }) => title) : null;
    });
  const [mail, hidden, plain] = await titles("&titles=true");
  assert.equal([mail, plain], [undefined, "Refund €1,240.00 to Hana Weiss"]);
  assert.match(String(hidden), /^Refund €1,240\.00 to (?!Hana)/);
  assert.equal(await titles(""), [undefined, undefined, undefined]);
});

test("what needs a person names the approval by its sentence", async () => {
  const { client, agent } = await world();
  await held(agent, "k-1");
  const need = await until("it waits", async () => {
    const { data } = (await client.session("GET", "/v1/attention")).body;
    return data.find(({ kind }: { kind: string }) => kind === "approvals") ?? null;
  });
  assert.is(need.subject.name, "Refund €1,240.00 to Hana Weiss");
  assert.is(need.detail, "1 approval waits for you. The first to expire: Refund €1,240.00 to Hana Weiss.");
});

test("the context of an approval names the run of the request, and the reason that a change was asked for with", async () => {
  const { client, agent } = await world();
  const asked = { action: "refund.create", payload: PAYLOAD, run_id: "ticket-88213", wait_ms: 0 };
  const { approval_id } = (await agent.execute("k-1", asked)).body;
  const { run, proposal } = (await client.session("GET", `/v1/approvals/${approval_id}/context`)).body;
  assert.equal([run, proposal], ["ticket-88213", null]);
});

test("each step of a bundle has its sentence, and an action without a template has none", async () => {
  const { client, agent, endpoint } = await world();
  await defineAction(client, "mail.send", endpoint);
  const { body } = await agent.bundle(
    "b-1",
    [
      { action: "refund.create", payload: PAYLOAD },
      { action: "mail.send", payload: {} },
    ],
    { wait_ms: 0 },
  );
  const shown = await read(client, body.approval_id);
  const titles = (shown.payload as readonly { title: string | null }[]).map(({ title }) => title);
  assert.equal([shown.title, titles], [null, ["Refund €1,240.00 to Hana Weiss", null]]);
});

test("a bundle has a sentence in the list, in its context and among what needs a person", async () => {
  const { client, agent, endpoint } = await world();
  await defineAction(client, "mail.send", endpoint, { reversibility: "irreversible" });
  const steps = [
    { action: "refund.create", payload: PAYLOAD },
    { action: "mail.send", payload: {} },
  ];
  const { body } = await agent.bundle("b-1", steps, { name: "order 17", wait_ms: 0 });
  const named = await read(client, body.approval_id);
  const sentence = `Agent ${named.requested_by.name} asks for "order 17", 2 steps as one; step 2 (mail.send) cannot be undone`;
  const listed = () =>
    until("it is listed", async () => {
      const { data } = (await client.session("GET", "/v1/approvals?for=all&titles=true")).body;
      return data.length === 1 ? data[0].title : null;
    });
  assert.is(await listed(), sentence);
  const context = await client.session("GET", `/v1/approvals/${body.approval_id}/context`);
  assert.is(context.body.title, sentence);
  const [need] = (await client.session("GET", "/v1/attention")).body.data;
  assert.is(need.subject.name, sentence);
});

test.run();
