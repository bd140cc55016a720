import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { type Agent, defineAction, registerAgent } from "../../../support/agent.ts";
import { type Client, signUp } from "../../../support/client.ts";
import { addMember } from "../../../support/members.ts";
import { type Receiver, receiver } from "../../../support/receiver.ts";
import { type ServiceInProcess, serviceInProcess } from "../../../support/service-in-process.ts";
import { until } from "../../../support/until.ts";

const test = suite("the context of an approval");
const log = memoryEventLog();
let node: ServiceInProcess;
let target: Receiver;

test.before(async () => {
  [node, target] = await Promise.all([serviceInProcess({}, { log }), receiver()]);
});
test.after(async () => {
  await Promise.all([node.stop(), target.close()]);
});

let people = 0;
const member = async (client: Client, role: "approver" | "viewer"): Promise<Client> => {
  people += 1;
  const { cookie } = await addMember(client, `${role}-${people}@example.com`, role);
  return {
    ...client,
    session: (method, path, body, headers = {}) => client.session(method, path, body, { cookie, ...headers }),
  };
};

const policyOf = { name: "all", budget_eur_day: 5_000, redact: ["card"] };
/** The request is held again by the vote itself, or by the reactor that follows changes, whichever is first. */
const VOID = ["digest-mismatch", "already-decided"];
const TITLE = "Refund {/amount|eur} to {/customer/name}";

const world = async (rule: object = {}): Promise<{ client: Client; agent: Agent; endpoint: string }> => {
  const client = await signUp(node.base);
  const endpoint = (await client.make("/v1/endpoints", { name: "bank", url: target.url })).id;
  await defineAction(client, "refund.undo", endpoint);
  await defineAction(client, "refund.create", endpoint, {
    ...{ title: TITLE, labels: { "/customer/name": "Customer" }, cost: { pointer: "/amount" } },
    ...{ reversibility: "compensable", compensation: "refund.undo" },
  });
  const { id: policy_id } = await client.make("/v1/policies", {
    ...policyOf,
    approval: { expires_after_s: 3_600, reveal: ["approver"], ...rule },
  });
  return { client, endpoint, agent: await registerAgent(node.base, client, { policy_id }) };
};

const ask = async (agent: Agent, key: string, amount: number): Promise<string> => {
  const payload = { amount, customer: { name: "Hana Weiss", tags: [] }, card: "4242" };
  const { body } = await agent.execute(key, { action: "refund.create", payload, wait_ms: 0 });
  return body.approval_id;
};
const contextOf = async (client: Client, id: string) =>
  (await client.session("GET", `/v1/approvals/${id}/context`)).body;
const approve = (client: Client, id: string, { digest, shown_digest }: { digest: string; shown_digest: string }) =>
  client.session("POST", `/v1/approvals/${id}/approve`, { digest, shown_digest });
const idsFor = async (client: Client, which: string): Promise<readonly string[]> =>
  (await client.session("GET", `/v1/approvals?for=${which}`)).body.data.map(({ id }: { id: string }) => id);

test("it has the sentence, each field, the last approved one, the undo, the budget, the agent, and who may decide", async () => {
  const { client, agent } = await world();
  const approver = await member(client, "approver");
  const first = await ask(agent, "k-1", 100);
  await until("it is listed for the approver", async () => (await idsFor(approver, "me")).includes(first));
  const shown = await contextOf(approver, first);
  assert.is(shown.title, "Refund €100.00 to Hana Weiss");
  assert.equal(shown.fields, [
    { pointer: "/amount", label: "amount", value: 100, hidden: false },
    { pointer: "/customer/name", label: "Customer", value: "Hana Weiss", hidden: false },
    { pointer: "/customer/tags", label: "customer › tags", value: [], hidden: false },
    { pointer: "/card", label: "card", value: null, hidden: true },
  ]);
  assert.equal([shown.previous, shown.steps, shown.fields_left_out], [null, null, 0]);
  assert.equal(
    [shown.undo.reversibility, shown.undo.action, shown.undo.endpoint.name],
    ["compensable", "refund.undo", "bank"],
  );
  assert.equal(shown.budget, { settled: 0, reserved: 100, after: 100, ceiling: 5_000 });
  assert.equal(shown.eligible, { can: true, why: null, reveal: true });
  assert.is((await contextOf(client, first)).eligible.reveal, false, "nothing is hidden from an admin");

  const voted = await approve(approver, first, shown);
  assert.is(voted.status, 200);
  const record = (await log.readAll(null, 100_000)).findLast(({ type }) => type === "VoteCast");
  assert.equal(record?.data.shown, { form: "redacted", hidden: ["/card"] }, "the vote names the form that was shown");

  const second = await ask(agent, "k-2", 200);
  await until("the views show both", async () => {
    const { previous, agent: asks } = await contextOf(approver, second);
    return previous !== null && asks.today.requests === 2 && asks.last[0].status === "held";
  });
  const next = await contextOf(approver, second);
  assert.is(next.previous.approval_id, first);
  const { cost_eur, spent_eur, reserved_eur } = next.agent.today;
  assert.is(spent_eur + reserved_eur, cost_eur);
  assert.ok(reserved_eur >= 200, "what this request would cost is reserved, and not spent");
  assert.equal(next.previous.fields[0], { pointer: "/amount", label: "amount", value: 100, hidden: false });
  await until("the vote is listed", async () => (await idsFor(approver, "decided")).length === 1);
  assert.equal([await idsFor(approver, "me"), await idsFor(approver, "all")], [[second], [second]]);
  assert.equal([await idsFor(approver, "decided"), await idsFor(client, "decided")], [[first], []]);
});

test("the one before is the one that was approved last, whenever it was asked for; a decided one keeps its own", async () => {
  const { client, agent } = await world();
  const approver = await member(client, "approver");
  const [first, second, third] = [
    await ask(agent, "k-1", 100),
    await ask(agent, "k-2", 200),
    await ask(agent, "k-3", 300),
  ];
  const before = async (id: string): Promise<string | null> =>
    (await contextOf(approver, id)).previous?.approval_id ?? null;
  await until("each is listed", async () => (await idsFor(approver, "me")).length === 3);
  for (const [decided, asks] of [
    [second, first],
    [first, third],
  ] as const) {
    assert.is((await approve(approver, decided, await contextOf(approver, decided))).status, 200);
    await until("it is what was approved last", async () => (await before(asks)) === decided);
  }
  assert.equal([await before(first), await before(second)], [second, null]);
});

test("an approval that was decided or changed meanwhile says by whom, or what has changed", async () => {
  const { client, agent, endpoint } = await world();
  const one = await ask(agent, "k-1", 100);
  const shown = await contextOf(client, one);
  assert.is(
    (await client.session("POST", `/v1/approvals/${one}/reject`, { digest: shown.digest, comment: "no" })).status,
    200,
  );
  const late = await approve(client, one, shown);
  assert.equal([late.status, late.body.code, late.body.outcome], [409, "already-decided", "rejected"]);
  assert.is(late.body.decided_by.length, 1);
  assert.is((await contextOf(client, one)).eligible.can, false);

  const two = await ask(agent, "k-2", 100);
  const before = await contextOf(client, two);
  await client.session("PATCH", `/v1/endpoints/${endpoint}`, { url: `${target.url}/elsewhere` });
  const changed = await approve(client, two, before);
  assert.equal([changed.status, VOID.includes(changed.body.code)], [409, true]);
  assert.match(changed.body.changes.join(" "), "the URL of the endpoint was changed");

  const other = await approve(client, changed.body.approval_id, {
    digest: (await contextOf(client, changed.body.approval_id)).digest,
    shown_digest: before.shown_digest,
  });
  assert.equal([other.status, other.body.hidden], [409, []]);
});

test("a requester who may not approve, a viewer and a key are told why; another account sees no approval", async () => {
  const { client, agent } = await world({ exclude_requester: true });
  const [approver, viewer] = [await member(client, "approver"), await member(client, "viewer")];
  const id = await ask(agent, "k-1", 100);
  const why = async (who: Client) => (await contextOf(who, id)).eligible.why;
  assert.is(await why(client), "You asked for this, so another person has to decide.");
  assert.is(await why(viewer), "It takes the role approver.");
  assert.is(
    (await client.call("GET", `/v1/approvals/${id}/context`)).body.eligible.why,
    "Only a person with a session decides.",
  );
  assert.is(await why(approver), null);
  await until("it is listed", async () => (await idsFor(client, "all")).includes(id));
  const listed = await Promise.all([client, viewer, approver].map((who) => idsFor(who, "me")));
  assert.equal(listed, [[], [], [id]]);
  const stranger = await signUp(node.base);
  for (const path of [id, `apr_${"z".repeat(32)}`])
    assert.is((await stranger.session("GET", `/v1/approvals/${path}/context`)).status, 404);
});

test("a bundle's context has each step with its sentence, and the step that nothing undoes", async () => {
  const { client, agent, endpoint } = await world();
  await defineAction(client, "mail.send", endpoint, { reversibility: "irreversible", cost: { fixed_eur: 0.01 } });
  const steps = [
    { action: "refund.create", payload: { amount: 10, customer: { name: "Hana" } } },
    { action: "mail.send", payload: { to: "hana" } },
  ];
  const { body } = await agent.bundle("b-1", steps, { wait_ms: 0 });
  assert.is(body.status, "held", JSON.stringify(body));
  const shown = await contextOf(client, body.approval_id);
  assert.equal(
    shown.steps.map(({ title }: { title: string | null }) => title),
    ["Refund €10.00 to Hana", null],
  );
  assert.is(shown.undo.reversibility, "irreversible");
  assert.equal(
    shown.fields.map(({ pointer, label }: { pointer: string; label: string }) => [pointer, label]),
    [
      ["/0/amount", "amount"],
      ["/0/customer/name", "Customer"],
      ["/1/to", "to"],
    ],
  );
});

test.run();
