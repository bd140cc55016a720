import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Client, hookSource, signUp } from "../support/client.ts";
import { type EngineSet, type Engines, engineSets } from "../support/engine-sets.ts";
import { type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";

/** What a person is asked before it happens, over the whole program. */
const approvals = ({ name, open }: EngineSet): void => {
  const test = suite(`approvals: ${name}`);
  let engines: Engines;
  let program: Program;
  let target: Receiver;

  test.before(async () => {
    engines = await open();
    [program, target] = await Promise.all([startProgram(engines.env), receiver()]);
  });
  test.after(async () => {
    await program.stop();
    await target.close();
    removeFolder(program.dir);
    await engines.close();
  });

  const held = async (client: Client, id: string, payload: unknown = { amount: 900 }) => {
    const app = await client.make("/v1/endpoints", { name: "app", url: target.url });
    const policy = await client.make("/v1/policies", {
      name: "large ones",
      approval: { when: "payload.amount > 500", expires_after_s: 3_600 },
    });
    const source = await hookSource(client, { endpoint_id: app.id, policy_id: policy.id });
    const answer = await source.send(id, payload);
    return {
      source,
      policy,
      answer,
      eventId: String(answer.body.event_id),
      approvalId: String(answer.body.approval_id),
    };
  };

  const approvalOf = (client: Client, id: string) =>
    until(`approval ${id} is shown`, async () => {
      const shown = await client.session("GET", `/v1/approvals/${id}`);
      return shown.status === 200 ? shown.body : null;
    });

  const statusOf = (client: Client, eventId: string, status: string) =>
    until(`${eventId} is ${status}`, async () => {
      const shown = await client.call("GET", `/v1/events/${eventId}`);
      return shown.body.status === status ? shown.body : null;
    });

  test("held, approved by what was shown, and delivered once", async () => {
    const client = await signUp(program.url);
    const { source, answer, eventId, approvalId } = await held(client, "large");
    assert.equal([answer.status, answer.body.status], [202, "held"]);
    const small = await source.send("small", { amount: 1 });
    assert.is(small.body.status, "queued");
    const again = await source.send("large", { amount: 900 });
    assert.equal([again.status, again.body.status, again.body.duplicate], [200, "held", true]);

    const shown = await approvalOf(client, approvalId);
    assert.equal([shown.status, shown.event_id, shown.payload], ["pending", eventId, { amount: 900 }]);
    const path = `/v1/approvals/${approvalId}/approve`;
    assert.is((await client.call("POST", path, { digest: shown.digest })).status, 403);
    const wrong = await client.session("POST", path, { digest: "0".repeat(64) });
    assert.equal([wrong.status, wrong.body.code], [409, "digest-mismatch"]);
    assert.not(target.counts().has(eventId), "nothing is sent before");

    // As two tabs would.
    const votes = await Promise.all([1, 2].map(() => client.session("POST", path, { digest: shown.digest })));
    assert.equal([...new Set(votes.map(({ status }) => status))], [200]);
    const event = await statusOf(client, eventId, "delivered");
    assert.is(event.approval_id, approvalId);
    assert.is(target.counts().get(eventId), 1);
    const after = await until("it is consumed", async () => {
      const { body } = await client.session("GET", `/v1/approvals/${approvalId}`);
      return body.status === "consumed" ? body : null;
    });
    assert.is(after.votes.length, 1);
  });

  test("rejected with a reason, it is never sent, and the sender who repeats it is told so", async () => {
    const client = await signUp(program.url);
    const { source, policy, eventId, approvalId } = await held(client, "refused");
    // What holds it now is what it was held by.
    await client.session("PUT", `/v1/policies/${policy.id}`, { name: "no approval is needed" });
    const { digest } = await approvalOf(client, approvalId);
    const rejected = await client.session("POST", `/v1/approvals/${approvalId}/reject`, {
      digest,
      comment: "too much",
    });
    assert.equal([rejected.status, rejected.body.status], [200, "rejected"]);
    await statusOf(client, eventId, "rejected");
    const late = await client.session("POST", `/v1/approvals/${approvalId}/approve`, { digest });
    assert.equal([late.status, late.body.code], [409, "already-decided"]);
    const again = await source.send("refused", { amount: 900 });
    assert.equal([again.status, again.body.status], [200, "rejected"]);
    assert.not(target.counts().has(eventId));
    const listed = await client.session("GET", "/v1/approvals?status=rejected");
    assert.equal(
      listed.body.data.map((it: { id: string }) => it.id),
      [approvalId],
    );
  });

  test("nothing of another account's approval is shown or decided", async () => {
    const [client, other] = [await signUp(program.url), await signUp(program.url)];
    const { eventId, approvalId } = await held(client, "mine");
    const { digest } = await approvalOf(client, approvalId);
    assert.is((await other.session("GET", `/v1/approvals/${approvalId}`)).status, 404);
    assert.is((await other.session("POST", `/v1/approvals/${approvalId}/approve`, { digest })).status, 404);
    assert.equal((await other.session("GET", "/v1/approvals")).body.data, []);
    assert.not(target.counts().has(eventId));
  });

  test.run();
};

for (const engineSet of engineSets()) approvals(engineSet);
