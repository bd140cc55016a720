import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { SignatureFailureReason } from "../../../../domain/source/events.ts";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../../infra/memory/view-store.ts";
import { signatureFailures } from "../../../../projections/signature-failures.ts";
import { webhookCounts } from "../../../../src/admission/webhook-counts.ts";
import { Tallies } from "../../../../src/calls/tallies.ts";
import { personalData } from "../../../../src/erasure/personal-data.ts";
import type { Call, Principal } from "../../../../src/http/route.ts";
import { signatureFailureRoutes } from "../../../../src/routes/events/signature-failures.ts";
import { aggregates } from "../../../../src/streams/aggregates.ts";
import { caller } from "../../../support/call.ts";
import { testClock } from "../../../support/http-app.ts";
import { folded } from "../../../support/projected.ts";

const test = suite("rejections of a source");
const ID = `src_${"a".repeat(32)}`;
const VIEWER: Principal = { kind: "key", account: "acc_1", id: "key_1", role: "viewer" };

const world = async () => {
  const log = memoryEventLog();
  const clock = testClock();
  const randomness = { bytes: (size: number) => crypto.getRandomValues(new Uint8Array(size)), number: () => 0 };
  const all = new Tallies({ log, clock, randomness, onError: (error) => assert.unreachable(String(error)) });
  const counted = {
    ...webhookCounts(all, clock),
    flush: (everything: boolean) => all.flush(everything),
    stop: () => all.stop(),
  };
  const settings = { name: "shop", policy_id: null, endpoint_id: null, status: "active" };
  const rules = { type: "stripe", auth: null, dedupe: null, secret: "sealed" };
  const data = { source_id: ID, account: "acc_1", ...settings, ...rules, at: "" };
  const meta = {
    account: "acc_1",
    actor: { kind: "system", id: "test" },
    command_id: "cmd_1",
    trace_id: "0".repeat(32),
    span_id: "0".repeat(16),
    causation_id: null,
    recorded_at: "2026-03-01T12:00:00.000Z",
    schema: 1,
  } as const;
  const id = "00000000-0000-8000-a000-000000000000";
  await log.append(`source-${ID}`, "absent", [{ id, type: "SourceRegistered", data, meta }]);
  const reject = (reason: SignatureFailureReason, from = "192.0.2.1") =>
    counted.signatureFailed({ account: "acc_1", id: ID }, reason, from, "curl/8");
  const list = async (query: Call["query"] = {}, principal = VIEWER, source = ID) => {
    const views = memoryViewStore([signatureFailures.schema]);
    const all = await log.readAll(null, 1_000);
    await views.drop("rejections.v2", await log.identity());
    const documents = new Map(Object.entries(folded(signatureFailures, all).all()));
    await views.commit("rejections.v2", null, all.at(-1)?.position ?? "", { documents });
    const call = caller(
      signatureFailureRoutes({ aggregates: aggregates(log, clock), views, personal: personalData(log, randomness) }),
    );
    return call("GET", "/v1/sources/{id}/rejections", { principal, params: { id: source }, query });
  };
  const records = async () => (await log.read(`source-${ID}`, null, 100)).length - 1;
  return { clock, counted, reject, list, records };
};

const MINUTE = (minute: number): string => `2026-03-01T12:0${minute}:00.000Z`;
const sample = (ip = "192.0.2.1") => ({ ip, user_agent: "curl/8" });

test("they are counted by minute and reason, newest first, with the first of each as a sample", async () => {
  const { clock, counted, reject, list } = await world();
  reject("mismatch", "192.0.2.7");
  reject("mismatch");
  reject("stale", "192.0.2.9");
  clock.advance(60_000);
  reject("stale");
  await counted.flush(true);
  const { body } = await list();
  assert.equal(body, {
    data: [
      { minute: MINUTE(1), reason: "stale", count: 1, sample: sample() },
      { minute: MINUTE(0), reason: "stale", count: 1, sample: sample("192.0.2.9") },
      { minute: MINUTE(0), reason: "mismatch", count: 2, sample: sample("192.0.2.7") },
    ],
    next_cursor: null,
  });
  assert.is(((await list({ reason: "stale" })).body.data as unknown[]).length, 2);
  assert.is(((await list({ from: MINUTE(1) })).body.data as unknown[]).length, 1);
  const first = await list({ limit: 2 });
  const rest = await list({ limit: 2, cursor: first.body.next_cursor });
  assert.equal([...(first.body.data as unknown[]), ...(rest.body.data as unknown[])], body.data);
});

test("the first of a minute are written at once, and all others of it in one record", async () => {
  const { clock, counted, reject, list, records } = await world();
  reject("missing");
  await counted.flush(false);
  assert.is(await records(), 1);
  for (let i = 0; i < 500; i += 1) {
    reject(i % 2 === 0 ? "mismatch" : "missing");
    await counted.flush(false);
  }
  assert.is(await records(), 1);
  clock.advance(60_000);
  await counted.flush(false);
  await counted.flush(false);
  assert.is(await records(), 2);
  const { body } = await list();
  assert.equal(
    (body.data as { reason: string; count: number }[]).map(({ reason, count }) => [reason, count]),
    [
      ["missing", 251],
      ["mismatch", 250],
    ],
  );
});

test("another account's source, and what is none, are not found", async () => {
  const { list } = await world();
  assert.is((await list({}, { ...VIEWER, account: "acc_2" })).outcome, "not-found");
  assert.is((await list({}, VIEWER, `src_${"b".repeat(32)}`)).outcome, "not-found");
  assert.is((await list({}, VIEWER, "src_/../x")).outcome, "not-found");
  assert.equal((await list()).body, { data: [], next_cursor: null });
});

test.run();
