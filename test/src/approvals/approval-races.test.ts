import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { type Agent, defineAction, registerAgent } from "../../support/agent.ts";
import { type Client, type Reply, signUp } from "../../support/client.ts";
import { type Receiver, receiver } from "../../support/receiver.ts";
import { type ServiceInProcess, serviceInProcess } from "../../support/service-in-process.ts";
import { until } from "../../support/until.ts";

/** Two nodes on one log: what the one is told races with what the other one does. */
const test = suite("approvals and targets on two nodes");

/** Of races; each takes some milliseconds. */
const ROUNDS = 6;
const ENDED = /^(?:committed|rolled_back|rollback_incomplete|cancelled)$/;

let nodes: readonly [ServiceInProcess, ServiceInProcess];
let good: Receiver;
let evil: Receiver;

test.before(async () => {
  const log = memoryEventLog();
  [nodes, good, evil] = await Promise.all([
    Promise.all([serviceInProcess({}, { log }), serviceInProcess({}, { log })]),
    receiver(),
    receiver(),
  ]);
});
test.after(async () => {
  await Promise.all([...nodes.map((node) => node.stop()), good.close(), evil.close()]);
});
test.before.each(() => {
  for (const it of [good, evil]) {
    it.arrivals.length = 0;
    it.answer(({ body }, response) => {
      response.statusCode = body.includes("refuse") ? 400 : 200;
      response.end("{}");
    });
  }
});

const world = async () => {
  const here = await signUp(nodes[0].base);
  const there = here.at(nodes[1].base);
  const ends: string[] = [];
  for (const name of ["first", "second", "undo"])
    ends.push((await here.make("/v1/endpoints", { name, url: good.url, retry_schedule_s: [] })).id);
  const [first = "", second = "", undo = ""] = ends;
  await defineAction(here, "stock.release", undo);
  await defineAction(here, "stock.reserve", first, { reversibility: "compensable", compensation: "stock.release" });
  await defineAction(here, "card.charge", second, { reversibility: "irreversible" });
  const { id: policy_id } = await here.make("/v1/policies", { name: "all", approval: { expires_after_s: 3_600 } });
  const agent = await registerAgent(nodes[0].base, here, { policy_id });
  return { here, there, agent, ends };
};

const urlsIn = (approval: Reply["body"]): string => JSON.stringify([approval.endpoint, approval.payload]);

/** Agrees with what is asked at this moment, and says whether its people were shown the other target. */
const agree = async (client: Client, id: string): Promise<{ readonly status: number; readonly sawEvil: boolean }> => {
  const { body } = await client.session("GET", `/v1/approvals/${id}`);
  if (body.status !== "pending") return { status: 409, sawEvil: false };
  const { digest, shown_digest } = body;
  const voted = await client.session("POST", `/v1/approvals/${id}/approve`, { digest, shown_digest });
  return { status: voted.status, sawEvil: urlsIn(body).includes(evil.url) };
};

test("a bundle whose vote races with a change of any of its endpoints reaches only targets that were shown", async () => {
  const { here, there, agent, ends } = await world();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const id of ends) await here.call("PATCH", `/v1/endpoints/${id}`, { url: good.url });
    const steps = [
      { action: "stock.reserve", payload: { round } },
      { action: "card.charge", payload: { round, order: "refuse" } },
    ];
    const { body: asked } = await agent.bundle(`b-${round}`, steps, { wait_ms: 0 });
    evil.arrivals.length = 0;
    const changed = there.call("PATCH", `/v1/endpoints/${ends[round % ends.length]}`, { url: evil.url });
    const first = await agree(round % 2 === 0 ? here : there, asked.approval_id);
    assert.is((await changed).status, 200);
    let { sawEvil } = first;
    let approvalId: string = asked.approval_id;
    await until(`round ${round} has ended`, async () => {
      const { body } = await agent.bundleNow(asked.id);
      if (ENDED.test(body.status)) return true;
      if (body.status === "held" && body.approval_id !== approvalId) {
        const again = await agree(there, body.approval_id);
        if (again.status === 200) {
          approvalId = body.approval_id;
          sawEvil = again.sawEvil;
        }
      } else if (body.status === "held" && first.status !== 200) {
        const again = await agree(here, body.approval_id);
        if (again.status === 200) sawEvil = again.sawEvil;
      }
      return false;
    });
    if (!sawEvil) assert.equal([round, evil.arrivals.length], [round, 0]);
  }
});

/** A request that was approved and has failed at its target. */
const failed = async (here: Client, agent: Agent, key: string): Promise<{ id: string; approvalId: string }> => {
  const { body } = await agent.execute(key, { action: "stock.reserve", payload: { order: "refuse", key } });
  assert.is((await agree(here, body.approval_id)).status, 200);
  await until("it has failed", async () => (await agent.execution(body.event_id)).body.status === "failed");
  return { id: body.event_id, approvalId: body.approval_id };
};

test("replays on two nodes after a change of the target request one approval and send nothing before it", async () => {
  const { here, there, agent, ends } = await world();
  const { id, approvalId } = await failed(here, agent, "r-1");
  assert.is((await there.call("PATCH", `/v1/endpoints/${ends[0]}`, { url: evil.url })).status, 200);
  const many = { filter: { status: "failed", endpoint_id: ends[0] } };
  const replays = await Promise.all([
    here.call("POST", `/v1/events/${id}/replay`, {}),
    there.call("POST", `/v1/events/${id}/replay`, {}),
    there.call("POST", "/v1/replays", many),
  ]);
  assert.ok(replays.some(({ status }) => status === 202));
  let asked = approvalId;
  await until("it is held again", async () => {
    const { body } = await agent.execution(id);
    // A node may know the endpoint as it was a moment before: then it is sent to the approved target once more.
    if (body.status === "failed") await there.call("POST", `/v1/events/${id}/replay`, {});
    asked = body.approval_id;
    return body.status === "held" && asked !== approvalId;
  });
  const { body: next } = await there.session("GET", `/v1/approvals/${asked}`);
  assert.equal([next.status, next.endpoint.url, next.replaces], ["pending", evil.url, approvalId]);
  const repeated = await agent.execute("r-1", { action: "stock.reserve", payload: { order: "refuse", key: "r-1" } });
  assert.equal([repeated.body.status, repeated.body.approval_id], ["held", asked]);
  const rejected = { digest: next.digest, comment: "not there" };
  const answer = await there.session("POST", `/v1/approvals/${asked}/reject`, rejected);
  assert.equal([answer.status, answer.body.outcome.status], [200, "rejected"]);
  assert.is((await agent.at(nodes[1].base).execution(id)).body.status, "rejected");
  for (const { status, body } of replays) {
    const replayId = body.replay_id ?? body.id;
    if (status !== 202 || replayId === undefined) continue;
    await until(`${replayId} has ended`, async () => {
      const { body: run, status: found } = await here.call("GET", `/v1/replays/${replayId}`);
      return found === 404 || run.status === "done";
    });
  }
  assert.is(evil.arrivals.length, 0);
});

test("a vote with the digest of a form that has changed meanwhile on another node decides nothing", async () => {
  const { here, there, agent, ends } = await world();
  const { body } = await agent.execute("f-1", { action: "stock.reserve", payload: {}, wait_ms: 0 });
  const path = `/v1/approvals/${body.approval_id}`;
  const { digest, shown_digest } = (await here.session("GET", path)).body;
  assert.is((await there.call("PATCH", `/v1/endpoints/${ends[0]}`, { name: "another name" })).status, 200);
  const vote = { digest, shown_digest, comment: "no" };
  for (const [client, way] of [
    [here, "approve"],
    [there, "reject"],
  ] as const) {
    const { status, body: problem } = await client.session("POST", `${path}/${way}`, vote);
    assert.equal([way, status, problem.code], [way, 409, "digest-mismatch"]);
  }
  const { body: now } = await there.session("GET", path);
  assert.equal([now.votes, now.endpoint.name], [[], "another name"]);
  assert.is((await agree(here, body.approval_id)).status, 200);
});

test.run();
