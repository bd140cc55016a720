import { suite } from "uvu";
import * as assert from "uvu/assert";
import { dataOf } from "../../../../domain/events.ts";
import { randomness } from "../../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../../infra/memory/view-store.ts";
import { policies, policyVersions } from "../../../../projections/policies.ts";
import type { Projection } from "../../../../projections/projection.ts";
import { personalData, personalStream } from "../../../../src/erasure/personal-data.ts";
import { policyCompiler } from "../../../../src/gates/compiled-policy.ts";
import { policyRoutes } from "../../../../src/routes/policies/policies.ts";
import { aggregates } from "../../../../src/streams/aggregates.ts";
import { bearer, testApp, testClock } from "../../../support/http-app.ts";
import { noControls } from "../../../support/no-controls.ts";
import { planSlots } from "../../../support/plan-slots.ts";

const test = suite("policy routes");

const VIEWS: readonly Projection[] = [policies, policyVersions];

/** The app with these routes; `project` brings the views up to the log. */
const started = async () => {
  /** The ledgers whose figures were read, each with the account for which. */
  const asked: [stream: string, account: string][] = [];
  const log = memoryEventLog();
  const clock = testClock();
  const views = memoryViewStore(VIEWS.map(({ schema }) => schema));
  const streams = aggregates(log, clock);
  const deps = {
    aggregates: streams,
    views,
    compile: policyCompiler(),
    definitionRate: () => null,
    controls: noControls,
    slots: planSlots(log, clock, streams),
    personal: personalData(log, randomness),
    ledgers: {
      figures: async (stream: string, account: string) => {
        asked.push([stream, account]);
        return { reserved: 100_000, settled: 250_000, overrun: 0, open: 1, spent: 2 };
      },
    },
    timeZoneOf: async () => "UTC",
    clock,
  };
  const app = await testApp(policyRoutes(deps), { log, clock });

  const project = async (): Promise<void> => {
    const events = await log.readAll(null, 1_000);
    const last = events.at(-1);
    if (last === undefined) return;
    for (const projection of VIEWS) {
      const { name } = projection.schema;
      const documents = new Map();
      for (const event of events) {
        projection.apply(event, {
          get: (id) => documents.get(id) ?? null,
          put: (id, document) => documents.set(id, document),
        });
      }
      await views.commit(name, await views.position(name), last.position, { documents });
    }
  };
  const call = async (method: "GET" | "POST" | "PUT", url: string, payload?: object, key = "csk_admin") => {
    const answer = await app.inject({
      method,
      url,
      headers: bearer(key),
      ...(payload === undefined ? {} : { payload }),
    });
    return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
  };
  return { call, project, clock, log, asked, close: () => app.close() };
};

const DEFINITION = {
  name: "payments",
  budget_eur_day: 250,
  rate_per_minute: 60,
  require_fields: ["data.object.id"],
  block_on_violation: true,
  cost: { pointer: "data.object.amount", scale: 0.01, default_eur: 0.02 },
  schema: { type: "object" },
  deny: [{ name: "no refunds over 500", when: "payload.data.object.amount > 50000" }],
  redact: ["data.object.card"],
  approval: { when: "cost_eur >= 100.0", min_approvals: 2, exclude_requester: true, expires_after_s: 3_600 },
};

test("a policy is published, read, changed and listed with its versions", async () => {
  const { call, project, clock, close } = await started();
  const created = await call("POST", "/v1/policies", DEFINITION);
  assert.is(created.status, 201);
  const { id, version, created_at, created_by, warnings, ...definition } = created.body;
  // No member of this account exists.
  assert.is(warnings.length, 1);
  assert.match(id, /^pol_[a-z2-7]{32}$/);
  assert.equal({ version, created_by }, { version: 1, created_by: "key_admin" });
  assert.is(created_at, "2026-03-01T12:00:00.000Z");
  assert.equal(definition, DEFINITION);
  assert.ok(created.headers["countersign-position"]);
  const { warnings: _, ...published } = created.body;
  assert.equal((await call("GET", `/v1/policies/${id}`)).body, published);

  clock.advance(1_000);
  const changed = await call("PUT", `/v1/policies/${id}`, { name: "payments", rate_per_minute: 5 });
  assert.is(changed.status, 200);
  const { warnings: none, ...second } = changed.body;
  assert.equal(none, []);
  assert.equal(second, {
    name: "payments",
    rate_per_minute: 5,
    id,
    version: 2,
    created_at: "2026-03-01T12:00:01.000Z",
    created_by: "key_admin",
  });
  const same = await call("PUT", `/v1/policies/${id}`, { rate_per_minute: 5, name: "payments" });
  assert.is(same.status, 200);
  assert.equal(same.body, changed.body);

  await call("POST", "/v1/policies", { name: "second" });
  await project();
  const list = await call("GET", "/v1/policies");
  assert.equal(
    list.body.data.map((it: { name: string; version: number }) => [it.name, it.version]),
    [
      ["second", 1],
      ["payments", 2],
    ],
  );
  const versions = await call("GET", `/v1/policies/${id}/versions`);
  assert.equal(versions.body, { data: [second, published], next_cursor: null });
  await close();
});

test("an unknown field is an invalid request, at every level", async () => {
  const { call, close } = await started();
  for (const body of [
    { ...DEFINITION, colour: "red" },
    { ...DEFINITION, cost: { fixed_eur: 1, colour: "red" } },
    { ...DEFINITION, deny: [{ name: "a", when: "true", colour: "red" }] },
    { ...DEFINITION, approval: { expires_after_s: 60, colour: "red" } },
    [],
  ]) {
    const { status, body: answer } = await call("POST", "/v1/policies", body);
    assert.equal([status, answer.code], [400, "invalid-request"], JSON.stringify(body));
  }
  await close();
});

test("invalid contents are an invalid policy, each with its path", async () => {
  const { call, close } = await started();
  const cases: readonly [object, readonly string[]][] = [
    [{}, ["/name"]],
    [{ name: "p", budget_eur_day: "5", rate_per_minute: 0 }, ["/budget_eur_day", "/rate_per_minute"]],
    [{ name: "p", cost: 5 }, ["/cost"]],
    [{ name: "p", deny: [{ name: "a", when: "payload.a ==" }] }, ["/deny/0/when"]],
    [{ name: "p", deny: [{ name: "a", when: 'payload.a.matches("(")' }] }, ["/deny/0/when"]],
    [{ name: "p", schema: { type: "strng" } }, ["/schema/type"]],
    [{ name: "p", loop: {} }, ["/loop"]],
    [{ name: "p", approval: { when: "true" } }, ["/approval/expires_after_s"]],
    [{ name: "p", approval: { when: "cost_eur >", expires_after_s: 60 } }, ["/approval/when"]],
  ];
  for (const [body, paths] of cases) {
    const { status, body: answer } = await call("POST", "/v1/policies", body);
    assert.equal([status, answer.code], [422, "invalid-policy"], JSON.stringify(body));
    assert.equal(
      answer.errors.map(({ path }: { path: string }) => path),
      paths,
    );
  }
  await close();
});

test("another account's policy is not there", async () => {
  const { call, project, close } = await started();
  const { id } = (await call("POST", "/v1/policies", DEFINITION)).body;
  await project();
  const missing = await call("GET", "/v1/policies/pol_none");
  assert.is(missing.status, 404);
  const { trace_id: _, ...notThere } = missing.body;
  for (const [method, url, body] of [
    ["GET", `/v1/policies/${id}`, undefined],
    ["GET", `/v1/policies/${id}/versions`, undefined],
    ["PUT", `/v1/policies/${id}`, { name: "mine" }],
    ["PUT", `/v1/policies/${id}`, { name: "" }],
    ["GET", `/v1/policies/${id}%00`, undefined],
    ["GET", "/v1/policies/__proto__/versions", undefined],
  ] as const) {
    const { status, body: answer } = await call(method, url, body, "csk_other");
    const { trace_id: __, ...rest } = answer;
    assert.is(status, 404, `${method} ${url}`);
    assert.equal(rest, notThere, `${method} ${url}`);
  }
  assert.equal((await call("GET", "/v1/policies", undefined, "csk_other")).body.data, []);
  assert.is((await call("GET", `/v1/policies/${id}`)).body.version, 1);
  await close();
});

test("a list has today's ledger of each policy with a budget if it was asked for, and no other account's", async () => {
  const { call, project, clock, asked, close } = await started();
  const { body: made } = await call("POST", "/v1/policies", DEFINITION);
  await call("POST", "/v1/policies", { name: "no budget" });
  await project();
  assert.is(
    (await call("GET", "/v1/policies")).body.data.some((it: object) => "ledger" in it),
    false,
  );
  assert.equal(asked, []);
  const { data } = (await call("GET", "/v1/policies?ledger=today")).body;
  const spent = new Map(
    data.map((it: { name: string; ledger?: { settled_eur: number } }) => [it.name, it.ledger?.settled_eur]),
  );
  assert.equal([spent.size, spent.get("no budget"), spent.get(DEFINITION.name)], [2, undefined, 0.25]);
  const day = new Date(clock.now()).toISOString().slice(0, 10);
  assert.equal(asked.splice(0), [[`ledger-${made.id}-${day}`, "acc_a"]]);
  assert.equal((await call("GET", "/v1/policies?ledger=today", undefined, "csk_other")).body.data, []);
  assert.equal(asked, []);
  assert.is((await call("GET", "/v1/policies?ledger=yesterday")).status, 400);
  await close();
});

test("the reason of a version is recorded and shown with it, and is no part of the definition", async () => {
  const { call, project, close } = await started();
  const { id, reason } = (await call("POST", "/v1/policies", { name: "p", reason: "a trial" })).body;
  assert.is(reason, "a trial");
  const same = await call("PUT", `/v1/policies/${id}`, { name: "p", reason: "nothing changed" });
  assert.equal([same.body.version, same.body.reason], [1, "a trial"]);
  await call("PUT", `/v1/policies/${id}`, { name: "q" });
  await project();
  const { data } = (await call("GET", `/v1/policies/${id}/versions`)).body;
  assert.equal(
    data.map((it: { reason?: string }) => it.reason),
    [undefined, "a trial"],
  );
  assert.is((await call("POST", "/v1/policies", { name: "p", reason: " " })).status, 400);
  await close();
});

test("a version's record has only the commitment of its reason, which reads [erased] once that is erased", async () => {
  const { call, project, log, close } = await started();
  const { id } = (await call("POST", "/v1/policies", { name: "p", reason: "a trial" })).body;
  await call("PUT", `/v1/policies/${id}`, { name: "p", reason: "nothing changed" });
  const record = await log.last(`policy-${id}`);
  assert.ok(record);
  const { reason } = dataOf("PolicyPublished", record);
  assert.ok(reason);
  const kept = (await log.readAll(null, 100)).filter(({ type }) => type === "PersonalDataKept");
  assert.equal(
    kept.map(({ stream, data }) => [stream, data.value]),
    [[personalStream(reason.id), "a trial"]],
    "a reason that is not recorded is forgotten",
  );
  await log.erase(personalStream(reason.id));
  await project();
  assert.is((await call("GET", `/v1/policies/${id}`)).body.reason, "[erased]");
  for (const path of ["/v1/policies", `/v1/policies/${id}/versions`])
    assert.is((await call("GET", path)).body.data[0].reason, "[erased]", path);
  await close();
});

test("a change that was written on an older version does not replace a newer one, and says which it is", async () => {
  const { call, close } = await started();
  const { id } = (await call("POST", "/v1/policies", { name: "p" })).body;
  assert.is((await call("PUT", `/v1/policies/${id}`, { name: "q", base_version: 1 })).body.version, 2);
  const late = await call("PUT", `/v1/policies/${id}`, { name: "r", base_version: 1 });
  assert.equal([late.status, late.body.code, late.body.version], [409, "conflict", 2]);
  assert.match(late.body.detail, /written on version 1, and version 2 is in force/);
  assert.is((await call("GET", `/v1/policies/${id}`)).body.name, "q");
  assert.is((await call("PUT", `/v1/policies/${id}`, { name: "r", base_version: 2 })).body.version, 3);
  await close();
});

test("a viewer reads and does not publish", async () => {
  const { call, close } = await started();
  const { id } = (await call("POST", "/v1/policies", DEFINITION)).body;
  assert.is((await call("GET", `/v1/policies/${id}`, undefined, "csk_viewer")).status, 200);
  assert.is((await call("POST", "/v1/policies", DEFINITION, "csk_viewer")).status, 403);
  assert.is((await call("PUT", `/v1/policies/${id}`, DEFINITION, "csk_viewer")).status, 403);
  await close();
});

test.run();
