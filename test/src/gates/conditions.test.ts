import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  type Condition,
  type ConditionInput,
  conditionCompiler,
  type Evaluated,
} from "../../../src/gates/conditions.ts";
import { meter } from "../../../src/gates/meter.ts";

const test = suite("conditions");

const seenOf = (payload: unknown, more: Partial<ConditionInput> = {}): ConditionInput => ({
  payload,
  headers: {},
  source: { id: "src_1", name: "shop", type: "stripe" },
  agent: { id: "", name: "" },
  action: "",
  cost_eur: null,
  ...more,
});

const compile = (source: string): Condition => {
  const compiled = conditionCompiler(meter())(source);
  if (!compiled.ok) throw new Error(`${source}: ${compiled.message}`);
  return compiled.condition;
};
const evaluate = (source: string, payload: unknown, more?: Partial<ConditionInput>): Evaluated =>
  compile(source).evaluate(seenOf(payload, more));
const outcome = (source: string, payload: unknown, more?: Partial<ConditionInput>): string => {
  const result = evaluate(source, payload, more);
  return result.outcome === "error" ? result.code : result.outcome;
};
const refusal = (source: string): string => {
  const compiled = conditionCompiler(meter())(source);
  return compiled.ok ? "" : compiled.message;
};

const ones = (count: number): number[] => Array.from({ length: count }, () => 1);

test("numbers of JSON compare with whole and fractional literals alike", () => {
  for (const amount of [60_000, 60_000.5]) {
    assert.is(outcome("payload.amount > 50000", { amount }), "true");
    assert.is(outcome("payload.amount > 100.0", { amount }), "true");
    assert.is(outcome("payload.amount < 50000u", { amount }), "false");
  }
  assert.is(outcome("payload.amount == 60000", { amount: 60_000 }), "true");
  assert.is(outcome("payload.amount == 60000.5", { amount: 60_000.5 }), "true");
  assert.is(outcome("payload.amount in [1, 60000]", { amount: 60_000 }), "true");
  assert.is(outcome("payload.amount / 100 >= 600 && 2 * payload.amount == 120000", { amount: 60_000 }), "true");
});

test("an expression can read all six variables", () => {
  const more = {
    headers: { "x-shop": "a", via: ["b", "c"] },
    agent: { id: "agt_1", name: "bot" },
    action: "refund.create",
    cost_eur: 100,
  };
  const source = `payload == {} && headers["x-shop"] == "a" && headers.via[1] == "c" && source.type == "stripe"
    && agent.name == "bot" && action.startsWith("refund.") && cost_eur >= 100.0`;
  assert.is(outcome(source, {}, more), "true");
  assert.equal([...compile("headers.a == source.id").reads].sort(), ["headers", "source"]);
});

test("comprehensions run over lists and maps, one after the other", () => {
  const payload = { items: [{ x: 1 }, { x: 3 }], map: { a: 1, b: 2 } };
  for (const source of [
    "payload.items.exists(i, i.x == 3)",
    "payload.items.all(i, i.x > 0)",
    "payload.items.exists_one(i, i.x > 2)",
    "payload.items.filter(i, i.x > 2).size() == 1",
    "payload.items.map(i, i.x) == [1, 3]",
    "payload.items.map(i, i.x > 2, i.x) == [3]",
    "payload.items.filter(i, i.x > 9) == []",
    "payload.map.exists(key, payload.map[key] == 2)",
    "payload.items.filter(i, i.x > 0).map(i, i.x).exists(x, x == 3)",
  ])
    assert.is(outcome(source, payload), "true", source);
});

test("a comprehension over many thousand elements builds its list", () => {
  assert.is(outcome("payload.map(i, i + 1).exists(x, x == 3)", [...ones(20_000), 2]), "true");
});

test("an error is an error, never false, and says which field or types", () => {
  const cases: readonly [string, unknown, string][] = [
    ["payload.amount > 1", {}, 'there is no field "amount"'],
    ["payload.amount > 1", { amount: "5" }, "_>_ is not defined for (string, int)"],
    ["payload.amount > 1", null, 'there is no field "amount"'],
    ["payload[payload.key] == 1", { key: "hunter2" }, "a field that it reads is missing"],
    ["int(payload.key) == 1", { key: "hunter2" }, "it could not be evaluated"],
    ["payload.flag", { flag: "hunter2" }, "it is not true or false"],
    ["payload.list[7] == 1", { list: [] }, "a field that it reads is missing"],
    ["1 / int(payload.zero) == 1", { zero: 0 }, "it could not be evaluated"],
  ];
  for (const [source, payload, detail] of cases)
    assert.equal(evaluate(source, payload), { outcome: "error", code: "evaluation-error", detail }, source);
  assert.is(outcome("cost_eur > 1.0", {}), "evaluation-error");
  assert.is(outcome("has(payload.amount) && payload.amount > 1", {}), "false");
});

test("names of prototype members are ordinary names", () => {
  assert.is(outcome("payload.constructor == 1 || payload.__proto__ == 1", {}), "evaluation-error");
  assert.is(outcome("has(payload.toString) || 'constructor' in payload", {}), "false");
  assert.is(outcome("payload.__proto__ == 1", JSON.parse('{"__proto__": 1}')), "true");
  assert.is(outcome("payload.a == 1", JSON.parse('{"constructor": {"name": "x"}, "a": 1}')), "true");
});

test("a payload cannot pass for a Protobuf message that holds other values", () => {
  const struct = {
    $typeName: "google.protobuf.Struct",
    fields: { amount: { kind: { case: "numberValue", value: 1 } } },
  };
  assert.is(outcome("payload.order.amount > 500", { order: { ...struct, amount: 99_999 } }), "true");
  assert.is(
    outcome("payload.order > 500", { order: { $typeName: "google.protobuf.Int32Value", value: 501 } }),
    "evaluation-error",
  );
});

test("times and durations are read", () => {
  const payload = { at: "2026-03-01T12:00:00Z" };
  assert.is(outcome('timestamp(payload.at) < timestamp("2027-01-01T00:00:00Z")', payload), "true");
  assert.is(outcome('timestamp(payload.at).getHours("Europe/Rome") == 13', payload), "true");
  assert.is(outcome('timestamp(payload.at) - duration("1h") == timestamp("2026-03-01T11:00:00Z")', payload), "true");
});

test("an expression that can never work is refused with a reason", () => {
  const cases: readonly [string, RegExp][] = [
    ["", /not a CEL expression/],
    ["payload.a >", /not a CEL expression/],
    ["1 + 1", /of type int or/],
    ["payload.a == 1 ? 'a' : 'b'", /of type string/],
    ["payload.items.map(i, i)", /of type list/],
    ["cost_eur", /of type double/],
    ["bogus == 1", /unknown name "bogus"/],
    ["toString == 1", /unknown name "toString"/],
    ["payload.all(i, j > 1)", /unknown name "j"/],
    ["frobnicate(payload)", /unknown function frobnicate/],
    ["payload.startsWith('a', 'b')", /other arguments/],
    ["payload.matches(payload.pattern)", /literal/],
    ["payload.a.matches('(')", /not a regular expression/],
    ["payload.a.matches('(?:(?:a{30}){30})(?:b{900})')", /too large/],
    ["google.protobuf.Timestamp{seconds: 1} == 1", /unknown type/],
    ["payload.all(a, payload.all(b, b > a))", /inside one another/],
    ["payload.all(a, a.map(b, b).size() > 1)", /inside one another/],
    [`${"(".repeat(33)}true${")".repeat(33)}`, /nested/],
    [`payload.a == "${"x".repeat(2_048)}"`, /bytes/],
  ];
  for (const [source, message] of cases) assert.match(refusal(source), message, source);
});

test("a pattern that makes backtracking engines hang is answered", () => {
  assert.is(outcome('payload.a.matches("^(a+)+$")', { a: `${"a".repeat(100_000)}!` }), "false");
  assert.is(outcome('payload.a.matches("^(a+)+$")', { a: "aaa" }), "true");
  assert.match(refusal('payload.a.matches("(?=a)")'), /not a regular expression/);
});

test("work that grows with the square of the payload ends as too costly", () => {
  const items = ones(100_000);
  const text = "a".repeat(400_000);
  const cases: readonly [string, unknown][] = [
    ["payload.a.contains(payload.b)", { a: text, b: `${"a".repeat(100_000)}b${"a".repeat(100_000)}` }],
    ["payload.items.all(i, !payload.text.contains('zz'))", { items, text }],
    ["payload.items.all(i, size(payload.text) > 1)", { items, text }],
    ["payload.items.all(i, !(2 in payload.items))", { items }],
    ["payload.items.all(i, payload.items == payload.items)", { items }],
    ["payload.items.exists(i, payload.map[i] == 1)", { items, map: Object.fromEntries(items.map((_, at) => [at, 1])) }],
    ["payload.items.all(i, i > 0 && i > 0 && i > 0 && i > 0)", { items }],
    ["payload.items.all(i, timestamp('2026-01-01T00:00:00Z').getHours('Europe/Rome') < 30)", { items }],
    ['payload.text.matches("(a|b)*a(a|b){100}d|bc$")', { text }],
  ];
  for (const [source, payload] of cases) assert.is(outcome(source, payload), "too-costly", source);
});

test("an expression that swallows the error of its own cost is still too costly", () => {
  const payload = { text: "a".repeat(1_000_000) };
  assert.is(outcome('payload.text.matches("(a|b)*a(a|b){100}d|bc$") && false', payload), "too-costly");
});

test("evaluation leaves stack traces as they were", () => {
  const before = Error.stackTraceLimit;
  evaluate("payload.a > 1", {});
  assert.is(Error.stackTraceLimit, before);
});

/** A meter that lets everything pass and counts it. */
const counting = () => {
  const work = {
    units: 0,
    exceeded: false,
    used: 0,
    spend(units: number) {
      work.units += units;
    },
    reset: () => undefined,
  };
  return work;
};

/** Units that one evaluation takes. */
const workOf = (source: string, payload: unknown): number => {
  const work = counting();
  const compiled = conditionCompiler(work)(source);
  if (!compiled.ok) throw new Error(`${source}: ${compiled.message}`);
  compiled.condition.evaluate(seenOf(payload));
  return work.units;
};

test("each function pays in proportion to the size of its arguments", () => {
  const texts = (size: number) => ({ t: "a".repeat(20 * size), u: "a".repeat(20 * size) });
  const lists = (size: number) => ({ l: ones(size), k: ones(size), n: Array.from({ length: size }, () => [1]) });
  const maps = (size: number) => ({ m: Object.fromEntries(ones(size).map((one, n) => [`k${n}`, one])) });
  const cases: readonly [string, (size: number) => unknown][] = [
    ...[
      "size(payload.t) > 0",
      "payload.t == payload.u",
      "payload.t < payload.u",
      "payload.t in [payload.u]",
      "payload.t.contains('b')",
      "payload.t.startsWith(payload.u)",
      "payload.t.endsWith(payload.u)",
      "payload.t.matches('b')",
      "payload.t + payload.u == 'b'",
      "size(bytes(payload.t)) > 0",
    ].map((source): [string, typeof texts] => [source, texts]),
    ...[
      "2 in payload.l",
      "[2] in payload.n",
      "payload.l == payload.k",
      "payload.l != payload.n",
      "payload.l.exists(x, x == 2)",
      "payload.l.all(x, x == 1)",
      "payload.l.exists_one(x, x == 2)",
      "size(payload.l.map(x, x + 1)) > 0",
      "size(payload.n.filter(x, x[0] == 1)) > 0",
      "payload.l.exists(x, x.missing == 1)",
      "2 in payload.l + payload.k",
    ].map((source): [string, typeof lists] => [source, lists]),
    ...["size(payload.m) > 0", "payload.m == {'k0': 1}", "payload.m.exists(k, k == 'z')"].map(
      (source): [string, typeof maps] => [source, maps],
    ),
  ];
  for (const [source, payloadOf] of cases) {
    const small = workOf(source, payloadOf(1_000));
    const large = workOf(source, payloadOf(10_000));
    assert.ok(small >= 600, `${source} takes ${small} units`);
    assert.ok(large - small >= 9_000 * 0.6, `${source} takes ${small} units, and ${large} for ten times as much`);
  }
});

test("sixty calls of size() over the largest text are too costly for the main thread", () => {
  const source = Array.from({ length: 60 }, () => "size(payload.t) > 900000").join(" || ");
  assert.ok(workOf(source, { t: "a".repeat(900_000) }) > 10_000_000);
});

test("a part of the payload that no rule reads costs nothing, however large it is", () => {
  const payload = {
    amount: 1,
    l: Array.from({ length: 50_000 }, () => [[]]),
    m: Object.fromEntries(ones(9_000).entries()),
  };
  assert.ok(workOf("payload.amount > 1 && has(payload.m.x) && payload.l[3] == [2]", payload) < 2_000);
});

test("characters are counted as code points, with and without pairs of surrogates", () => {
  for (const text of ["", "a", "é😀", "😀😀", "\ud83d", "\ude00\ud83d", "a\ud83d😀b"]) {
    assert.is(outcome(`size(payload.t) == ${[...text].length}`, { t: text }), "true", JSON.stringify(text));
  }
});

test.run();
