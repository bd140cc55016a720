import { createHash, randomUUID } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { bodyKeys, SAME_BODY_MS } from "../../../src/admission/body-keys.ts";
import { eventIdOf } from "../../../src/streams/event-id.ts";
import { hookSource, signUp } from "../../support/client.ts";
import { history } from "../../support/history.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { serviceInProcess } from "../../support/service-in-process.ts";

const test = suite("requests without a delivery id");

const START = Date.parse("2026-05-05T12:00:00Z");
const PAYLOAD = { type: "alarm", text: "the same every time" };

/** The service, a source with this rule, and requests without a delivery id at a time after the start. */
const world = async (dedupe: unknown) => {
  let nowMs = START;
  const service = await serviceInProcess({}, { clock: { now: () => nowMs } });
  const client = await signUp(service.base);
  const source = await hookSource(client, { dedupe });
  return {
    source,
    client,
    at(ms: number) {
      nowMs = START + ms;
    },
    send: async (payload: unknown = PAYLOAD) => {
      const { status, body } = await source.send("", payload, { "x-delivery-id": "" });
      return [status, String(body.event_id)] as const;
    },
    stop: () => service.stop(),
  };
};

test("the same body is one delivery for 300 s, and another one afterwards", async () => {
  const it = await world(undefined);
  try {
    const [taken, first] = await it.send();
    assert.is(taken, 202);
    for (const ms of [0, 1_000, 200_000, SAME_BODY_MS - 1]) {
      it.at(ms);
      assert.equal(await it.send(), [200, first], `after ${ms} ms`);
    }
    assert.is((await it.send({ ...PAYLOAD, text: "other" }))[0], 202);
    it.at(SAME_BODY_MS);
    const [again, second] = await it.send();
    assert.is(again, 202);
    assert.is.not(second, first);
    // It is counted from the first of them, not from the last repeat.
    it.at(2 * SAME_BODY_MS - 1);
    assert.equal(await it.send(), [200, second]);
  } finally {
    await it.stop();
  }
});

test("many simultaneous requests with one body are one delivery", async () => {
  const it = await world(undefined);
  try {
    const all = await Promise.all(Array.from({ length: 20 }, () => it.send()));
    assert.is(all.filter(([status]) => status === 202).length, 1);
    assert.is(new Set(all.map(([, id]) => id)).size, 1);
  } finally {
    await it.stop();
  }
});

test("the body identifies a request without an id, and with dedupe none each request is an event", async () => {
  for (const [dedupe, statuses] of [
    [{ header: "X-Delivery-Id" }, [202, 200]],
    [{ pointer: "/missing" }, [202, 200]],
    ["body", [202, 200]],
    ["none", [202, 202]],
  ] as const) {
    const it = await world(dedupe);
    try {
      assert.equal([(await it.send())[0], (await it.send())[0]], statuses, JSON.stringify(dedupe));
      const shown = await it.client.call("GET", `/v1/sources/${it.source.id}`);
      assert.equal(shown.body.dedupe, dedupe);
    } finally {
      await it.stop();
    }
  }
});

test("no record has a plain digest of a body, from which it could be guessed", async () => {
  const service = await serviceInProcess({ SIGNUP_PLAN: "scale" });
  try {
    const client = await signUp(service.base);
    const source = await hookSource(client, { dedupe: { pointer: "/id" } });
    // More digits than a double keeps: the bodies tell such numbers apart.
    const body = '{"id":123456789012345678901,"pin":4711}';
    const digest = createHash("sha256").update(body).digest("hex");
    const own = await hookSource(client);
    for (const send of [() => source.send("", body), () => own.send(`v1-${digest.toUpperCase()}`, body)]) {
      const [first, again] = [await send(), await send()];
      assert.equal([first.status, again.status], [202, 200]);
      assert.is(again.body.event_id, first.body.event_id);
    }
    const records = (await service.log.readAll(null, 1_000)).filter(({ stream }) => !stream.startsWith("payload-"));
    assert.ok(records.some(({ type }) => type === "EventAdmitted"));
    assert.not.match(JSON.stringify(records), new RegExp(digest, "i"));
  } finally {
    await service.stop();
  }
});

test("a provider whose requests all have an id does not identify them by body", async () => {
  const it = await world(undefined);
  try {
    const github = await it.client.call("POST", "/v1/sources", { name: "code", type: "github", dedupe: "none" });
    assert.is(github.status, 400);
    assert.is(github.body.errors[0].path, "/dedupe");
    const odd = await it.client.call("POST", "/v1/sources", { name: "odd", type: "hmac", dedupe: "bodies" });
    assert.is(odd.status, 400);
  } finally {
    await it.stop();
  }
});

test("nodes whose clocks differ take the same body once in 300 s, and always take it afterwards", async () => {
  // As far as the clocks of two nodes may be apart.
  const APART_MS = 12_000;
  for (let seed = 1; seed <= 60; seed += 1) {
    const random = seededRandom(seed);
    const log = memoryEventLog();
    const nodes = [0, random.below(APART_MS)].map((ahead) => ({
      ahead,
      withKey: bodyKeys({ log, digestKey: Buffer.alloc(32) }),
    }));
    const taken: number[] = [];
    let trueMs = START + random.below(SAME_BODY_MS);
    /** Two requests at once with one node, each seeing a slightly different time. */
    const receive = async ({ ahead, withKey }: (typeof nodes)[number], ms: number): Promise<void> => {
      const it = { account: "acc_1", sourceId: "src_1", body: Buffer.from("x") };
      await withKey(it, ms + ahead, async (key) => {
        const received_at = new Date(ms + ahead).toISOString();
        const admitted = history().add("x-x", { type: "EventAdmitted", data: { received_at } });
        const stream = `delivery-${eventIdOf("acc_1", "src_1", key)}`;
        const appended = await log.append(stream, "absent", [{ ...admitted, id: randomUUID() }]);
        if (appended.outcome === "appended") taken.push(ms);
      });
      const last = Math.max(...taken.filter((it) => it <= ms));
      assert.ok(ms - last < SAME_BODY_MS + APART_MS, `seed ${seed}: nothing was taken at ${ms - START}`);
    };
    for (let n = 0; n < 40; n += 1) {
      trueMs += random.below(4) === 0 ? random.below(40_000) : random.below(200_000);
      for (const node of nodes) await Promise.all([receive(node, trueMs), receive(node, trueMs + random.below(3_000))]);
    }
    for (let n = 1; n < taken.length; n += 1) {
      const gap = (taken[n] ?? 0) - (taken[n - 1] ?? 0);
      assert.ok(gap >= SAME_BODY_MS - APART_MS, `seed ${seed}: taken twice within ${gap} ms`);
    }
  }
});

test.run();
