import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { agentClient } from "../../../src/sdk/client.ts";
import { type CountersignError, isCountersignError } from "../../../src/sdk/errors.ts";
import type { FetchAnswer } from "../../../src/sdk/platform.ts";
import {
  answer,
  BUNDLE,
  bundleState,
  delivered,
  EVENT,
  problem,
  type Responder,
  state,
  unreachable,
  VERDICT,
  type VirtualPlatform,
  virtualPlatform,
} from "./virtual-platform.ts";

const OPTIONS = { baseUrl: "https://countersign.test/", key: "csa_secret" };
const STEPS = [
  { action: "order.create", payload: { sku: "s-1" } },
  { action: "mail.send", payload: { order: { $result: { step: 0, pointer: "/id" } } } },
];
const NEVER: Responder = () => new Promise(() => {});

const world = (...responders: Responder[]) => {
  const platform = virtualPlatform(responders);
  return { platform, client: agentClient(OPTIONS, platform) };
};

/** The error that it ends with; anything else fails the test. */
const errorOf = async (work: Promise<unknown>): Promise<CountersignError> => {
  const error = await work.then(
    (value) => assert.unreachable(`answered ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  if (!isCountersignError(error)) throw error;
  return error;
};

const waits = ({ sent }: VirtualPlatform): number[] =>
  sent.slice(1).map(({ at }, index) => at - (sent[index]?.at ?? 0));
const keys = ({ sent }: VirtualPlatform): Set<string | undefined> =>
  new Set(sent.map(({ headers }) => headers["idempotency-key"]));

const test = suite("the client of an agent");

test("an action is asked for as the interface says, and answered with its target's result", async () => {
  const { platform, client } = world(() => delivered());
  const done = await client.execute(
    "refund.create",
    { charge: "ch_1" },
    { runId: "run-1", waitMs: 5_000, costEur: 0.5, depth: 2, traceparent: "00-a-b-01", idempotencyKey: "job 7" },
  );
  const result = { statusCode: 201, body: { refund: "re_1" } };
  assert.equal(done, { status: "delivered", eventId: EVENT, replayed: false, verdict: VERDICT, costEur: 0.02, result });
  const [sent] = platform.sent;
  assert.is(sent?.url, "https://countersign.test/v1/execute");
  assert.is(sent?.method, "POST");
  assert.equal(sent?.headers, {
    accept: "application/json",
    authorization: "Bearer csa_secret",
    "content-type": "application/json",
    "idempotency-key": '"job 7"',
    "countersign-depth": "2",
    traceparent: "00-a-b-01",
  });
  assert.equal(JSON.parse(sent?.body ?? ""), {
    action: "refund.create",
    payload: { charge: "ch_1" },
    run_id: "run-1",
    cost_eur: 0.5,
    wait_ms: 5_000,
  });
  assert.is(platform.timers(), 0);
});

test("a path of the service's address is kept", async () => {
  const platform = virtualPlatform([() => delivered()]);
  await agentClient({ ...OPTIONS, baseUrl: "http://127.0.0.1:8080/gate//" }, platform).execute("a", {});
  assert.is(platform.sent[0]?.url, "http://127.0.0.1:8080/gate/v1/execute");
});

test("a result that is truncated, binary or erased is marked as such", async () => {
  const { client } = world(
    () => state("delivered", { result: { status_code: 200, body: "half a", truncated: true } }, 200),
    () => state("delivered", { result: { status_code: 200, body: "AAE=", encoding: "base64" } }, 200),
    () => state("delivered", { result: { status_code: 204, body: null } }, 200),
  );
  const results = [];
  for (let call = 0; call < 3; call += 1) {
    const done = await client.execute("a", {});
    results.push(done.status === "delivered" ? done.result : null);
  }
  assert.equal(results, [
    { statusCode: 200, body: "half a", truncated: true },
    { statusCode: 200, body: "AAE=", encoding: "base64" },
    { statusCode: 204, body: null },
  ]);
});

test("an answer that was given before says so", async () => {
  const { client } = world(() => delivered({}, { "idempotent-replayed": "true" }));
  assert.is((await client.execute("a", {})).replayed, true);
});

test("each call has a different key, and each attempt of a call the same key and the same bytes", async () => {
  const { platform, client } = world(
    unreachable,
    () => answer(503, "later"),
    () => delivered(),
  );
  await client.execute("a", { n: 1 });
  assert.is(platform.sent.length, 3);
  assert.is(keys(platform).size, 1);
  assert.is(new Set(platform.sent.map(({ body }) => body)).size, 1);
  await client.execute("a", { n: 1 });
  assert.is(keys(platform).size, 2);
});

test("a key is sent as a string with its quotes escaped", async () => {
  const { platform, client } = world(() => delivered());
  await client.execute("a", {}, { idempotencyKey: 'a "b" \\' });
  assert.is(platform.sent[0]?.headers["idempotency-key"], '"a \\"b\\" \\\\"');
});

const PASSING: Readonly<Record<string, Responder>> = {
  "no connection": unreachable,
  "an answer that breaks off": () => ({ ...delivered(), text: () => Promise.reject(new TypeError("terminated")) }),
  "408": () => problem(408, "request-timeout", { retryable: true }),
  "409 in-progress": () => problem(409, "in-progress", { retryable: true }, { "retry-after": "1" }),
  "429 rate-limited": () => problem(429, "rate-limited", { retryable: true }, { "retry-after": "2" }),
  "429 gate-rate": () => problem(429, "gate-rate", { retryable: true }, { "retry-after": "2" }),
  "429 of a proxy": () => answer(429, "slow down"),
  "500": () => problem(500, "internal", { retryable: true }),
  "502 of a proxy": () => answer(502, "<html>Bad gateway</html>"),
  "503": () => problem(503, "overloaded", { retryable: true }, { "retry-after": "1" }),
  "504 of a proxy": () => answer(504, ""),
  "a code of a later version that may pass": () => problem(503, "tired", { retryable: true }),
};
for (const [name, passing] of Object.entries(PASSING)) {
  test(`tried again: ${name}`, async () => {
    const { platform, client } = world(passing, () => delivered());
    assert.is((await client.execute("a", {})).status, "delivered");
    assert.is(platform.sent.length, 2);
    assert.is(keys(platform).size, 1);
  });
}

const FINAL: readonly (readonly [number, string, boolean])[] = [
  [400, "invalid-request", false],
  [401, "unauthenticated", false],
  [403, "agent-suspended", false],
  [403, "out-of-scope", false],
  [404, "unknown-action", false],
  [409, "conflict", false],
  [413, "too-large", false],
  [422, "idempotency-key-reused", false],
  [422, "gate-content", false],
  [429, "gate-budget", true],
  [429, "gate-loop", true],
  [429, "gate-quota", true],
];
for (const [status, code, retryable] of FINAL) {
  test(`not tried again: ${code}`, async () => {
    const { platform, client } = world(() => problem(status, code, { retryable }, { "retry-after": "1" }));
    const error = await errorOf(client.execute("a", {}));
    assert.equal([error.code, error.status, error.retryable], [code, status, retryable]);
    assert.is(platform.sent.length, 1);
  });
}

test("a gate of a later version is not tried again either", async () => {
  const { platform, client } = world(() => problem(429, "gate-mood", { retryable: true }));
  assert.is((await errorOf(client.execute("a", {}))).code, "unknown");
  assert.is(platform.sent.length, 1);
});

test("502 with status failed is the end of the action, not tried again, and an answer", async () => {
  const failure = { kind: "http-5xx", detail: "500" };
  const { platform, client } = world(() =>
    state("failed", { failure, result: { status_code: 500, body: "no" }, verdict: VERDICT }, 502),
  );
  const result = { statusCode: 500, body: "no" };
  const done = await client.execute("a", {});
  assert.equal(done, {
    status: "failed",
    eventId: EVENT,
    replayed: false,
    verdict: VERDICT,
    costEur: null,
    result,
    failure,
  });
  assert.is(platform.sent.length, 1);
});

test("attempts are bounded, with full jitter between them, and the error has the key to go on with", async () => {
  const platform = virtualPlatform([unreachable], { random: () => 0.999 });
  const error = await errorOf(agentClient(OPTIONS, platform).execute("a", {}));
  assert.is(platform.sent.length, 6);
  assert.equal(waits(platform).map(Math.round), [500, 999, 1_998, 3_996, 7_992]);
  assert.equal([error.code, error.retryable, error.status], ["network", true, null]);
  assert.is(error.idempotencyKey, "key-1");
  assert.instance(error.cause, TypeError);

  const eager = virtualPlatform([unreachable], { random: () => 0 });
  await errorOf(agentClient({ ...OPTIONS, attemptsMax: 3 }, eager).execute("a", {}));
  assert.equal(waits(eager), [0, 0]);
});

test("Retry-After is waited for, in seconds or as a date", async () => {
  const { platform, client } = world(
    () => problem(429, "rate-limited", { retryable: true }, { "retry-after": "7" }),
    () => delivered(),
  );
  await client.execute("a", {});
  assert.equal(waits(platform), [7_250]);

  const date = new Date(Date.now() + 20_000).toUTCString();
  const dated = world(
    () => answer(503, "", { "retry-after": date }),
    () => delivered(),
  );
  await dated.client.execute("a", {});
  const [waited = 0] = waits(dated.platform);
  assert.ok(waited > 15_000 && waited < 21_000, String(waited));
});

test("a Retry-After beyond the remaining time ends the call at once", async () => {
  const { platform, client } = world(() =>
    problem(429, "rate-limited", { retryable: true }, { "retry-after": "3600" }),
  );
  const error = await errorOf(client.execute("a", {}));
  assert.equal([error.code, error.retryAfterMs], ["rate-limited", 3_600_000]);
  assert.is(platform.now(), 0);
  assert.is(platform.sent.length, 1);
});

test("a request that still runs is asked for until it is answered, however often", async () => {
  const running = Array.from({ length: 12 }, () => PASSING["409 in-progress"] ?? NEVER);
  const { platform, client } = world(...running, () => delivered());
  assert.is((await client.execute("a", {})).status, "delivered");
  assert.is(platform.sent.length, 13);
});

test("an attempt without an answer is given up and repeated, even when fetch looks at no signal", async () => {
  const { platform, client } = world(NEVER, () => delivered());
  assert.is((await client.execute("a", {}, { waitMs: 1_000 })).status, "delivered");
  assert.ok(platform.sent[0]?.signal.aborted);
  assert.ok((platform.sent[1]?.at ?? 0) >= 11_000);
  assert.is(platform.timers(), 0);
});

test("all attempts together end in time", async () => {
  const { platform, client } = world(NEVER);
  const error = await errorOf(client.execute("a", {}, { timeoutMs: 3_000 }));
  assert.equal([error.code, error.retryable, error.idempotencyKey], ["timeout", true, "key-1"]);
  assert.is(platform.now(), 3_000);
  const whole = world(NEVER);
  assert.is((await errorOf(whole.client.execute("a", {}))).code, "timeout");
  assert.ok(whole.platform.now() <= 70_000);
});

test("an aborted signal ends the call with its reason: before, while it waits for an answer, between attempts", async () => {
  const reason = new Error("the user has left");
  const before = world(() => delivered());
  const thrown = await before.client.execute("a", {}, { signal: AbortSignal.abort(reason) }).catch((it) => it);
  assert.is(thrown, reason);
  assert.is(before.platform.sent.length, 0);

  for (const responder of [NEVER, unreachable]) {
    const { platform, client } = world(responder);
    const ending = new AbortController();
    platform.after(100, () => ending.abort(reason));
    const work = client.execute("a", {}, { signal: ending.signal });
    assert.is(await work.catch((it) => it), reason);
    assert.is(platform.now(), 100);
    assert.is(platform.sent.length, 1);
    assert.is(platform.timers(), 0);
  }
});

test("a signal without a reason ends a call as an AbortError", async () => {
  const { platform, client } = world(NEVER);
  const ending = new AbortController();
  platform.after(100, () => ending.abort());
  const error = await client.execute("a", {}, { signal: ending.signal }).catch((it) => it);
  assert.is(error.name, "AbortError");
});

test("a signal that lives long is not listened to after a call", async () => {
  const { client } = world(unreachable, () => delivered());
  const { signal } = new AbortController();
  let listeners = 0;
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners += 1;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...args);
  };
  await client.execute("a", {}, { signal });
  assert.is(listeners, 0);
});

/** An answer that comes when the wait that was asked for is over. */
const atTheEnd =
  (platform: () => VirtualPlatform, of: () => ReturnType<Responder>, underWayMs = 0): Responder =>
  ({ url, body }) =>
    new Promise((resolve) => {
      const asked = new URL(url).searchParams.get("wait_ms") ?? JSON.parse(body ?? "{}").wait_ms;
      platform().after(Number(asked) + underWayMs, () => resolve(of()));
    });

test("a wait longer than a request's goes on by asking how far it is", async () => {
  const queued = atTheEnd(
    () => platform,
    () => state("queued"),
  );
  const { platform, client }: ReturnType<typeof world> = world(queued, queued, queued, () => delivered());
  const done = await client.execute("a", {}, { waitMs: 100_000, traceparent: "00-a-b-01" });
  assert.is(done.status, "delivered");
  assert.equal(
    platform.sent.map(({ method, url }) => `${method} ${new URL(url).pathname}${new URL(url).search}`),
    [
      "POST /v1/execute",
      `GET /v1/executions/${EVENT}?wait_ms=30000`,
      `GET /v1/executions/${EVENT}?wait_ms=30000`,
      `GET /v1/executions/${EVENT}?wait_ms=10000`,
    ],
  );
  assert.is(JSON.parse(platform.sent[0]?.body ?? "").wait_ms, 30_000);
  assert.is(platform.sent[1]?.headers.traceparent, "00-a-b-01");
  assert.is(platform.sent[1]?.headers["idempotency-key"], undefined);
});

test("an execution that has not ended after the wait is returned with its state", async () => {
  const queued = atTheEnd(
    () => platform,
    () => state("retrying"),
  );
  const { platform, client }: ReturnType<typeof world> = world(queued);
  const done = await client.execute("a", {}, { waitMs: 40_000 });
  assert.equal(done, { status: "retrying", eventId: EVENT, replayed: false, verdict: null, costEur: null });
  assert.is(platform.now(), 40_000);
});

test("an accepted action is a result even if its state cannot be read afterwards", async () => {
  const { client } = world(() => state("queued"), unreachable);
  assert.is((await client.execute("a", {}, { waitMs: 60_000 })).status, "queued");
});

test("a refusal to see how it goes on is an error", async () => {
  const { client } = world(
    () => state("queued"),
    () => problem(403, "agent-suspended", { retryable: false }),
  );
  assert.is((await errorOf(client.execute("a", {}, { waitMs: 60_000 }))).code, "agent-suspended");
});

test("without a wait nothing is asked twice", async () => {
  const { platform, client } = world(() => state("queued"));
  assert.is((await client.execute("a", {}, { waitMs: 0 })).status, "queued");
  assert.is(platform.sent.length, 1);
});

test("a held execution is returned at once", async () => {
  const { platform, client } = world(() => state("held", { approval_id: "apr_1" }));
  const held = await client.execute("a", {}, { waitMs: 100_000 });
  assert.equal(held, {
    status: "held",
    eventId: EVENT,
    replayed: false,
    verdict: null,
    costEur: null,
    approvalId: "apr_1",
  });
  assert.is(platform.sent.length, 1);
});

test("how far an execution is can be asked for", async () => {
  const { platform, client } = world(() => state("delivering"));
  assert.is((await client.execution(EVENT)).status, "delivering");
  assert.is(platform.sent[0]?.url, `https://countersign.test/v1/executions/${EVENT}?wait_ms=0`);
});

const HTTP_STATUS: Readonly<Record<string, number>> = {
  delivered: 200,
  failed: 502,
  rejected: 409,
  expired: 409,
  cancelled: 409,
};
for (const status of Object.keys(HTTP_STATUS)) {
  test(`a wait for an approval ends when it is ${status}`, async () => {
    const held = atTheEnd(
      () => platform,
      () => state("held", { approval_id: "apr_1" }),
    );
    const more = { approval_id: "apr_1", result: { status_code: 200, body: null } };
    const { platform, client }: ReturnType<typeof world> = world(
      held,
      held,
      () => state("queued"),
      () => state(status, more, HTTP_STATUS[status]),
    );
    assert.is((await client.waitForApproval(EVENT)).status, status);
    assert.is(platform.sent.length, 4);
  });
}

test("a service that answers before its time is not asked again at once", async () => {
  const { platform, client } = world(() => state("held", { approval_id: "apr_1" }));
  const error = await errorOf(client.waitForApproval(EVENT, { timeoutMs: 60_000 }));
  assert.equal([error.code, error.eventId, error.retryable], ["timeout", EVENT, true]);
  assert.ok(platform.now() <= 60_000);
  const pauses = waits(platform).slice(0, -1);
  assert.ok(pauses.every((pause) => pause >= 500 && pause <= 5_000));
  assert.ok(platform.sent.length < 30, String(platform.sent.length));
});

test("a wait for an approval outlasts minutes without the service, not all time", async () => {
  const { platform, client } = world((sent) => (sent.at < 240_000 ? unreachable(sent) : state("rejected")));
  assert.is((await client.waitForApproval(EVENT)).status, "rejected");
  assert.ok(platform.now() >= 240_000);

  const gone = world(unreachable);
  assert.is((await errorOf(gone.client.waitForApproval(EVENT))).code, "network");
  assert.ok(gone.platform.now() > 300_000 && gone.platform.now() < 400_000);
});

test("a wait for an approval ends by its signal and by its time", async () => {
  const held = atTheEnd(
    () => platform,
    () => state("held", { approval_id: "apr_1" }),
  );
  const { platform, client }: ReturnType<typeof world> = world(held);
  const ending = new AbortController();
  platform.after(100_000, () => ending.abort());
  const error = await client.waitForApproval(EVENT, { signal: ending.signal }).catch((it) => it);
  assert.is(error.name, "AbortError");
  assert.is(platform.now(), 100_000);
  const late = await errorOf(client.waitForApproval(EVENT, { timeoutMs: 45_000 }));
  assert.is(late.code, "timeout");
  assert.is(platform.now(), 145_000);
});

test("a wait whose time is over says how far it is, however long the last answer is under way", async () => {
  const held = atTheEnd(
    () => platform,
    () => state("held", { approval_id: "apr_1" }),
    300,
  );
  const { platform, client }: ReturnType<typeof world> = world(held);
  const error = await errorOf(client.waitForApproval(EVENT, { timeoutMs: 45_000 }));
  assert.equal([error.code, error.eventId, error.detail], ["timeout", EVENT, "It is still held."]);
  assert.is(platform.now(), 45_300);
});

test("a wait without any time looks once", async () => {
  const done = world(() => state("rejected"));
  assert.is((await done.client.waitForApproval(EVENT, { timeoutMs: 0 })).status, "rejected");
  const held = world(() => state("held", { approval_id: "apr_1" }));
  const error = await errorOf(held.client.waitForApproval(EVENT, { timeoutMs: 0 }));
  assert.equal([error.detail, held.platform.sent.length], ["It is still held.", 1]);
});

test("a bundle is asked for as the interface says, and answered step by step", async () => {
  const { platform, client } = world(() =>
    bundleState(
      "rollback_incomplete",
      {
        approval_id: "apr_1",
        reason: "Step 1 failed.",
        steps: [
          {
            ...{ index: 0, action: "order.create", status: "compensation_failed", refusal: null },
            ...{ event_id: "evt_1", compensation_event_id: "evt_2", result: { status_code: 201, body: { id: 7 } } },
          },
          {
            index: 1,
            action: "mail.send",
            status: "skipped",
            event_id: null,
            compensation_event_id: null,
            result: null,
          },
        ],
        left: [{ index: 0, action: "order.create", why: "It was refused." }],
      },
      200,
    ),
  );
  const options = { name: "order", runId: "run-1", waitMs: 5_000, depth: 2, idempotencyKey: "o-1" };
  assert.equal(await client.bundle(STEPS, options), {
    bundleId: BUNDLE,
    status: "rollback_incomplete",
    replayed: false,
    verdict: VERDICT,
    costEur: 0.5,
    approvalId: "apr_1",
    reason: "Step 1 failed.",
    steps: [
      {
        ...{ index: 0, action: "order.create", status: "compensation_failed" },
        ...{ eventId: "evt_1", compensationEventId: "evt_2", result: { statusCode: 201, body: { id: 7 } } },
      },
      { index: 1, action: "mail.send", status: "skipped", eventId: null, compensationEventId: null, result: null },
    ],
    left: [{ index: 0, action: "order.create", why: "It was refused." }],
  });
  const [sent] = platform.sent;
  assert.is(`${sent?.method} ${sent?.url}`, "POST https://countersign.test/v1/bundles");
  assert.is(sent?.headers["idempotency-key"], '"o-1"');
  assert.is(sent?.headers["countersign-depth"], "2");
  assert.equal(JSON.parse(sent?.body ?? ""), { name: "order", steps: STEPS, run_id: "run-1", wait_ms: 5_000 });
});

test("a bundle that takes longer than a request may wait is asked for until it has ended", async () => {
  const running = atTheEnd(
    () => platform,
    () => bundleState("rolling_back"),
  );
  const ended = (): FetchAnswer => bundleState("rolled_back", {}, 200);
  const { platform, client }: ReturnType<typeof world> = world(running, running, ended);
  assert.is((await client.bundle(STEPS, { waitMs: 100_000 })).status, "rolled_back");
  assert.equal(
    platform.sent.map(({ method, url }) => `${method} ${new URL(url).pathname}${new URL(url).search}`),
    ["POST /v1/bundles", `GET /v1/bundles/${BUNDLE}?wait_ms=30000`, `GET /v1/bundles/${BUNDLE}?wait_ms=30000`],
  );
});

test("a held bundle is returned at once, and can be waited for until people have decided and it has ended", async () => {
  const held = atTheEnd(
    () => platform,
    () => bundleState("held", { approval_id: "apr_1" }),
  );
  const { platform, client }: ReturnType<typeof world> = world(
    () => bundleState("held", { approval_id: "apr_1" }),
    held,
    () => bundleState("running"),
    () => bundleState("committed", {}, 200),
  );
  const { status, bundleId, approvalId } = await client.bundle(STEPS, { waitMs: 100_000 });
  assert.equal([status, bundleId, approvalId, platform.sent.length], ["held", BUNDLE, "apr_1", 1]);
  assert.is((await client.waitForBundle(bundleId)).status, "committed");
  assert.is(platform.sent.length, 4);

  const late = world(() => bundleState("held"));
  const error = await errorOf(late.client.waitForBundle(BUNDLE, { timeoutMs: 10_000 }));
  assert.equal([error.code, error.bundleId, error.eventId], ["timeout", BUNDLE, null]);
});

test("a bundle that is refused is an error with its code, its verdict and the places of what is wrong", async () => {
  const errors = [{ path: "/steps/0", message: "is irreversible and not the last one" }];
  const wrong = world(() => problem(422, "irreversible-not-last", { retryable: false, errors }));
  const refused = await errorOf(wrong.client.bundle(STEPS));
  assert.equal([refused.code, refused.errors, refused.bundleId], ["irreversible-not-last", errors, null]);
  const verdict = { ...VERDICT, decision: "deny" };
  const denied = world(() => problem(429, "gate-budget", { retryable: true, bundle_id: BUNDLE, verdict }));
  const error = await errorOf(denied.client.bundle(STEPS));
  assert.equal([error.code, error.bundleId, error.verdict?.decision], ["gate-budget", BUNDLE, "deny"]);
});

test("an answer that is no bundle is an invalid response", async () => {
  for (const more of [{ status: "paused" }, { steps: {} }, { id: 1 }, { steps: [1] }]) {
    const { client } = world(() => bundleState("committed", more, 200));
    assert.is((await errorOf(client.bundle(STEPS))).code, "invalid-response");
  }
});

test("an invalid call is an error, and nothing is sent", async () => {
  const { platform, client } = world(() => delivered());
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const wrong: Promise<unknown>[] = [
    client.execute("a", circular),
    client.execute("a", 1n),
    client.execute("a", { amount: Number.NaN }),
    client.execute("a", [{ amount: -Infinity }]),
    client.execute("a", {}, { costEur: Infinity }),
    client.execute("a", {}, { waitMs: Number.NaN }),
    client.execute("a", {}, { waitMs: -1 }),
    client.execute("a", {}, { timeoutMs: -1 }),
    client.execute("a", {}, { idempotencyKey: "naïve" }),
    client.execute("a", {}, { traceparent: "a\r\nb: c" }),
    client.execution("../api-keys"),
    client.waitForApproval(""),
    client.waitForBundle("../agents"),
    client.bundle([{ action: "a", payload: Number.NaN }]),
  ];
  for (const work of wrong) {
    const error = await errorOf(work);
    assert.equal([error.code, error.status, error.retryable], ["invalid-request", null, false]);
  }
  assert.is(platform.sent.length, 0);
});

test("invalid options are an error of the constructor, which does not repeat the key", () => {
  const platform = virtualPlatform([]);
  for (const baseUrl of ["", "countersign.test", "ftp://a.test", "https://u:p@a.test", "https://a.test/?a=1"])
    assert.throws(() => agentClient({ ...OPTIONS, baseUrl }, platform), isCountersignError);
  try {
    agentClient({ ...OPTIONS, key: "csa_se\ncret" }, platform);
    assert.unreachable();
  } catch (error) {
    assert.ok(isCountersignError(error, "invalid-request"));
    assert.not.match(String(error), "cret");
  }
});

test("after any answer a call ends with an execution or with a CountersignError", async () => {
  const json = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        event_id: fc.oneof(fc.constant(EVENT), fc.jsonValue()),
        status: fc.oneof(fc.constantFrom("delivered", "held", "failed", "expired", "new"), fc.jsonValue()),
        result: fc.oneof(fc.record({ status_code: fc.nat(), body: fc.jsonValue() }), fc.jsonValue()),
        verdict: fc.jsonValue(),
        approval_id: fc.jsonValue(),
        failure: fc.jsonValue(),
        code: fc.oneof(fc.constantFrom("gate-rate", "internal", "__proto__", "toString"), fc.jsonValue()),
        errors: fc.jsonValue(),
        detail: fc.jsonValue(),
        retryable: fc.jsonValue(),
      },
      { requiredKeys: [] },
    ),
  );
  const body = fc.oneof(fc.string(), json);
  const header = fc.option(fc.string(), { nil: undefined });
  const answers = fc.array(fc.tuple(fc.integer({ min: 100, max: 599 }), body, header), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(answers, async (list) => {
      const { client } = world(
        ...list.map(
          ([status, it, after]) =>
            () =>
              answer(status, it, after === undefined ? {} : { "retry-after": after }),
        ),
      );
      try {
        const done = await client.execute("a", {});
        assert.type(done.eventId, "string");
      } catch (error) {
        assert.ok(isCountersignError(error), String(error));
      }
    }),
    { numRuns: 300 },
  );
});

test.run();
