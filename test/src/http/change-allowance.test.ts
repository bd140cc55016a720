import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PLANS } from "../../../domain/account/plans.ts";
import { dayIn } from "../../../domain/calendar.ts";
import type { RecordedEvent } from "../../../domain/ports/event-log.ts";
import { systemClock } from "../../../infra/clock.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { CHANGE_BYTES } from "../../../src/http/change-allowance.ts";
import { ledgers } from "../../../src/ledgers/ledgers.ts";
import { NO_TRACE } from "../../../src/streams/envelope.ts";
import { defineAction, registerAgent } from "../../support/agent.ts";
import { awayFromMidnight } from "../../support/calendar-room.ts";
import { type Client, hookSource, type Reply, signUp } from "../../support/client.ts";
import { serviceInProcess } from "../../support/service-in-process.ts";

const test = suite("bytes of changes in a day");

await awayFromMidnight();
const running = await serviceInProcess();
test.after(() => running.stop());

const LIMIT = PLANS.free.changeBytesDay;
/** What a process takes at once for small changes. */
const LEASE = LIMIT / 64;
const URL = "http://127.0.0.1:1/";

/** As if other nodes had leased all of the account's allowance of today but so many bytes. */
const leaveOnly = async (account: string, kind: "key_changes" | "session_changes", bytes: number): Promise<void> => {
  const places = ledgers({
    ...{ log: running.log, clock: systemClock, randomness, orphanAgeMs: 0 },
    placeStatus: async () => "spent",
    onError: (error) => {
      throw error;
    },
  });
  const lease = {
    stream: `ledger-${account}-${kind}-${dayIn("UTC", Date.now())}`,
    account,
    event: "lease_elsewhere",
    trace: NO_TRACE,
  };
  const taken = await places.reserve({ ...lease, limits: { count: LIMIT }, places: LIMIT - bytes });
  assert.ok(taken.answer.granted);
  await places.settleNow({ ...lease, cost: 0 });
};

const records = async (): Promise<RecordedEvent[]> => {
  const all: RecordedEvent[] = [];
  for (;;) {
    const page = await running.log.readAll(all.at(-1)?.position ?? null, 100);
    all.push(...page);
    if (page.length < 100) return all;
  }
};

const assertUsedUp = ({ status, body, headers }: Reply, about: string): void => {
  assert.equal([status, body.code], [429, "rate-limited"], about);
  assert.match(body.detail, "change_bytes_day");
  assert.ok(Number(headers.get("retry-after")) > 0);
};

/** An account whose people have no change left today but what is under way in this process. */
const withoutPeoplesChanges = async (client: Client, endpoint: string): Promise<void> => {
  await leaveOnly(client.account, "session_changes", LEASE);
  const schema = { type: "object", description: "x".repeat(90_000) };
  const large = { endpoint_id: endpoint, reversibility: "reversible", schema };
  // The schema is too long. A refused change counts as well, because its answer may be stored.
  assert.is((await client.session("PUT", "/v1/actions/large.one", large)).status, 422);
  assertUsedUp(await client.session("PUT", "/v1/actions/large.two", large), "another large change");
};

test("changes by keys leave no more than the plan includes, and people still change what is there", async () => {
  const client = await signUp(running.base);
  const { id } = await client.make("/v1/endpoints", { name: "app", url: URL });
  const { body } = await client.call("GET", "/v1/capabilities");
  assert.is(body.limits.change_bytes_day, LIMIT);
  const left = 100_000;
  await leaveOnly(client.account, "key_changes", left);
  const before = (await records()).length;
  const statuses: number[] = [];
  for (let n = 0; n < 40; n += 1) {
    statuses.push((await client.call("PATCH", `/v1/endpoints/${id}`, { name: `app ${n}` })).status);
  }
  const made = statuses.filter((status) => status === 200).length;
  assert.ok(made > 0 && made <= left / CHANGE_BYTES, `${made} changes`);
  assert.ok(statuses.slice(made).every((status) => status === 429));
  const written = (await records()).slice(before).filter(({ meta }) => meta.account === client.account);
  assert.ok(JSON.stringify(written).length < left + LEASE / 10, `${JSON.stringify(written).length} bytes`);
  assertUsedUp(await client.call("POST", "/v1/endpoints", { name: "more", url: URL }), "a key");
  assert.is((await client.session("PATCH", `/v1/endpoints/${id}`, { name: "by a person" })).status, 200);
});

test("what takes something away works when the day's changes are used up, and leaves no stored answer", async () => {
  const client = await signUp(running.base);
  const agent = await registerAgent(running.base, client);
  const source = await hookSource(client);
  const { id } = await client.make("/v1/endpoints", { name: "app", url: URL });
  await leaveOnly(client.account, "key_changes", 0);
  const key = { "idempotency-key": "once" };
  assertUsedUp(await client.call("PATCH", `/v1/endpoints/${id}`, { name: "other" }, key), "an endpoint");
  const before = (await records()).length;
  const calls: readonly (readonly [string, string, unknown, number])[] = [
    ["PATCH", `/v1/sources/${source.id}`, { status: "paused" }, 200],
    ["POST", `/v1/agents/${agent.id}/suspend`, { reason: "it loops" }, 200],
    ["DELETE", `/v1/endpoints/${id}`, undefined, 204],
    ["DELETE", "/v1/endpoints/end_none", undefined, 404],
  ];
  for (const [method, path, body, status] of calls) {
    assert.is((await client.call(method, path, body, key)).status, status, `${method} ${path}`);
  }
  const stored = (await records()).slice(before).filter(({ type }) => type.startsWith("Request"));
  assert.equal(stored, []);
  assertUsedUp(await client.call("PATCH", `/v1/sources/${source.id}`, { status: "active" }), "a source");
  assertUsedUp(await client.call("POST", `/v1/agents/${agent.id}/resume`), "an agent");
});

test("people whose changes are used up still reject, approve and remove keys, and agents go on", async () => {
  const client = await signUp(running.base);
  const { id } = await client.make("/v1/endpoints", { name: "app", url: URL });
  const action = "refund.create";
  await defineAction(client, action, id, {});
  const approval = { when: "true", expires_after_s: 3_600 };
  const policy = await client.make("/v1/policies", { name: "people", cost: { fixed_eur: 1 }, approval });
  const agent = await registerAgent(running.base, client, { policy_id: policy.id });
  const earlier = { "idempotency-key": "earlier" };
  const make = () => client.session("POST", "/v1/endpoints", { name: "earlier", url: URL }, earlier);
  const made = await make();
  await withoutPeoplesChanges(client, id);
  const repeated = await make();
  assert.equal([repeated.status, repeated.body], [201, made.body], "a repeat gets the stored answer");
  for (const [decision, comment] of [
    ["reject", "no"],
    ["approve", "yes"],
  ]) {
    const { body: held } = await agent.execute(`held ${decision}`, { action, payload: { decision }, wait_ms: 0 });
    assert.is(held.status, "held");
    const at = `/v1/approvals/${held.approval_id}`;
    const { digest } = (await client.session("GET", at)).body;
    assert.is((await client.session("POST", `${at}/${decision}`, { digest, comment })).status, 200, decision);
  }
  const keys = (await client.session("GET", "/v1/api-keys")).body.data;
  assert.is((await client.session("DELETE", `/v1/api-keys/${keys[0].id}`)).status, 204);
  assert.is((await client.call("GET", "/v1/events")).status, 401);
});

test.run();
