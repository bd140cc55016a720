import { suite } from "uvu";
import * as assert from "uvu/assert";
import { DENY_RULES_MAX, FIELDS_MAX, parseDefinition } from "../../../src/gates/policy-input.ts";

const test = suite("parse definition");

const errorsOf = (definition: unknown): readonly string[] => {
  const parsed = parseDefinition(definition);
  return parsed.ok ? [] : parsed.errors.map(({ path }) => path);
};

test("the API's example is a valid definition", () => {
  const definition = {
    name: "payments",
    budget_eur_day: 250,
    rate_per_minute: 60,
    require_fields: ["data.object.id", "/a~1b"],
    block_on_violation: true,
    cost: { fixed_eur: 0.02 },
    schema: { type: "object" },
    deny: [{ name: "no refunds over 500", when: "payload.data.object.amount > 50000" }],
    redact: ["data.object.card"],
    loop: { max_identical: 3, window_s: 600, max_per_run: 50 },
    approval: { when: "cost_eur >= 100.0", min_approvals: 1, exclude_requester: true, expires_after_s: 3600 },
  };
  assert.equal(parseDefinition(definition), { ok: true, definition });
});

test("a policy needs only a name", () => {
  assert.equal(parseDefinition({ name: "p" }), { ok: true, definition: { name: "p" } });
});

test("each limit of a loop may stand alone, but the number of repetitions needs its window", () => {
  const of = (loop: unknown): readonly string[] => errorsOf({ name: "p", loop });
  for (const loop of [{ max_per_run: 1 }, { max_depth: 100 }, { max_identical: 1_000, window_s: 86_400 }])
    assert.equal(of(loop), []);
  for (const none of [{}, null, [], 3]) assert.equal(of(none), ["/loop"]);
  assert.equal(of({ max_identical: 3 }), ["/loop/window_s"]);
  assert.equal(of({ window_s: 3 }), ["/loop/max_identical"]);
  assert.equal(of({ max_identical: 1_001, window_s: 86_401, max_per_run: 0, max_depth: 1.5, more: 1 }), [
    "/loop/more",
    "/loop/max_identical",
    "/loop/window_s",
    "/loop/max_per_run",
    "/loop/max_depth",
  ]);
});

test("an approval rule needs only an expiry", () => {
  const approval = { expires_after_s: 60 };
  assert.equal(parseDefinition({ name: "p", approval }), { ok: true, definition: { name: "p", approval } });
  assert.equal(errorsOf({ name: "p", approval: { min_approvals: 10, expires_after_s: 2_592_000 } }), []);
  for (const none of [null, [], true]) assert.equal(errorsOf({ name: "p", approval: none }), ["/approval"]);
  assert.equal(errorsOf({ name: "p", approval: {} }), ["/approval/expires_after_s"]);
  for (const s of [59, 2_592_001, 60.5, "60", null])
    assert.equal(errorsOf({ name: "p", approval: { expires_after_s: s } }), ["/approval/expires_after_s"], String(s));
});

test("the roles that may reveal hidden fields are those below admin, each once", () => {
  const of = (reveal: unknown): readonly string[] => errorsOf({ name: "p", approval: { reveal, expires_after_s: 60 } });
  for (const reveal of [["approver"], ["auditor", "viewer"]]) assert.equal(of(reveal), []);
  for (const reveal of [[], ["admin"], ["approver", "approver"], ["Approver"], "approver", [null], null])
    assert.equal(of(reveal), ["/approval/reveal"], JSON.stringify(reveal));
});

test("all errors of an approval rule are reported", () => {
  const wrong = { when: " ", min_approvals: 0, exclude_requester: 1, expires_after_s: 3_600, who: "me" };
  assert.equal(errorsOf({ name: "p", approval: wrong }), [
    "/approval/who",
    "/approval/when",
    "/approval/min_approvals",
    "/approval/exclude_requester",
  ]);
  for (const people of [11, 1.5, "2", null])
    assert.equal(
      errorsOf({ name: "p", approval: { min_approvals: people, expires_after_s: 60 } }),
      ["/approval/min_approvals"],
      String(people),
    );
});

test("every error is reported with its path", () => {
  const definition = {
    name: " ",
    budget_eur_day: -1,
    rate_per_minute: 1.5,
    require_fields: ["a..b", "ok", "ok"],
    block_on_violation: "yes",
    cost: { pointer: "", scale: 0, default_eur: "1" },
    schema: [],
    deny: [{ name: "", when: " " }, "rule", { name: "a", when: "true" }, { name: "a", when: "true", x: 1 }],
    redact: "a",
    colour: "red",
  };
  assert.equal(
    [...errorsOf(definition)].sort(),
    [
      "/block_on_violation",
      "/budget_eur_day",
      "/colour",
      "/cost/default_eur",
      "/cost/pointer",
      "/cost/scale",
      "/deny/0/name",
      "/deny/0/when",
      "/deny/1",
      "/deny/3/name",
      "/deny/3/x",
      "/name",
      "/rate_per_minute",
      "/redact",
      "/require_fields/0",
      "/require_fields/2",
      "/schema",
    ].sort(),
  );
});

test("amounts have at most six decimals and are bounded", () => {
  for (const amount of [0, 0.07, 0.000001, 999_999_999.999999, 1e9])
    assert.equal(errorsOf({ name: "p", budget_eur_day: amount }), [], String(amount));
  for (const amount of [0.0000001, -0.01, 1e9 + 1, Number.NaN, Infinity, "5", null])
    assert.equal(errorsOf({ name: "p", budget_eur_day: amount }), ["/budget_eur_day"], String(amount));
});

test("a cost is fixed or read from the payload, never both", () => {
  for (const cost of [{}, { fixed_eur: 1, pointer: "a" }, 5, null, []])
    assert.equal(errorsOf({ name: "p", cost }), ["/cost"], JSON.stringify(cost));
  assert.equal(errorsOf({ name: "p", cost: { fixed_eur: 1, scale: 2 } }), ["/cost/scale"]);
});

test("the number of paths and rules is limited", () => {
  const paths = Array.from({ length: FIELDS_MAX + 1 }, (_, index) => `f${index}`);
  assert.equal(errorsOf({ name: "p", require_fields: paths, redact: paths }), ["/require_fields", "/redact"]);
  assert.equal(errorsOf({ name: "p", require_fields: paths.slice(1) }), []);
  const deny = Array.from({ length: DENY_RULES_MAX + 1 }, (_, index) => ({ name: `r${index}`, when: "true" }));
  assert.equal(errorsOf({ name: "p", deny }), ["/deny"]);
});

test("a definition must be an object", () => {
  for (const input of [null, [], "p", 5, undefined]) assert.equal(errorsOf(input), [""]);
});

test.run();
