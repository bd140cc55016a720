import { suite } from "uvu";
import * as assert from "uvu/assert";
import { defineAction, registerAgent } from "../support/agent.ts";
import { signUp } from "../support/client.ts";
import { removeFolder, startProgram, until } from "../support/program.ts";
import { receiver } from "../support/receiver.ts";

const test = suite("suspensions");

/** Each waits for views that nobody folds, for seconds: together much longer than `until` does. */
const SUSPENSIONS = 20;

test("while suspensions wait for views, other accounts' approved requests are carried out", async () => {
  const target = await receiver();
  const all = await startProgram();
  const [loud, quiet] = [await signUp(all.url), await signUp(all.url)];
  const app = await quiet.make("/v1/endpoints", { name: "app", url: target.url });
  await defineAction(quiet, "refund.create", app.id);
  const policy = await quiet.make("/v1/policies", { name: "asked", approval: { expires_after_s: 3_600 } });
  const agent = await registerAgent(all.url, quiet, { policy_id: policy.id });
  const stopped = await Promise.all(Array.from({ length: SUSPENSIONS }, () => registerAgent(all.url, loud)));
  assert.is(await all.stop(), 0);

  const program = await startProgram({ ROLES: "api,deliverer" }, all.dir);
  for (const { id } of stopped) {
    const { status } = await loud.at(program.url).call("POST", `/v1/agents/${id}/suspend`, { reason: "a test" });
    assert.is(status, 200);
  }
  const asked = await agent.at(program.url).execute("k", { action: "refund.create", payload: { order: 1 } });
  assert.is(asked.body.status, "held");
  const people = quiet.at(program.url);
  const path = `/v1/approvals/${asked.body.approval_id}`;
  const { digest } = await until("it is asked for", async () => {
    const { status, body } = await people.session("GET", path);
    return status === 200 ? body : null;
  });
  assert.is((await people.session("POST", `${path}/approve`, { digest })).status, 200);
  await until("it is carried out", () => target.counts().get(String(asked.body.event_id)) === 1);
  await program.kill();
  await target.close();
  removeFolder(all.dir);
});

test.run();
