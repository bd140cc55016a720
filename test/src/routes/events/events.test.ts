import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { BundleEvent } from "../../../../domain/bundle/events.ts";
import type { RecordedEvent } from "../../../../domain/ports/event-log.ts";
import { randomness } from "../../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../../infra/memory/view-store.ts";
import { bundles } from "../../../../projections/bundles.ts";
import { events } from "../../../../projections/events.ts";
import { gateDenials } from "../../../../projections/gate-denials.ts";
import { commitmentsIn, personalData } from "../../../../src/erasure/personal-data.ts";
import type { Call, Principal } from "../../../../src/http/route.ts";
import { eventRoutes } from "../../../../src/routes/events/events.ts";
import { eventIdOf } from "../../../../src/streams/event-id.ts";
import { damageRecords } from "../../../../src/streams/payload-damage.ts";
import { encodeBody } from "../../../../src/streams/payload-encoding.ts";
import { payloads } from "../../../../src/streams/payloads.ts";
import { caller } from "../../../support/call.ts";
import { damagedLog } from "../../../support/damaged-log.ts";
import { appendTo, at, bundleFacts, bundleStep, deliveryFacts, history, request } from "../../../support/history.ts";
import { COOKIE, PUBLIC_URL, SAME_ORIGIN, testApp } from "../../../support/http-app.ts";
import { NO_CALLS } from "../../../support/no-calls.ts";
import { keepWords, words } from "../../../support/personal-words.ts";
import { folded } from "../../../support/projected.ts";

const test = suite("event routes");
const HIDDEN = "[redacted]";
const VIEWER: Principal & { kind: "key" } = { kind: "key", account: "acc_1", id: "key_1", role: "viewer" };
const ADMIN: typeof VIEWER = { ...VIEWER, role: "admin" };
const STRANGER: typeof VIEWER = { ...ADMIN, account: "acc_2" };
const ID = `evt_${"a".repeat(32)}`;
const BODY = Buffer.from('{"card": {"number": "4242"}, "amount": 5}');

const kept = (body: Buffer, content_type = "application/json") => ({
  type: "PayloadKept",
  data: { event_id: ID, salt: "", content_type, headers: { "user-agent": "Stripe/1.0" }, ...encodeBody(body) },
});
const response = (number: number, over: object = {}) => ({
  type: "ResponseKept",
  data: {
    event_id: ID,
    number,
    headers: { server: "nginx" },
    encoding: "text",
    body: "thanks",
    truncated: false,
    request_headers: { "webhook-id": ID },
    ...over,
  },
});

const delivered = (payload = kept(BODY), answered: object = {}) => {
  const log = history();
  const facts = deliveryFacts(ID);
  const definition = { name: "payments", redact: ["card"] };
  log.add("policy-pol_1", { type: "PolicyPublished", data: { policy_id: "pol_1", version: 1, definition } });
  log.add(`payload-${ID}`, payload);
  const { content_type } = payload.data;
  log.add(`delivery-${ID}`, facts.admitted({ payload: { ...request().payload, content_type } }));
  log.add(`delivery-${ID}`, facts.started(1, 1));
  log.add(`payload-${ID}`, response(1, answered));
  log.add(`delivery-${ID}`, facts.succeeded(1, 2));
  log.add(`delivery-${ID}`, facts.delivered(2));
  return log;
};

/** `damaged`: the streams whose payload has changed on disk. */
const world = async (recorded: readonly RecordedEvent[], damaged: readonly string[] = []) => {
  const kept = memoryEventLog();
  await appendTo(kept, recorded);
  const log = damaged.length === 0 ? kept : damagedLog(kept, new Set(damaged));
  const views = memoryViewStore([events.schema, gateDenials.schema, bundles.schema]);
  const project = async () => {
    const all = await log.readAll(null, 10_000);
    for (const projection of [events, gateDenials, bundles]) {
      const { name } = projection.schema;
      await views.drop(name, await log.identity());
      const documents = new Map(Object.entries(folded(projection, all, 50).all()));
      await views.commit(name, null, all.at(-1)?.position ?? "", { documents });
    }
  };
  await project();
  const none = { bytes: (size: number) => new Uint8Array(size), number: () => 0 };
  const clock = { now: () => Date.parse(at(90)) };
  const reader = payloads(
    log,
    none,
    damageRecords(log, clock, () => undefined),
  );
  const personal = personalData(log, randomness);
  const call = caller(
    eventRoutes({ views, log, payloads: reader, publicUrl: () => PUBLIC_URL, calls: NO_CALLS, personal }),
  );
  const get = (path: string, principal = VIEWER, over: Partial<Call> = {}) =>
    call("GET", path, { principal, params: { id: ID }, ...over });
  const erase = (principal = ADMIN, when = at(60), id = ID) =>
    call("DELETE", "/v1/events/{id}/payload", {
      principal,
      params: { id },
      body: { reason: "asked for" },
      envelope: {
        commandId: `erase at ${when}`,
        account: principal.account,
        actor: { kind: "member", id: "mem_1" },
        trace: { trace_id: "1".repeat(32), span_id: "1".repeat(16) },
        at: when,
      },
    });
  return { log, views, project, get, erase, personal };
};

test("the detail shows what the contract says, with headers and answers from the payload's stream", async () => {
  const { get } = await world(delivered().events);
  const { outcome, body } = await get("/v1/events/{id}", ADMIN);
  assert.is(outcome, 200);
  assert.equal(body.origin, { kind: "source", id: "src_1", name: "shop", type: "stripe" });
  assert.equal([body.id, body.status, body.cost_eur, body.approval_id], [ID, "delivered", 0.02, null]);
  assert.equal(body.headers, { "user-agent": "Stripe/1.0" });
  const [attempt] = body.attempts as Record<string, unknown>[];
  assert.equal(attempt?.request, { headers: { "webhook-id": ID } });
  const answered = {
    headers: { server: "nginx" },
    encoding: "text",
    body: "thanks",
    truncated: false,
    kept: "whole",
    sha256: null,
    redacted: false,
  };
  assert.equal(attempt?.response, answered);
  assert.equal((await get("/v1/events/{id}/attempts", ADMIN)).body.data, body.attempts);
  assert.equal((await get("/v1/events/{id}/timeline")).body.data, body.timeline);
});

test("of an event that was tried again and again the first and the last answers are read, and none in between", async () => {
  const recorded = history();
  const facts = deliveryFacts(ID);
  const COUNT = 700;
  recorded.add(`payload-${ID}`, kept(BODY));
  recorded.add(`delivery-${ID}`, facts.admitted());
  for (let number = 1; number <= COUNT; number += 1) {
    recorded.add(`delivery-${ID}`, facts.started(number, number));
    // An attempt that nobody has seen the end of has no answer.
    if (number % 50 !== 0) recorded.add(`payload-${ID}`, response(number, { body: `answer ${number}` }));
    recorded.add(`delivery-${ID}`, facts.attemptFailed(number, number, at(number + 1)));
  }
  const { log, get } = await world(recorded.events);
  const { read } = log;
  let answers = 0;
  log.read = async (stream, ...of) => {
    const page = await read(stream, ...of);
    if (stream === `payload-${ID}`) answers += page.length;
    return page;
  };
  const { body } = await get("/v1/events/{id}", ADMIN);
  const attempts = body.attempts as { number: number; response: { body: string } | null }[];
  assert.equal([attempts.length, body.attempts_left_out], [110, COUNT - 110]);
  for (const { number, response } of attempts)
    assert.is(response?.body, number % 50 === 0 ? undefined : `answer ${number}`);
  assert.ok(answers < 300, `${answers} records for 110 attempts`);
  assert.equal(body.headers, { "user-agent": "Stripe/1.0" });
});

test("all attempts of an event with very many are read in pages, each with its end and its answer", async () => {
  const facts = deliveryFacts(ID);
  const COUNT = 260;
  const LARGE = "x".repeat(65_536);
  const recorded = history();
  recorded.add(`payload-${ID}`, kept(BODY));
  recorded.add(`delivery-${ID}`, facts.admitted());
  for (let number = 1; number <= COUNT; number += 1) {
    recorded.add(`delivery-${ID}`, facts.started(number, number));
    // The answers of one stretch are so large that a page ends before its limit.
    if (number % 50 !== 0)
      recorded.add(
        `payload-${ID}`,
        response(number, { body: number > 100 && number < 200 ? LARGE : `answer ${number}` }),
      );
    recorded.add(`delivery-${ID}`, facts.attemptFailed(number, number, at(number + 1)));
  }
  const { get } = await world(recorded.events);
  type Page = {
    data: { number: number; outcome: string; response: { body: string } | null }[];
    next_cursor: string | null;
  };
  const read = async (limit: number): Promise<readonly Page[]> => {
    const pages: Page[] = [];
    for (let cursor: string | null | undefined; cursor !== null; cursor = pages.at(-1)?.next_cursor) {
      const { body } = await get("/v1/events/{id}/attempts", ADMIN, {
        query: { limit, ...(cursor === undefined ? {} : { cursor }) },
      });
      pages.push(body as Page);
    }
    return pages;
  };
  for (const limit of [1_000, 100, 7]) {
    const pages = await read(limit);
    const all = pages.flatMap(({ data }) => data);
    assert.equal(
      all.map(({ number }) => number),
      Array.from({ length: COUNT }, (_, nth) => nth + 1),
    );
    assert.ok(all.every(({ outcome }) => outcome === "failed"));
    for (const { number, response } of all)
      assert.is(
        response?.body.length,
        number % 50 === 0 ? undefined : number > 100 && number < 200 ? 65_536 : `answer ${number}`.length,
      );
    assert.ok(pages.every(({ data }) => data.length <= limit));
    if (limit === 1_000) assert.ok(pages.length > 1, "large answers end a page early");
  }
  assert.is((await get("/v1/events/{id}/attempts", ADMIN, { query: { cursor: "bm90" } })).outcome, "invalid-request");
  assert.is((await get("/v1/events/{id}/attempts", STRANGER, { query: { limit: 5 } })).outcome, "not-found");
});

test("another account's event and one that never was are the same nothing, on every route", async () => {
  const { get, erase } = await world(delivered().events);
  for (const path of ["", "/payload", "/attempts", "/timeline", "/curl"]) {
    const foreign = await get(`/v1/events/{id}${path}`, STRANGER);
    assert.is(foreign.outcome, "not-found");
    assert.equal(await get(`/v1/events/{id}${path}`, VIEWER, { params: { id: "evt_none" } }), foreign);
    assert.is((await get(`/v1/events/{id}${path}`, VIEWER, { params: { id: "acc_1" } })).outcome, "not-found");
  }
  assert.is((await erase(STRANGER)).outcome, "not-found");
  assert.is((await erase(ADMIN, at(60), "evt_\n")).outcome, "not-found");
  assert.equal((await get("/v1/events", STRANGER)).body.data, []);
});

test("events are read by their ids; an id of another account is left out as one that never existed", async () => {
  const { get } = await world(delivered().events);
  const found = async (ids: string, as: typeof VIEWER = VIEWER): Promise<readonly string[]> => {
    const { data } = (await get("/v1/events", as, { query: { ids } })).body;
    return (data as readonly { readonly id: string }[]).map(({ id }) => id);
  };
  assert.equal(await found(`evt_none,${ID},${ID}`), [ID]);
  assert.equal(await found(ID, STRANGER), []);
  assert.equal(await found("evt_none"), []);
  assert.is((await get("/v1/events", VIEWER, { query: { ids: ID, q: "x" } })).outcome, "invalid-request");
  assert.equal((await get("/v1/events", VIEWER, { query: { ids: ID, status: "failed" } })).body.data, []);
});

test("an admin reads the payload byte for byte, safely served; others read it redacted", async () => {
  const { get } = await world(delivered().events);
  const raw = await get("/v1/events/{id}/payload", ADMIN);
  assert.equal(Buffer.from(raw.body as unknown as Uint8Array), BODY);
  assert.is(raw.headers["content-type"], "application/json");
  assert.match(raw.headers["content-disposition"] ?? "", /^attachment/);
  assert.match(raw.headers["content-security-policy"] ?? "", /sandbox/);
  const shown = await get("/v1/events/{id}/payload");
  assert.is(Buffer.from(shown.body as unknown as Uint8Array).toString(), '{"card":"[redacted]","amount":5}');
});

const ECHO = '{"card":{"number":"4242"},"ok":true}';
for (const [what, answered, shown] of [
  ["JSON", { body: ECHO }, { body: '{"card":"[redacted]","ok":true}', redacted: true }],
  ["text", { body: "4242 is fine" }, { body: null, redacted: true }],
  ["JSON that was cut", { body: ECHO.slice(0, -1), truncated: true }, { body: null, redacted: true }],
  ["bytes", { body: Buffer.from(ECHO).toString("base64"), encoding: "base64" }, { body: null, redacted: true }],
  ["nothing", { body: "" }, { body: "", redacted: false }],
] as const) {
  test(`below admin the fields that the policy hides are hidden in a receiver's answer of ${what}`, async () => {
    const { get } = await world(delivered(kept(BODY), answered).events);
    for (const path of ["/v1/events/{id}", "/v1/events/{id}/attempts"]) {
      const responseFor = async (principal: typeof VIEWER) => {
        const { body } = await get(path, principal);
        const [attempt] = (body.attempts ?? body.data) as { response: { body: unknown; redacted: unknown } }[];
        return { body: attempt?.response.body, redacted: attempt?.response.redacted };
      };
      assert.equal(await responseFor(VIEWER), shown);
      assert.equal(await responseFor({ ...VIEWER, role: "auditor" }), shown);
      assert.equal(await responseFor(ADMIN), { body: answered.body, redacted: false });
    }
  });
}

for (const [what, answered, shown] of [
  [
    "under another name, in a text and in headers",
    {
      body: '{"said":"4242 declined","at":["4242",5]}',
      headers: { "x-echo": "card=4242", card: "visa", date: "today" },
    },
    {
      body: '{"said":"[redacted]","at":["[redacted]",5]}',
      headers: { "x-echo": "[redacted]", card: "[redacted]", date: "today" },
    },
  ],
  [
    "when it is grouped or encoded, or is a header's name",
    {
      body: '{"code":"x NDI0Mg==","said":"100% of 4%3242"}',
      headers: { "x-4242": "1" },
    },
    {
      body: '{"code":"[redacted]","said":"[redacted]"}',
      headers: { "[redacted]": "1" },
    },
  ],
  ["in a header alone", { body: "", headers: { "x-card": "4242" } }, { body: "", headers: { "x-card": "[redacted]" } }],
] as const) {
  test(`below admin a receiver's answer does not repeat what the policy hides ${what}`, async () => {
    const { get } = await world(delivered(kept(BODY), answered).events);
    for (const [principal, expected] of [
      [VIEWER, { ...shown, redacted: true }],
      [ADMIN, { ...answered, redacted: false }],
    ] as const) {
      const { body } = await get("/v1/events/{id}", principal);
      const [attempt] = body.attempts as { response: Record<string, unknown> }[];
      const { headers, redacted } = attempt?.response ?? {};
      assert.equal({ body: attempt?.response.body, headers, redacted }, expected);
    }
  });
}

test("below admin no header tells a digest of the payload or of the answer", async () => {
  const hash = "sha-256=:AbC=:";
  const headers = { digest: hash, "x-body-sha256": hash, "user-agent": "Stripe/1.0" };
  const payload = { ...kept(BODY), data: { ...kept(BODY).data, headers } };
  const request_headers = { "webhook-id": ID, "content-digest": hash };
  const answered = { body: "", headers: { etag: hash, date: "today" }, request_headers };
  const { get } = await world(delivered(payload, answered).events);
  const { body } = await get("/v1/events/{id}");
  const [attempt] = body.attempts as { request: unknown; response: { headers: unknown } }[];
  assert.equal(body.headers, { digest: HIDDEN, "x-body-sha256": HIDDEN, "user-agent": "Stripe/1.0" });
  assert.equal(attempt?.request, { headers: { "webhook-id": ID, "content-digest": HIDDEN } });
  assert.equal(attempt?.response.headers, { etag: HIDDEN, date: "today" });
  assert.not.ok(JSON.stringify((await get("/v1/events/{id}/attempts")).body).includes(hash));
  assert.ok(JSON.stringify((await get("/v1/events/{id}", ADMIN)).body).includes(hash));
});

test("below admin a value that a receiver spreads over fields hides the answer as a whole", async () => {
  const answered = { body: '{"parts":["42","42","42","42"]}' };
  const payload = Buffer.from('{"card":"42424242"}');
  const { get } = await world(delivered(kept(payload), answered).events);
  const { body } = await get("/v1/events/{id}");
  const [attempt] = body.attempts as { response: Record<string, unknown> }[];
  assert.is(attempt?.response.body, null);
});

test("below admin only so much of the newest answers is searched, and the others are hidden as a whole", async () => {
  const body = JSON.stringify({ a: "b".repeat(60_000) });
  const recorded = delivered(kept(BODY), { body });
  const facts = deliveryFacts(ID);
  for (const number of [2, 3]) {
    recorded.add(`delivery-${ID}`, facts.started(number, number + 1));
    recorded.add(`payload-${ID}`, response(number, { body }));
    recorded.add(`delivery-${ID}`, facts.attemptFailed(number, number + 1, at(number + 2)));
  }
  const { get } = await world(recorded.events);
  const shownTo = async (principal: typeof VIEWER) =>
    ((await get("/v1/events/{id}", principal)).body.attempts as { response: { body: string | null } }[]).map(
      ({ response }) => response.body !== null,
    );
  assert.equal(await shownTo(VIEWER), [false, true, true]);
  assert.equal(await shownTo(ADMIN), [true, true, true]);
});

test("what a receiver answered is hidden as a whole where the payload cannot be read to tell what it repeats", async () => {
  const answered = { body: '{"ok":true}', headers: { date: "today" } };
  const twice = '{"card":{"number":"4111"},"card":{"number":"4242"}}';
  for (const payload of [
    "card=4242",
    twice,
    '{"card":12345678901234567890}',
    `${"[".repeat(9_999)}1${"]".repeat(9_999)}`,
  ]) {
    const { get } = await world(delivered(kept(Buffer.from(payload), "text/plain"), answered).events);
    const { body } = await get("/v1/events/{id}");
    const [attempt] = body.attempts as { response: Record<string, unknown> }[];
    assert.equal(attempt?.response, {
      ...{
        headers: { date: "[redacted]" },
        encoding: "text",
        body: null,
        truncated: false,
        kept: "whole",
        sha256: null,
        redacted: true,
      },
    });
  }
});

test("a payload in which nothing can be redacted is for an admin only", async () => {
  const { get } = await world(delivered(kept(Buffer.from([0xff, 0x00]), "text/x\r\nevil: 1")).events);
  assert.is((await get("/v1/events/{id}/payload")).outcome, "forbidden");
  const raw = await get("/v1/events/{id}/payload", ADMIN);
  assert.equal([...Buffer.from(raw.body as unknown as Uint8Array)], [0xff, 0x00]);
  assert.is(raw.headers["content-type"], "application/octet-stream");
});

test("a payload that has changed on disk is shown to nobody, as bytes or as a command, and that is recorded", async () => {
  const past = delivered();
  const it = await world(past.events, [`payload-${ID}`]);
  for (const principal of [ADMIN, VIEWER])
    for (const path of ["/v1/events/{id}/payload", "/v1/events/{id}/curl"]) {
      const { outcome, detail } = await it.get(path, principal);
      assert.is(outcome, "payload-damaged");
      assert.match(String(detail), /does not match the hash in the event's record, so it is neither shown nor sent/);
    }
  const types = (await it.log.read(`delivery-${ID}`, null, 100)).map(({ type }) => type);
  assert.is(types.filter((type) => type === "PayloadDamageFound").length, 1);
  await it.project();
  const { body } = await it.get("/v1/events/{id}/timeline");
  assert.is((body.data as { stage: string }[]).at(-1)?.stage, "payload_damaged");
  const detail = await it.get("/v1/events/{id}", ADMIN);
  assert.equal([detail.outcome, detail.body.status], [200, "delivered"], "all else is shown");
});

test("an erasure is recorded, then done; the record stays, and a repeat changes nothing", async () => {
  const { log, project, get, erase, personal } = await world(delivered().events);
  const erased = await erase();
  assert.equal(erased.body, { event_id: ID, erased_at: at(60), bytes_removed: "within-seconds" });
  assert.equal(await log.read(`payload-${ID}`, null, 10), []);
  const last = await log.last(`delivery-${ID}`);
  const [reason] = commitmentsIn(last?.data ?? {});
  assert.ok(reason !== undefined);
  assert.equal([last?.type, await personal.read(reason, "acc_1")], ["PayloadErased", "asked for"]);
  assert.equal((await erase(ADMIN, at(90))).body, erased.body);
  assert.is((await log.last(`delivery-${ID}`))?.revision, last?.revision);

  await project();
  assert.is((await get("/v1/events/{id}/payload", ADMIN)).outcome, "not-found");
  const { body } = await get("/v1/events/{id}");
  assert.is((body.payload as { erased_at: string }).erased_at, at(60));
  assert.is(body.headers, null);
  assert.is((body.attempts as { response: unknown }[])[0]?.response, null);
});

/** Of a bundle with one step that uses a result, and its undo: what was sent, and what was answered. */
const BUNDLE_ID = `bun_${"b".repeat(32)}`;
const UNDO_ID = `evt_${"u".repeat(32)}`;
const bundled = (...facts: readonly BundleEvent[]) => {
  const log = history();
  const definition = { name: "cards", redact: ["card"] };
  log.add("policy-pol_1", { type: "PolicyPublished", data: { policy_id: "pol_1", version: 1, definition } });
  const step = bundleStep(0, { event_id: ID, undo_event_id: UNDO_ID, uses_results: true }, BUNDLE_ID);
  const asked = { card: "4242", number: { $result: { step: 0, pointer: "/card" } } };
  const sent = { card: "4242", number: "4243" };
  const undo = { payload: sent, result: { card: "4244", number: "4245", id: 1 }, forward_webhook_id: ID };
  for (const [id, body] of [
    [BUNDLE_ID, [asked]],
    [ID, sent],
    [UNDO_ID, undo],
  ] as const)
    log.add(`payload-${id}`, kept(Buffer.from(JSON.stringify(body))));
  for (const fact of [bundleFacts(BUNDLE_ID).admitted({ steps: [step] }), ...facts])
    log.add(`bundle-${BUNDLE_ID}`, fact);
  for (const [id, isUndo] of [
    [ID, false],
    [UNDO_ID, true],
  ] as const) {
    const is = deliveryFacts(id);
    const origin = { kind: "agent", id: "agt_1", name: "helper", type: "agent" } as const;
    log.add(`delivery-${id}`, is.admitted({ origin, bundle: { id: BUNDLE_ID, index: 0, undo: isUndo } }));
    log.add(`delivery-${id}`, is.started(1, 1));
    const body = JSON.stringify(isUndo ? undo : sent);
    log.add(`payload-${id}`, response(1, { event_id: id, body }));
    log.add(`delivery-${id}`, is.succeeded(1, 2));
    log.add(`delivery-${id}`, is.delivered(2));
  }
  return log.events;
};

test("of a bundle's step what comes from a result is hidden, of its undo also what is inside of the payload, and the result", async () => {
  const { get } = await world(bundled());
  const step = { card: HIDDEN, number: HIDDEN };
  const undo = { payload: step, result: HIDDEN, forward_webhook_id: ID };
  for (const [id, wanted] of [
    [ID, step],
    [UNDO_ID, undo],
  ] as const) {
    const over = { params: { id } };
    const shown = await get("/v1/events/{id}/payload", VIEWER, over);
    assert.equal(JSON.parse(Buffer.from(shown.body as unknown as Uint8Array).toString()), wanted);
    const detail = await get("/v1/events/{id}", VIEWER, over);
    const [attempt] = detail.body.attempts as { response: { body: string } }[];
    assert.equal(JSON.parse(attempt?.response.body ?? ""), wanted);
    const curl = await get("/v1/events/{id}/curl", VIEWER, over);
    const text = Buffer.from(curl.body as unknown as Uint8Array).toString();
    assert.not(/424\d/.test(text), text);
    const whole = await get("/v1/events/{id}/payload", ADMIN, over);
    assert.match(Buffer.from(whole.body as unknown as Uint8Array).toString(), "4243");
  }
});

test("what the rollback of its bundle made of a step is told of the step's event alone, in lists and by itself", async () => {
  const bundle = bundleFacts();
  const events = [0, 1, 2, 3].map((index) => `evt_bun_1_${index}`);
  const log = history();
  const send = (id: string, of: { readonly id: string; readonly index: number; readonly undo: boolean }): void => {
    const verdict = { decision: "allow", policy: null, gates: [] } as const;
    log.add(`delivery-${id}`, deliveryFacts(id).admitted({ bundle: of, verdict }));
  };
  log.add("bundle-bun_1", bundle.admitted({ steps: [0, 1, 2, 3].map((index) => bundleStep(index)) }));
  for (const [index, id] of events.entries()) {
    log.add("bundle-bun_1", bundle.started(index, 1));
    send(id, { id: "bun_1", index, undo: false });
    log.add("bundle-bun_1", bundle.ended(index, 2, "succeeded"));
  }
  send("evt_bun_1_0_undo", { id: "bun_1", index: 0, undo: true });
  send("evt_other", { id: "bun_unknown", index: 0, undo: false });
  const told = async (principal = VIEWER) => {
    const { get } = await world(log.events);
    const { data } = (await get("/v1/events", principal, { query: {} })).body;
    const all = data as readonly { readonly id: string; readonly bundle: { readonly rollback: string | null } }[];
    for (const { id, bundle: of } of all)
      assert.equal((await get("/v1/events/{id}", principal, { params: { id } })).body.bundle, of);
    return Object.fromEntries(all.map(({ id, bundle: of }) => [id, of.rollback]));
  };
  // Of a step that needs no undo nothing is taken back.
  const others = { evt_bun_1_3: null, evt_bun_1_0_undo: null, evt_other: null };
  assert.equal(await told(), { evt_bun_1_0: null, evt_bun_1_1: null, evt_bun_1_2: null, ...others });
  log.add("bundle-bun_1", bundle.rollback(3));
  log.add("bundle-bun_1", bundle.undone(0, 4, "compensated"));
  for (const index of [1, 2]) log.add("bundle-bun_1", bundle.undone(index, 5, "failed"));
  log.add("bundle-bun_1", bundle.undone(3, 5, "not-needed"));
  log.add("bundle-bun_1", bundle.incomplete(6, 1, 2));
  log.add("bundle-bun_1", bundle.resolved(2, 7));
  assert.equal(await told(), { evt_bun_1_0: "undone", evt_bun_1_1: "left", evt_bun_1_2: "undone_by_hand", ...others });
  assert.equal(await told(STRANGER), {});
});

test("the payload of a bundle's step or undo is erased with all of its bundle, and not before that has ended", async () => {
  const running = await world(bundled());
  const { outcome, detail } = await running.erase();
  assert.equal([outcome, detail.includes(BUNDLE_ID)], ["conflict", true]);
  assert.match(detail, "end or cancel the bundle first");
  assert.ok((await running.log.read(`payload-${ID}`, null, 10)).length > 0);

  for (const id of [ID, UNDO_ID]) {
    const { log, erase } = await world(bundled(bundleFacts(BUNDLE_ID).rolledBack(9)));
    assert.is((await erase(STRANGER, at(60), id)).outcome, "not-found");
    assert.equal((await erase(ADMIN, at(60), id)).body, {
      event_id: id,
      erased_at: at(60),
      bytes_removed: "within-seconds",
    });
    for (const gone of [BUNDLE_ID, ID, UNDO_ID]) assert.equal(await log.read(`payload-${gone}`, null, 10), []);
    assert.is((await log.last(`bundle-${BUNDLE_ID}`))?.type, "BundlePayloadErased");
    for (const of of [ID, UNDO_ID]) assert.is((await log.last(`delivery-${of}`))?.type, "PayloadErased");
    assert.equal((await erase(ADMIN, at(90), id)).body, {
      event_id: id,
      erased_at: at(60),
      bytes_removed: "within-seconds",
    });
  }
});

test("what a crash left recorded and not erased is erased by the repeat", async () => {
  const past = delivered();
  const upTo = past.events.filter(({ stream }) => stream === `payload-${ID}`).length - 1;
  past.add(`delivery-${ID}`, deliveryFacts(ID).erased(50, upTo));
  const { log, erase } = await world(past.events);
  assert.equal((await erase()).body, { event_id: ID, erased_at: at(50), bytes_removed: "within-seconds" });
  assert.equal(await log.read(`payload-${ID}`, null, 10), []);
});

test("during an attempt nothing is erased, as its answer would be kept behind the erasure", async () => {
  const past = history();
  past.add(`delivery-${ID}`, deliveryFacts(ID).admitted());
  past.add(`delivery-${ID}`, deliveryFacts(ID).started(1, 50));
  const { erase } = await world(past.events);
  assert.is((await erase()).outcome, "conflict");
  assert.is((await erase(ADMIN, at(81))).outcome, 200);
});

/** The events' ids, by the letter that stands for each. */
const LETTERED = new Map<string, string>([
  ["a", eventIdOf("acc_1", "src_1", "d-1")],
  ["b", eventIdOf("acc_1", "src_1", "d-2")],
  ["f", eventIdOf("acc_2", "src_1", "d-1")],
  ...["c", "d", "e"].map((letter) => [letter, `evt_${letter.repeat(32)}`] as const),
]);
const idOf = (letter: string): string => LETTERED.get(letter) ?? "";
const letterOf = (id: string): string => [...LETTERED].find(([, it]) => it === id)?.[0] ?? "?";

const many = () => {
  const log = history();
  const add = (name: string, second: number, over: object, account = "acc_1") => {
    const id = idOf(name);
    log.add(`delivery-${id}`, deliveryFacts(id).admitted({ received_at: at(second), ...over }), { account });
  };
  add("a", 1, { type: "order.created", delivery_key: "d-1" });
  add("b", 2, { type: "order.updated", delivery_key: "d-2", endpoint_id: null });
  add("c", 2, { type: "refund.created", delivery_key: "d-3" });
  add("d", 3, { type: "order.created", origin: { kind: "source", id: "src_2", name: "b", type: "github" } });
  add("e", 4, {
    type: "refund",
    origin: { kind: "agent", id: "agt_1", name: "bot", type: "agent" },
    delivery_key: "k",
  });
  add("f", 5, { type: "order.created", delivery_key: "d-1" }, "acc_2");
  return log.events;
};

test("the list is newest first, filters together, and pages stay consistent while events arrive", async () => {
  const { get, views } = await world(many());
  const found = async (query: Call["query"]) => {
    const { body } = await get("/v1/events", VIEWER, { query });
    return (body.data as { id: string }[]).map(({ id }) => letterOf(id)).join("");
  };
  assert.is((await found({})).length, 5);
  assert.is(await found({ status: "recorded" }), "b");
  assert.is(await found({ source_id: "src_2" }), "d");
  assert.is(await found({ agent_id: "agt_1" }), "e");
  assert.is(await found({ source_id: "src_1", agent_id: "agt_1" }), "");
  assert.is(await found({ source_id: "src_1", status: "recorded" }), "b");
  assert.is(await found({ source_id: "src_2", status: "queued" }), "d");
  assert.is(await found({ q: "order.created", status: "queued" }), "da");
  assert.is(await found({ source_id: "src_2", status: "recorded" }), "");
  assert.is(await found({ endpoint_id: "end_1", from: at(2), to: at(4) }), "dc");
  assert.is(await found({ action: "refund" }), "e");
  assert.is(await found({ action: "order.created" }), "");
  assert.is(await found({ q: "order." }), "dba");
  assert.is(await found({ q: "ref" }), "ec");
  assert.is(await found({ q: "nothing" }), "");
  assert.is(await found({ q: "d-1" }), "a");
  assert.is(await found({ q: idOf("c") }), "c");
  assert.is(await found({ q: idOf("c"), status: "recorded" }), "");
  assert.is(await found({ q: idOf("f") }), "");

  const first = await get("/v1/events", VIEWER, { query: { limit: 2, q: "order." } });
  const before = await views.get(events.schema.name, idOf("a"));
  const position = (await views.position(events.schema.name)) ?? "";
  const newest = { ...before, received_at: at(9) };
  await views.commit(events.schema.name, position, `${position}1`, { documents: new Map([["evt_new", newest]]) });
  const cursor = first.body.next_cursor;
  assert.is(await found({ limit: 2, q: "order.", cursor }), "a");
});

test("a common status of a small source is looked for among that source's events, however far back", async () => {
  const log = history();
  for (let i = 0; i < 1_300; i += 1) {
    const [id, small] = [`evt_${String(i).padStart(4, "0")}`, i < 620];
    const origin = { kind: "source", id: small ? "src_2" : "src_1", name: "s", type: "hmac" } as const;
    const endpoint_id = small && i >= 4 ? null : "end_1";
    log.add(`delivery-${id}`, deliveryFacts(id).admitted({ origin, endpoint_id, received_at: at(i) }));
  }
  const { get } = await world(log.events);
  const query = { source_id: "src_2", status: "queued", limit: 3 };
  const first = await get("/v1/events", VIEWER, { query });
  const rest = await get("/v1/events", VIEWER, { query: { ...query, cursor: first.body.next_cursor } });
  const ids = [...(first.body.data as { id: string }[]), ...(rest.body.data as { id: string }[])].map(({ id }) => id);
  assert.equal(ids, ["evt_0003", "evt_0002", "evt_0001", "evt_0000"]);
  assert.is(rest.body.next_cursor, null);
});

test("a search by many types is newest first from page to page, also beside a rare and a common filter", async () => {
  const log = history();
  const rare = { kind: "source", id: "src_2", name: "b", type: "github" } as const;
  for (let i = 0; i < 60; i += 1) {
    const id = `evt_${String(i).padStart(2, "0")}`;
    const origin = i % 7 === 0 ? { origin: rare } : {};
    log.add(`delivery-${id}`, deliveryFacts(id).admitted({ type: `order.${i % 20}`, received_at: at(i), ...origin }));
  }
  const { get } = await world(log.events);
  const all = async (query: Call["query"]): Promise<string[]> => {
    const ids: string[] = [];
    for (let cursor: unknown; cursor !== null; ) {
      const { body } = await get("/v1/events", VIEWER, {
        query: { ...query, ...(cursor ? { cursor } : {}), limit: 7 },
      });
      ids.push(...(body.data as { id: string }[]).map(({ id }) => id));
      cursor = body.next_cursor;
    }
    return ids;
  };
  const newest = Array.from({ length: 60 }, (_, i) => `evt_${String(59 - i).padStart(2, "0")}`);
  assert.equal(await all({ q: "order." }), newest);
  assert.equal(
    await all({ q: "rder.1" }),
    newest.filter((id) => /^(1|1\d)$/.test(String(Number(id.slice(4)) % 20))),
  );
  assert.equal(
    await all({ q: "order.", source_id: "src_2" }),
    newest.filter((id) => Number(id.slice(4)) % 7 === 0),
  );
  assert.equal(await all({ q: "order.", status: "queued" }), newest);
  assert.equal(await all({ q: "order.", status: "queued", source_id: "src_1", endpoint_id: "end_2" }), []);
});

test("with more types than are kept, those that begin with the text are found", async () => {
  const log = history();
  for (let i = 0; i < 520; i += 1) {
    const id = `evt_${String(i).padStart(3, "0")}`;
    log.add(`delivery-${id}`, deliveryFacts(id).admitted({ type: `made.up.${i}`, received_at: at(i) }));
  }
  const { get } = await world(log.events);
  const { body } = await get("/v1/events", VIEWER, { query: { q: "made.up.51", limit: 3 } });
  assert.equal(
    (body.data as { id: string }[]).map(({ id }) => id),
    ["evt_519", "evt_518", "evt_517"],
  );
});

test("what a gate refused is found by the gate, its problem and its code, until it is admitted after all", async () => {
  const log = history();
  const deny = (gate: "budget" | "require_fields", code: string) => ({
    verdict: { decision: "deny", policy: null, gates: [{ gate, outcome: "deny", code, detail: "" }] } as const,
  });
  const add = (name: string, second: number, over: object) => {
    const facts = deliveryFacts(`evt_${name}`);
    log.add(`delivery-evt_${name}`, facts.blocked({ received_at: at(second), type: "budget.changed", ...over }));
  };
  add("a", 1, deny("budget", "over-budget"));
  add("b", 2, { ...deny("budget", "cost-unknown"), type: "refund" });
  add("c", 3, { ...deny("require_fields", "missing-field"), type: "refund" });
  add("d", 4, { ...deny("budget", "over-budget"), type: "refund" });
  log.add("delivery-evt_d", deliveryFacts("evt_d").admitted({ received_at: at(5), type: "refund" }));
  // Rarer than what the gate has refused.
  const rare = { kind: "source", id: "src_3", name: "b", type: "github" } as const;
  add("f", 0, { ...deny("budget", "over-budget"), type: "refund", origin: rare });
  add("g", 0, { ...deny("require_fields", "missing-field"), type: "refund", origin: rare });
  log.add("delivery-evt_e", deliveryFacts("evt_e").admitted({ received_at: at(6), type: "budget.changed" }));
  const { get } = await world(log.events);
  const found = async (query: Call["query"]) => {
    const { body } = await get("/v1/events", VIEWER, { query });
    return (body.data as { id: string }[]).map(({ id }) => id.slice(4)).join("");
  };
  assert.is(await found({ q: "gate-budget" }), "baf");
  assert.is(await found({ q: "gate-require-fields" }), "cg");
  assert.is(await found({ q: "require_fields" }), "cg");
  assert.is(await found({ q: "cost-unknown" }), "b");
  assert.is(await found({ q: "cost-unknown", status: "queued" }), "");
  assert.is(await found({ q: "cost-unknown", from: at(3) }), "");
  // A word that is both, with each event once.
  assert.is(await found({ q: "budget" }), "ebaf");
  assert.is(await found({ q: "gate-budget", source_id: "src_3" }), "f");
  assert.is(await found({ q: "budget", source_id: "src_1" }), "eba");
  assert.is(await found({ q: "budget", source_id: "src_2" }), "");
  assert.is(await found({ q: "gate-budget", action: "refund" }), "");
  assert.is(await found({ q: "gate-budget", status: "blocked", endpoint_id: "end_1" }), "baf");
  assert.is(await found({ q: "gate-budget", status: "queued" }), "");
  const { body } = await get("/v1/events", STRANGER, { query: { q: "gate-budget" } });
  assert.equal(body.data, []);
});

test("whoever pages sees each event that was there exactly once, whatever arrives or goes on meanwhile", async () => {
  for (const query of [{}, { q: "order" }, { source_id: "src_1" }, { q: "order", source_id: "src_1" }] as const) {
    const log = history();
    const add = (name: string, second: number) => {
      const facts = deliveryFacts(`evt_${name}`);
      log.add(`delivery-evt_${name}`, facts.admitted({ type: "order.created", received_at: at(second) }));
    };
    // Several of one time, so that pages end among equals.
    for (let i = 0; i < 23; i += 1) add(`old${String(i).padStart(2, "0")}`, 10 + Math.floor(i / 5));
    const { get, log: kept, project } = await world(log.events);
    const seen: string[] = [];
    for (let cursor: unknown, round = 0; cursor !== null; round += 1) {
      const { body } = await get("/v1/events", VIEWER, {
        query: { ...query, ...(cursor ? { cursor } : {}), limit: 4 },
      });
      seen.push(...(body.data as { id: string }[]).map(({ id }) => id));
      cursor = body.next_cursor;
      const before = log.events.length;
      add(`new${round}a`, 20 + round);
      // Received at the time of the oldest, and only now visible.
      add(`new${round}b`, 14);
      log.add("delivery-evt_old03", deliveryFacts("evt_old03").started(round + 1, 15));
      await appendTo(kept, log.events.slice(before));
      await project();
    }
    const old = seen.filter((id) => id.startsWith("evt_old"));
    assert.is(new Set(seen).size, seen.length);
    assert.is(old.length, 23);
    assert.not(seen.some((id) => id.endsWith("a")));
  }
});

test("the timeline says how long each stage took, how attempts ended, and what was sent again", async () => {
  const past = delivered();
  const count = (type: string, n: number, second: number) =>
    past.add(`delivery-${ID}`, { type, data: { event_id: ID, count: n, at: at(second) } });
  count("DuplicatesCounted", 2, 10);
  count("DeliveryIdReused", 1, 11);
  count("DuplicatesCounted", 3, 70);
  const { get, log } = await world(past.events);
  await keepWords(log, "acc_1", "mended");
  const { body } = await get("/v1/events/{id}/timeline");
  const stages = body.data as { stage: string; ms: number; outcome?: string; count?: number; last_at?: string }[];
  assert.equal(
    stages.map(({ stage, ms }) => [stage, ms]),
    [
      ["received", 0],
      ["authenticated", 0],
      ["gated", 0],
      ["admitted", 0],
      ["attempt", 1_000],
      ["delivered", 1_000],
      ["duplicate", 8_000],
      ["delivery_id_reused", 1_000],
    ],
  );
  assert.equal([stages[4]?.outcome, stages[6]?.count, stages[6]?.last_at], ["succeeded", 5, at(70)]);
});

test("all stages of an event with very many are told in pages, each attempt with its end", async () => {
  const facts = deliveryFacts(ID);
  const past = history();
  past.add(`delivery-${ID}`, facts.admitted());
  const ATTEMPTS = 150;
  for (let nth = 1; nth <= ATTEMPTS; nth += 1) {
    past.add(`delivery-${ID}`, facts.started(nth, 2 * nth));
    past.add(`delivery-${ID}`, facts.attemptFailed(nth, 2 * nth + 1, null));
  }
  past.add(`delivery-${ID}`, facts.failed(2 * ATTEMPTS + 2));
  const { get } = await world(past.events);
  type Told = { stage: string; at: string; ms: number; number?: number; outcome?: string };
  const told: Told[] = [];
  let cursor: string | undefined;
  do {
    const { body } = await get("/v1/events/{id}/timeline", VIEWER, {
      query: { limit: 25, ...(cursor === undefined ? {} : { cursor }) },
    });
    const page = body as { data: Told[]; next_cursor: string | null };
    assert.ok(page.data.length <= 25);
    told.push(...page.data);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  const attempts = told.filter(({ stage }) => stage === "attempt");
  assert.equal(
    attempts.map(({ number }) => number),
    Array.from({ length: ATTEMPTS }, (_, nth) => nth + 1),
  );
  assert.ok(attempts.every(({ outcome }) => outcome === "failed"));
  for (const [nth, it] of told.entries())
    assert.is(it.ms, nth === 0 ? 0 : Date.parse(it.at) - Date.parse(told[nth - 1]?.at ?? ""), `stage ${nth}`);
  const short = (await get("/v1/events/{id}/timeline")).body.data as Told[];
  assert.equal(told.slice(0, 10), short.slice(0, 10));
  // The first behind the gap tells the time since the last one before it.
  assert.equal(told.slice(-99), short.slice(-99));
  const strange = await get("/v1/events/{id}/timeline", VIEWER, { query: { limit: 25, cursor: "bm90" } });
  assert.is(strange.outcome, "invalid-request");
});

test("the timeline says who had an event replayed and why, of a blocked one that was decided again as well", async () => {
  const facts = deliveryFacts(ID);
  const key = { kind: "key", id: "key_1" } as const;
  const past = history();
  past.add(`delivery-${ID}`, facts.blocked());
  past.add(`delivery-${ID}`, facts.admitted({ replay: { id: "rpl_1", by: key, reason: null }, at: at(50) }));
  past.add(`delivery-${ID}`, facts.started(1, 51));
  past.add(`delivery-${ID}`, facts.attemptFailed(1, 52, null));
  past.add(`delivery-${ID}`, facts.failed(52));
  past.add(`delivery-${ID}`, facts.replayed(60, { id: "rpl_2" }));
  const { get, log } = await world(past.events);
  await keepWords(log, "acc_1", "mended");
  const { body } = await get("/v1/events/{id}/timeline");
  const stages = body.data as { stage: string; by?: unknown; reason?: string }[];
  assert.equal(
    stages.filter(({ by }) => by !== undefined).map(({ stage, by, reason }) => [stage, by, reason]),
    [
      ["replayed", key, undefined],
      ["replayed", { kind: "member", id: "mem_1" }, "mended"],
    ],
  );
  assert.is(stages.filter(({ stage }) => stage === "replayed").length, 2);
});

const listed = async (get: Awaited<ReturnType<typeof world>>["get"]) => {
  const { body } = await get("/v1/events");
  return (body.data as { end_reason: string | null }[])[0]?.end_reason;
};

test("what ended before it was sent says why, in lists as by itself, in the words of the person", async () => {
  const facts = deliveryFacts(ID);
  const ends = [
    [facts.holdEnded(2, "rejected"), "Wrong customer"],
    [facts.cancelled(2), "The agent was suspended: Under review"],
  ] as const;
  for (const [end, text] of ends) {
    const [before, own] = text.split(/(?<=: )/);
    const reason = own === undefined ? words(text) : { sentence: (before ?? "").replace(": ", ""), words: words(own) };
    const past = history();
    const definition = { name: "payments" };
    past.add("policy-pol_1", { type: "PolicyPublished", data: { policy_id: "pol_1", version: 1, definition } });
    past.add(`delivery-${ID}`, facts.held());
    past.add(`delivery-${ID}`, { ...end, data: { ...end.data, reason } });
    const { get, log } = await world(past.events);
    await keepWords(log, "acc_1", own ?? text);
    assert.is(await listed(get), text);
    assert.is((await get("/v1/events/{id}")).body.end_reason, text);
  }
  const { get } = await world(delivered().events);
  assert.is(await listed(get), null);
});

test("nothing is erased for a blank reason: the record of it would say nothing", async () => {
  const log = memoryEventLog();
  const reader = payloads(log, { bytes: (size) => new Uint8Array(size), number: () => 0 });
  const views = memoryViewStore([events.schema, gateDenials.schema, bundles.schema]);
  const personal = personalData(log, randomness);
  const app = await testApp(
    eventRoutes({ views, log, payloads: reader, publicUrl: () => PUBLIC_URL, calls: NO_CALLS, personal }),
    { log },
  );
  const headers = { ...COOKIE, ...SAME_ORIGIN };
  const erase = (reason: string) =>
    app.inject({ method: "DELETE", url: `/v1/events/${ID}/payload`, headers, payload: { reason } });
  const blank = await erase("  ");
  assert.equal([blank.statusCode, blank.json().detail], [400, "In the body: /reason must not be blank."]);
  assert.is((await erase("asked for")).statusCode, 404, "what is said goes on to the event, which is not there");
  await app.close();
});

test.run();
