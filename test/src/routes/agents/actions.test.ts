import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../../infra/memory/view-store.ts";
import { actions } from "../../../../projections/actions.ts";
import { actionCompiler } from "../../../../src/gates/compiled-action.ts";
import { actionRoutes } from "../../../../src/routes/agents/actions.ts";
import { aggregates } from "../../../../src/streams/aggregates.ts";
import { foldInto } from "../../../support/fold-into.ts";
import { bearer, testApp, testClock } from "../../../support/http-app.ts";
import { noControls } from "../../../support/no-controls.ts";
import { planSlots } from "../../../support/plan-slots.ts";

const test = suite("actions");

const world = async () => {
  const log = memoryEventLog();
  const clock = testClock();
  const views = memoryViewStore([actions.schema]);
  const endpointExists = async (account: string, id: string) => id === (account === "acc_a" ? "end_a" : "end_b");
  const policyExists = async () => true;
  const streams = aggregates(log, clock);
  const compile = actionCompiler();
  const deps = {
    aggregates: streams,
    views,
    compile,
    definitionRate: () => null,
    endpointExists,
    policyExists,
    controls: noControls,
    slots: planSlots(log, clock, streams),
  };
  const app = await testApp(actionRoutes(deps), { log, clock });
  const call = async (method: "GET" | "PUT" | "DELETE", path: string, body?: object, token = "csk_admin") => {
    const answer = await app.inject({
      method,
      url: `/v1/actions${path}`,
      headers: bearer(token),
      ...(body === undefined ? {} : { payload: body }),
    });
    return { status: answer.statusCode, body: answer.body === "" ? null : answer.json() };
  };
  const put = (name: string, more: object = {}, token?: string) =>
    call("PUT", `/${name}`, { endpoint_id: "end_a", reversibility: "reversible", ...more }, token);
  return { app, call, put, project: () => foldInto(log, views, [actions]) };
};

const REFUND = {
  schema: { type: "object", required: ["amount"] },
  cost: { pointer: "amount", scale: 0.01 },
  reversibility: "compensable",
  compensation: "refund.cancel",
  title: "Refund {/amount|eur}",
  labels: { "/amount": "Amount" },
};

test("an action is what was put, and a change is a new version", async () => {
  const { app, call, put } = await world();
  const made = await put("refund.create", REFUND);
  assert.is(made.status, 201);
  const { created_at: _, changed_at: __, changed_by, ...said } = made.body;
  assert.equal(said, { name: "refund.create", version: 1, endpoint_id: "end_a", ...REFUND });
  assert.is(changed_by, "key_admin");
  assert.equal((await call("GET", "/refund.create")).body, made.body);
  const same = await put("refund.create", REFUND);
  assert.equal([same.status, same.body.version], [200, 1]);
  const changed = await put("refund.create", { cost: { fixed_eur: 0.5 } });
  assert.equal([changed.status, changed.body.version, changed.body.compensation], [200, 2, undefined]);
  // What has to be taken back by nobody may be taken back all the same.
  const released = await put("seat.reserve", { compensation: "seat.release" });
  assert.equal([released.status, released.body.compensation], [201, "seat.release"]);
  await app.close();
});

test("a deleted action is gone, and its versions continue when it is defined again", async () => {
  const { app, call, put } = await world();
  await put("mail.send");
  assert.is((await call("DELETE", "/mail.send")).status, 204);
  assert.is((await call("GET", "/mail.send")).status, 404);
  assert.is((await call("DELETE", "/mail.send")).status, 404);
  const again = await put("mail.send");
  assert.equal([again.status, again.body.version], [201, 2]);
  await app.close();
});

const WRONG: readonly (readonly [object, number, string])[] = [
  [{ endpoint_id: "end_b" }, 404, "/endpoint_id"],
  [{ schema: { type: "nothing" } }, 422, "/schema"],
  [{ schema: { properties: { a: { pattern: "(?=x)" } } } }, 422, "/schema"],
  [{ cost: { fixed_eur: -1 } }, 422, "/cost/fixed_eur"],
  [{ cost: { fixed_eur: 1, pointer: "a" } }, 422, "/cost"],
  [{ reversibility: "irreversible", compensation: "refund.cancel" }, 422, "/compensation"],
  [{ reversibility: "compensable", compensation: "Refund" }, 422, "/compensation"],
  [{ reversibility: "compensable", compensation: "refund.create" }, 422, "/compensation"],
  [{ title: "Refund {amount}" }, 422, "/title"],
  [{ title: "x".repeat(201) }, 400, "/title"],
  [{ labels: { amount: "Amount" } }, 422, "/labels/amount"],
  [{ labels: { "/amount": "a\nb" } }, 422, "/labels/~1amount"],
  [{ reversibility: "never" }, 400, "/reversibility"],
];

for (const [more, status, path] of WRONG) {
  test(`${JSON.stringify(more)} is refused at ${path}`, async () => {
    const { app, put } = await world();
    const answer = await put("refund.create", more);
    assert.is(answer.status, status, JSON.stringify(answer.body));
    assert.ok(answer.body.errors[0].path.startsWith(path), JSON.stringify(answer.body));
    await app.close();
  });
}

test("a name that no scope could name is refused", async () => {
  const { app, call, put } = await world();
  for (const name of ["Refund", "refund..create", "refund*", ".a", "a".repeat(101)]) {
    assert.is((await put(name)).status, 400, name);
    assert.is((await call("GET", `/${name}`)).status, 404, name);
  }
  await app.close();
});

test("each account has its own actions, listed by name", async () => {
  const { app, call, put, project } = await world();
  await put("mail.send");
  await put("b.second");
  await put("b.second", { reversibility: "irreversible" });
  await project();
  const { data } = (await call("GET", "")).body;
  assert.equal(
    data.map((it: Record<string, unknown>) => [it.name, it.version]),
    [
      ["b.second", 2],
      ["mail.send", 1],
    ],
  );
  assert.is((await call("GET", "/mail.send", undefined, "csk_other")).status, 404);
  await app.close();
});

test.run();
