import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { PolicyDefinition } from "../../../domain/policy/definition.ts";
import { type CompiledPolicy, compiledPolicies, policyCompiler } from "../../../src/gates/compiled-policy.ts";
import type { PolicyCheck, PolicyInput } from "../../../src/gates/policy-gates.ts";

const test = suite("compiled policy");

const compile = policyCompiler();

const policyOf = (definition: Omit<PolicyDefinition, "name">): CompiledPolicy => {
  const compiled = compile({ name: "p", ...definition });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.errors));
  return compiled.policy;
};

const inputOf = (payload: unknown, more: Partial<PolicyInput> = {}): PolicyInput => ({
  payload,
  ambiguous: false,
  headers: {},
  source: { id: "src_1", name: "shop", type: "stripe" },
  agent: null,
  action: null,
  ...more,
});

const codes = ({ gates }: PolicyCheck): readonly string[] => gates.map(({ gate, code }) => `${gate} ${code}`);

test("a policy without rules has no stateless gates", () => {
  const { gates, cost } = policyOf({}).check(inputOf(undefined));
  assert.equal([gates, cost], [[], null]);
  assert.not.ok(policyOf({ budget_eur_day: 1, cost: { fixed_eur: 1 } }).readsPayload);
});

test("the gates come in the order schema, require_fields, content", () => {
  const policy = policyOf({
    deny: [{ name: "large", when: "payload.amount > 100" }],
    require_fields: ["id"],
    schema: { type: "object" },
  });
  assert.equal(codes(policy.check(inputOf({ id: 1, amount: 5 }))), ["schema ok", "require_fields ok", "content ok"]);
  assert.equal(codes(policy.check(inputOf({ amount: 101 }))), [
    "schema ok",
    "require_fields missing-fields",
    "content denied-by-rule",
  ]);
});

test("the rules that match are named, and a match outranks an error", () => {
  const policy = policyOf({
    deny: [
      { name: "broken", when: "payload.nothing > 1" },
      { name: "large", when: "payload.amount > 100" },
      { name: "huge", when: "payload.amount > 1000" },
    ],
  });
  const [both] = policy.check(inputOf({ amount: 2_000 })).gates;
  assert.is(both?.detail, 'refused by "large", "huge"');
  const [broken] = policy.check(inputOf({ amount: 1 })).gates;
  assert.equal(broken, {
    gate: "content",
    outcome: "deny",
    code: "evaluation-error",
    detail: 'rule "broken": there is no field "nothing"',
  });
});

test("a schema whose validator throws denies the payload", () => {
  const only = { type: "object", additionalProperties: false };
  const schema = { patternProperties: { "^x": {} }, anyOf: [{ $ref: "#/$defs/one" }, {}], $defs: { one: only } };
  assert.equal(codes(policyOf({ schema }).check(inputOf({ "x-y": 1 }))), ["schema evaluation-error"]);
});

test("a body that is not JSON is denied by every gate that reads it", () => {
  const deny = [{ name: "r", when: "payload.a == 1" }];
  const policy = policyOf({ schema: { type: "object" }, require_fields: ["id"], deny });
  assert.equal(codes(policy.check(inputOf(undefined))), [
    "schema not-json",
    "require_fields not-json",
    "content not-json",
  ]);
  const headers = policyOf({ deny: [{ name: "r", when: "'x-test' in headers" }] });
  assert.equal(codes(headers.check(inputOf(undefined))), ["content ok"]);
  assert.equal(codes(headers.check(inputOf(undefined, { headers: { "x-test": "1" } }))), ["content denied-by-rule"]);
});

test("JSON null is a payload, and not a missing one", () => {
  assert.equal(codes(policyOf({ schema: { type: "null" } }).check(inputOf(null))), ["schema ok"]);
});

test("an ambiguous payload is denied if the policy depends on it", () => {
  const ambiguous = inputOf({ id: 1 }, { ambiguous: true });
  assert.equal(codes(policyOf({ require_fields: ["id"] }).check(ambiguous)), ["content ambiguous-payload"]);
  assert.equal(codes(policyOf({ cost: { pointer: "id" } }).check(ambiguous)), ["content ambiguous-payload"]);
  assert.equal(codes(policyOf({ deny: [{ name: "r", when: "action == 'x'" }] }).check(ambiguous)), ["content ok"]);
});

test("a payload too deep for any stack is denied or not read, and never throws", () => {
  const deep = inputOf(JSON.parse("[".repeat(100_000) + "]".repeat(100_000)), { ambiguous: true });
  const reading = policyOf({ schema: {}, require_fields: ["a"], deny: [{ name: "r", when: "payload == []" }] });
  assert.equal(codes(reading.check(deep)), ["content ambiguous-payload"]);
  assert.equal(codes(policyOf({ deny: [{ name: "r", when: "action == 'x'" }] }).check(deep)), ["content ok"]);
});

test("an action's cost replaces that of the policy, and rules see it in euros", () => {
  const deny = [{ name: "dear", when: "cost_eur >= 100.0" }];
  const policy = policyOf({ cost: { pointer: "amount", scale: 0.01 }, deny });
  assert.equal(policy.check(inputOf({ amount: 1_999 })).cost, 19_990_000);
  assert.equal(codes(policy.check(inputOf({ amount: 10_000 }))), ["content denied-by-rule"]);
  assert.is(policy.check(inputOf({ amount: 1 }, { costMicro: 5 })).cost, 5);
  assert.equal(codes(policy.check(inputOf({ amount: 1 }, { costMicro: 100_000_000 }))), ["content denied-by-rule"]);
  const unknown = policy.check(inputOf({}));
  assert.is(unknown.cost, null);
  assert.equal(codes(unknown), ["content evaluation-error"]);
  assert.is(policyOf({ cost: { fixed_eur: 0.07 } }).check(inputOf(undefined)).cost, 70_000);
  assert.is(policyOf({ cost: { pointer: "a", default_eur: 0.5 } }).check(inputOf({})).cost, 500_000);
});

test("an amount too large to count does not become the default and pass a threshold", () => {
  const approval = { when: "cost_eur >= 100.0", expires_after_s: 60 };
  const policy = policyOf({ cost: { pointer: "amount", default_eur: 0.5 }, approval });
  assert.equal(codes(policy.check(inputOf({}))), ["approval ok"]);
  const huge = policy.check(inputOf({ amount: 5e9 }));
  assert.equal([codes(huge), huge.cost], [["cost cost-unknown", "approval evaluation-error"], null]);
  assert.match(huge.gates[1]?.detail ?? "", "the number at amount is negative, or makes more than 1000000000 EUR");
});

test("an absent agent has empty names, so a rule about agents is false for a source", () => {
  const policy = policyOf({ deny: [{ name: "r", when: "agent.name == 'bot' || action == 'refund'" }] });
  assert.equal(codes(policy.check(inputOf({}))), ["content ok"]);
  assert.equal(codes(policy.check(inputOf({}, { source: null, agent: { id: "agt_1", name: "bot" } }))), [
    "content denied-by-rule",
  ]);
});

test("one event's work does not count for the next", () => {
  const policy = policyOf({ deny: [{ name: "r", when: "payload.all(i, i > 5)" }] });
  const payload = Array.from({ length: 60_000 }, () => 1);
  for (let round = 0; round < 5; round += 1) assert.equal(codes(policy.check(inputOf(payload))), ["content ok"]);
});

test("thirty-two rules on an ordinary payload are far from too costly", () => {
  const when = "payload.data.object.amount > 50000 && payload.data.object.currency.matches('^[A-Z]{3}$')";
  const policy = policyOf({ deny: Array.from({ length: 32 }, (_, index) => ({ name: `r${index}`, when })) });
  const text = "x".repeat(900_000);
  assert.equal(codes(policy.check(inputOf({ text, data: { object: { amount: 60_000, currency: "eur" } } }))), [
    "content ok",
  ]);
});

test("every error of a definition has its path", () => {
  const compiled = compile({
    name: "p",
    schema: { properties: { a: { type: "strng" } } },
    deny: [
      { name: "ok", when: "payload.a == 1" },
      { name: "broken", when: "payload.a ==" },
    ],
  });
  assert.ok(!compiled.ok);
  assert.equal(compiled.ok ? [] : compiled.errors.map(({ path }) => path), [
    "/schema/properties/a/type",
    "/deny/1/when",
  ]);
});

test("a policy is compiled once for each version", () => {
  let compiled = 0;
  const policies = compiledPolicies((definition) => {
    compiled += 1;
    return compile(definition);
  });
  const first = policies.get("acc", "pol_1", 1, { name: "p" });
  assert.is(policies.get("acc", "pol_1", 1, { name: "p" }), first);
  assert.is.not(policies.get("acc", "pol_1", 2, { name: "p" }), first);
  assert.is(compiled, 2);
});

test("the least recently used policy is forgotten, the others stay", () => {
  let compiled = 0;
  const policies = compiledPolicies((definition) => {
    compiled += 1;
    return compile(definition);
  });
  for (let index = 0; index < 500; index += 1) policies.get("acc", `pol_${index}`, 1, { name: "p" });
  policies.get("acc", "pol_0", 1, { name: "p" });
  policies.get("acc", "pol_500", 1, { name: "p" });
  assert.is(compiled, 501);
  policies.get("acc", "pol_0", 1, { name: "p" });
  assert.is(compiled, 501);
  policies.get("acc", "pol_1", 1, { name: "p" });
  assert.is(compiled, 502);
});

test("a published policy that does not compile is an error, so that nothing passes it", () => {
  const definition = { name: "p", deny: [{ name: "r", when: "gone()" }] };
  assert.throws(() => compiledPolicies().get("acc", "pol_1", 1, definition), /pol_1\/1 was published/);
});

const approvalOf = (approval: PolicyDefinition["approval"], payload: unknown, more: Partial<PolicyInput> = {}) => {
  const policy = policyOf({ cost: { pointer: "amount" }, ...(approval === undefined ? {} : { approval }) });
  return policy.check(inputOf(payload, more)).gates.find(({ gate }) => gate === "approval");
};

test("the approval gate comes last, and holds always or if its condition is true", () => {
  const always = { expires_after_s: 60 };
  assert.is(approvalOf(undefined, { amount: 1 }), undefined);
  assert.equal(approvalOf(always, { amount: 1 }), {
    gate: "approval",
    outcome: "hold",
    code: "needs-approval",
    detail: "needs an approval",
  });
  assert.is(approvalOf({ ...always, min_approvals: 3 }, {})?.detail, "needs 3 approvals");
  const costly = { ...always, when: "cost_eur >= 100.0" };
  assert.is(approvalOf(costly, { amount: 100 })?.outcome, "hold");
  assert.is(approvalOf(costly, { amount: 99.99 })?.outcome, "allow");
  const policy = policyOf({ deny: [{ name: "x", when: "payload.x == 1" }], require_fields: ["x"], approval: always });
  assert.equal(codes(policy.check(inputOf({ x: 1 }))), [
    "require_fields ok",
    "content denied-by-rule",
    "approval needs-approval",
  ]);
});

test("a request is denied with the reason if the approval condition fails", () => {
  const when = (text: string) => ({ expires_after_s: 60, when: text });
  assert.is(approvalOf(when("cost_eur >= 100.0"), {})?.code, "evaluation-error");
  const missing =
    "approval: the cost is not known: the payload has no amount at amount, and the policy's cost rule has no default_eur";
  assert.is(approvalOf(when("cost_eur >= 100.0"), {})?.detail, missing);
  const told = { costMicro: null, costMissing: "nobody knows" };
  assert.is(approvalOf(when("cost_eur >= 100.0"), {}, told)?.detail, "approval: the cost is not known: nobody knows");
  const other = approvalOf(when("payload.x == 1 && cost_eur >= 100.0"), {});
  assert.is(other?.detail, 'approval: there is no field "x"');
  assert.is(approvalOf(when("cost_eur == null"), {})?.outcome, "hold");
  assert.is(approvalOf(when("payload.nothing"), { amount: 1 })?.code, "evaluation-error");
  assert.is(approvalOf(when("payload.amount > 1"), undefined)?.code, "not-json");
  assert.is(approvalOf(when("source.type == 'stripe'"), undefined)?.outcome, "hold");
  for (const text of ["cost_eur >= 100.0", "payload.amount > 1"])
    assert.is(approvalOf(when(text), {}, { ambiguous: true })?.code, "ambiguous-payload");
});

test("an ambiguous payload is denied and never held for approval", () => {
  const policy = policyOf({ approval: { expires_after_s: 60 } });
  assert.ok(policy.readsPayload);
  assert.equal(codes(policy.check(inputOf({}, { ambiguous: true }))), [
    "content ambiguous-payload",
    "approval ambiguous-payload",
  ]);
});

test("a condition of an approval that does not compile is an error at its place", () => {
  const compiled = compile({ name: "p", approval: { when: "cost_eur >=", expires_after_s: 60 } });
  assert.equal(compiled.ok ? [] : compiled.errors.map(({ path }) => path), ["/approval/when"]);
});

test("a condition after the one that used up the work is denied with the same code", () => {
  const sizes = Array.from({ length: 60 }, () => "size(payload.t) < 5").join(" || ");
  const compiled = policyCompiler(100_000)({
    name: "costly",
    deny: [
      { name: "sizes", when: sizes },
      { name: "header", when: "headers.a == 'b'" },
    ],
    approval: { when: "payload.n > 1", expires_after_s: 60 },
  });
  assert.ok(compiled.ok);
  const { gates } = compiled.policy.check({
    payload: { t: "a".repeat(100_000), n: 1 },
    ambiguous: false,
    headers: {},
    source: null,
    agent: null,
    action: null,
  });
  assert.equal(
    gates.map(({ gate, outcome, code }) => `${gate} ${outcome} ${code}`),
    ["content deny too-costly", "approval deny too-costly"],
  );
});

test.run();
