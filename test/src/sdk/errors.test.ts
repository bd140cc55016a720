import { inspect } from "node:util";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { agentClient } from "../../../src/sdk/client.ts";
import { Countersign, CountersignError, ERROR_CODES, isCountersignError } from "../../../src/sdk/index.ts";
import { PROBLEMS } from "../../../src/streams/problems.ts";
import {
  answer,
  delivered,
  EVENT,
  problem,
  type Responder,
  state,
  VERDICT,
  virtualPlatform,
} from "./virtual-platform.ts";

const OPTIONS = { baseUrl: "https://countersign.test", key: "csa_secret" };

const failing = async (responder: Responder): Promise<unknown> =>
  agentClient(OPTIONS, virtualPlatform([responder]))
    .execute("a", {})
    .then(
      () => assert.unreachable(),
      (error: unknown) => error,
    );

/** What no agent is answered: they are of logins, of webhooks, of what is configured, and of who approves. */
const NOT_FOR_AGENTS: readonly string[] = [
  "invalid-credentials",
  "invalid-signature",
  "cross-site",
  "plan-limit",
  "person-required",
  "too-few-approvers",
  "email-taken",
  "signup-closed",
  "delivery-id-reused",
  "source-paused",
  "endpoint-in-use",
  "policy-in-use",
  "weak-password",
  "unknown-provider",
  "address-not-allowed",
  "invalid-policy",
  "invalid-action",
  "payload-damaged",
  "payload-not-kept",
  "self-approval",
  "digest-mismatch",
  "already-decided",
  "already-delivered",
  "endpoint-disabled",
  "expired",
  "not-sealed",
  "not-witnessed",
  "unknown-event-type",
  "authorization-pending",
  "slow-down",
  "access-denied",
  "expired-token",
];

const test = suite("the errors of the client");

test("every code of the service that an agent may meet is one of the union", () => {
  const known: readonly string[] = [...ERROR_CODES, ...NOT_FOR_AGENTS];
  const unknown = Object.keys(PROBLEMS).filter((code) => !known.includes(code));
  assert.equal(unknown, []);
});

test("a problem's members are all there", async () => {
  const error = await failing(() =>
    problem(422, "gate-schema", {
      detail: "amount must be a number.",
      retryable: false,
      trace_id: "t1",
      event_id: EVENT,
      verdict: { ...VERDICT, decision: "deny" },
      errors: [{ path: "/payload/amount", message: "must be a number" }, "no error"],
    }),
  );
  assert.ok(isCountersignError(error, "gate-schema"));
  const { code, serverCode, detail, status, traceId, eventId, verdict, errors, retryable, retryAfterMs } = error;
  assert.equal([code, serverCode, status, retryable, retryAfterMs], ["gate-schema", "gate-schema", 422, false, null]);
  assert.equal([detail, traceId, eventId], ["amount must be a number.", "t1", EVENT]);
  assert.is(verdict?.decision, "deny");
  assert.equal(errors, [{ path: "/payload/amount", message: "must be a number" }]);
  assert.is(error.message, "gate-schema: amount must be a number.");
  assert.instance(error, Error);
});

test("a code that this version does not know is the member of the union for it", async () => {
  const error = await failing(() => problem(418, "teapot", { retryable: false }));
  assert.ok(isCountersignError(error, "unknown"));
  assert.is(error.serverCode, "teapot");
  assert.match(error.message, "teapot");
});

test("names of Object's own members are unknown codes", async () => {
  for (const code of ["__proto__", "constructor", "toString"]) {
    const error = await failing(() => problem(400, code));
    assert.ok(isCountersignError(error, "unknown"));
  }
});

const NOT_UNDERSTOOD: Readonly<Record<string, Responder>> = {
  "a page": () => answer(200, "<html>Log in</html>"),
  "a redirect": () => answer(302, "", { location: "https://elsewhere.test" }),
  "a state of a later version": () => state("paused"),
  "a state of a later version with a status that may pass": () => state("paused", {}, 502),
  "delivered without a result": () => state("delivered", {}, 200),
  "held without an approval": () => state("held"),
  nothing: () => answer(204, ""),
};
for (const [name, responder] of Object.entries(NOT_UNDERSTOOD)) {
  test(`not understood, and not tried again: ${name}`, async () => {
    const error = await failing(responder);
    assert.ok(isCountersignError(error, "invalid-response"), String(error));
    assert.is(error.retryable, false);
  });
}

test("an unknown state is an error with the execution's id", async () => {
  const error = await failing(() => state("paused"));
  assert.ok(isCountersignError(error));
  assert.is(error.eventId, EVENT);
});

test("the guard knows the errors of another copy of the package, and nothing else", () => {
  const error = new CountersignError({ code: "timeout", detail: "late", retryable: true });
  const copy = Object.assign(new Error("x"), { [Symbol.for("countersign.error")]: true, code: "timeout" });
  assert.ok(isCountersignError(error));
  assert.ok(isCountersignError(error, "network", "timeout"));
  assert.ok(isCountersignError(copy, "timeout"));
  assert.not(isCountersignError(error, "network"));
  for (const other of [null, undefined, "timeout", {}, new Error("timeout")]) assert.not(isCountersignError(other));
});

test("the key is seen neither in a client nor in an error", async () => {
  const countersign = new Countersign({ ...OPTIONS, fetch: async () => answer(401, "") });
  assert.not.match(inspect(countersign, { depth: 9, showHidden: true }), "csa_secret");
  const error = await countersign.execute("a", {}).catch((it: unknown) => it);
  assert.ok(isCountersignError(error));
  assert.not.match(inspect(error, { depth: 9, showHidden: true }), "csa_secret");
});

test("the platform's own fetch, clock and randomness are used when nothing else is given", async () => {
  const original = globalThis.fetch;
  const sent: string[] = [];
  // As a browser's: it may only be called as a function of its own.
  globalThis.fetch = async function (this: unknown, _url, init) {
    assert.is(this, undefined);
    sent.push(String(new Headers(init?.headers).get("idempotency-key")));
    const { status, text } = sent.length === 1 ? answer(503, "") : delivered();
    return new Response(await text(), { status });
  };
  try {
    const countersign = new Countersign(OPTIONS);
    assert.is((await countersign.execute("a", {})).status, "delivered");
    await countersign.execute("a", {});
  } finally {
    globalThis.fetch = original;
  }
  const [first, second, third] = sent;
  assert.match(first ?? "", /^"\d+(?:-\d+){3}"$/);
  assert.is(first, second);
  assert.is.not(first, third);
});

test.run();
