import { suite } from "uvu";
import * as assert from "uvu/assert";
import { awayFromMonthEnd } from "../support/calendar-room.ts";
import { hookSource, persistently, signUp } from "../support/client.ts";
import { type Engines, engineSets } from "../support/engine-sets.ts";
import { killPrograms, removeFolder, startProgram, until } from "../support/program.ts";

for (const { name, open } of engineSets()) {
  const test = suite(`the free plan: ${name}`);
  let engines: Engines;
  test.before.each(async () => {
    await awayFromMonthEnd();
    engines = await open();
  });
  test.after.each(async () => {
    killPrograms();
    await engines.close();
  });

  test("P6: 1,100 webhooks are exactly 1,000 events, the bill says 1,000, and a second source is over the plan", async () => {
    const program = await startProgram({ ...engines.env, SIGNUP_PLAN: "free" });
    const client = await signUp(program.url);
    const source = await hookSource(client);
    const second = await client.call("POST", "/v1/sources", { name: "two", type: "github" });
    assert.equal([second.status, second.body.code], [403, "plan-limit"]);
    const ids = Array.from({ length: 1_100 }, (_, n) => `event-${n}`);
    const replies = await Promise.all(ids.map((id) => persistently(() => source.send(id))));
    assert.is(replies.filter(({ status }) => status === 202).length, 1_000);
    const refused = replies.filter((it) => it.status === 429);
    assert.is(refused.length, 100);
    assert.is(refused[0]?.body.code, "gate-quota");
    const usage = await until("the views have them", async () => {
      const { body } = await client.call("GET", "/v1/billing/summary");
      // What was refused behind a 503 was refused once more.
      return body.usage.events === 1_000 && body.usage.blocked >= 100 ? body.usage : null;
    });
    assert.is(usage.included, 1_000);
    // What a policy only watches is not why it was refused, and the sender must come again next month.
    const watching = { name: "watching", block_on_violation: false, require_fields: ["none"], budget_eur_day: 1 };
    const policy = await client.make("/v1/policies", { ...watching, cost: { pointer: "none" } });
    await client.call("PATCH", `/v1/sources/${source.id}`, { policy_id: policy.id });
    const watched = await source.send("event-watched");
    assert.equal([watched.status, watched.body.code], [429, "gate-quota"]);
    assert.ok(Number(watched.headers.get("retry-after")) > 0);
    assert.is((await client.call("DELETE", `/v1/sources/${source.id}`)).status, 204);
    assert.is((await client.call("POST", "/v1/sources", { name: "two", type: "github" })).status, 201);
    await program.stop();
    removeFolder(program.dir);
  });

  test.run();
}
