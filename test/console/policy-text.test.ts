import { suite } from "uvu";
import * as assert from "uvu/assert";
import { lineSigns } from "../../console/src/pages/line-difference.ts";
import { offerAt } from "../../console/src/pages/policy-completion.ts";
import type { Definition, Json } from "../../console/src/pages/policy-definition.ts";
import { changesBetween } from "../../console/src/pages/policy-difference.ts";
import { definitionFrom, faultInForm, nameInForm } from "../../console/src/pages/policy-fields.ts";
import { conditionsOf, placed } from "../../console/src/pages/policy-places.ts";

import { VARIABLES } from "../../src/gates/condition-types.ts";
import { POLICY_FIELDS } from "../../src/gates/policy-fields.ts";

const test = suite("the text of a policy");

/** What is offered at the bar, which is no part of the text. */
const offered = (text: string): readonly string[] => {
  const at = text.indexOf("|");
  return Object.keys(offerAt(text.slice(0, at) + text.slice(at + 1), at)?.names ?? {});
};
const marked = (text: string, path: string, name?: string): string => {
  const problem = { path, message: "is wrong", ...(name === undefined ? {} : { name }) };
  return placed(text, [problem])
    .map(({ from, to }) => text.slice(from, to))
    .join();
};

test("names are offered where a name may stand, also in text that is no JSON yet", () => {
  assert.ok(offered('{ "bu|').includes("budget_eur_day"));
  assert.ok(offered("{ |").includes("approval"));
  assert.equal(offered('{ "deny": [{ "name": "a", "when": "true" }, { "|'), ["name", "when"]);
  assert.ok(offered('{ "loop": { "max_identical": 3, "w|" } }').includes("window_s"));
  assert.ok(offered('{ "cost": { "fixed_eur": 1 }, "lo|').includes("loop"));
  for (const text of ['{ "name": "a|" }', '{ "name" |', '{ "schema": { "|', "|", '{ "name": 1 }|'])
    assert.equal(offered(text), [], text);
});

test("exactly the names are offered that the service knows", () => {
  const { cost, deny, loop, approval } = POLICY_FIELDS;
  assert.equal(offered("{ |"), Object.keys(POLICY_FIELDS));
  assert.equal(offered('{ "cost": { |'), Object.keys(cost.properties));
  assert.equal(offered('{ "deny": [{ |'), Object.keys(deny.items.properties));
  assert.equal(offered('{ "loop": { |'), Object.keys(loop.properties));
  assert.equal(offered('{ "approval": { |'), Object.keys(approval.properties));
  assert.equal(offered('{ "approval": { "when": "|'), Object.keys(VARIABLES));
});

test("variables are offered in a condition, and in no text of it", () => {
  assert.ok(offered('{ "approval": { "when": "cost|').includes("cost_eur"));
  assert.ok(offered('{ "deny": [{ "when": "action == \'a\' && pay|" }] }').includes("payload"));
  assert.equal(offered('{ "approval": { "when": "agent.|" } }'), ["id", "name"]);
  assert.equal(offered('{ "approval": { "when": "agent.name == \'pay|'), []);
  assert.equal(offered('{ "approval": { "when": "payload.|" } }'), []);
});

test("a problem is marked at what it is about, and what is missing where it belongs", () => {
  const text =
    '{ "name": "a", "budgte": 5, "deny": [{ "name": "b", "when": "cost_eru > 1.0" }], "a/b": 1, "loop": {} }';
  assert.is(marked(text, "/deny/0/when", "cost_eru"), "cost_eru");
  assert.is(marked(text, "/deny/0/when"), '"cost_eru > 1.0"');
  assert.is(marked(text, "/budgte", "budgte"), '"budgte"');
  assert.is(marked(text, "/a~1b", "a/b"), '"a/b"');
  assert.is(marked(text, "/loop/window_s"), '"loop"');
  assert.is(marked(text, "/deny/0/other"), "{");
  assert.is(marked(text, ""), "{");
});

test("what is no JSON is marked where it stops to be", () => {
  assert.is(marked('{ "name": "a", }', ""), "}");
  assert.is(marked('{ "name": nothing }', ""), "nothing");
  assert.is(marked('{ "name": "a"', ""), '"');
  assert.equal(placed("", [{ path: "", message: "is not JSON" }]).length, 1);
});

test("conditions are found, and no other text that is called when", () => {
  const text = '{ "when": "x", "deny": [{ "when": "a" }], "approval": { "when": "b" } }';
  assert.equal(
    conditionsOf(text).map(({ from, to }) => text.slice(from, to)),
    ['"a"', '"b"'],
  );
});

test("each line has a sign if it differs, or if lines are gone before it or at the end", () => {
  assert.equal(lineSigns("a\nb\nc", "a\nx\nc"), ["", "+", ""]);
  assert.equal(lineSigns("a\nb\nc", "a\nc"), ["", "−"]);
  assert.equal(lineSigns("a\nb", "a"), ["−"]);
  assert.equal(lineSigns("a\nb", "a\nb"), ["", ""]);
});

test("rules are compared by their names, so one that goes changes no other; by their places if order or names tell nothing", () => {
  const rule = (name: string) => ({ name, when: `type == "${name}"` });
  const [a, b, c] = [rule("a"), rule("b"), rule("c")];
  const labels = (before: Json, after: Json) =>
    changesBetween({ deny: before }, { deny: after }).map(({ label, kind }) => `${label} ${kind}`);
  assert.equal(labels([a, b, c], [a, c]), ["Rules that refuse › b removed"]);
  assert.equal(labels([a, c], [a, b, { ...c, when: "true" }]), [
    "Rules that refuse › c › Refuses when changed",
    "Rules that refuse › b new",
  ]);
  assert.equal(labels([a, b], [b, a]).length, 4, "another order is a change");
  assert.equal(labels([a, a], [a]), ["Rules that refuse › 2 removed"]);
});

test("a rule that comes or goes is told as a sentence, and a condition keeps its lines", () => {
  const rule = { name: "no refunds over 2,000", when: "cost_eur > 2000.0" };
  const said = "“no refunds over 2,000” refuses when cost_eur > 2000.0";
  const [gone] = changesBetween({ deny: [rule, rule] }, {});
  assert.equal([gone?.kind, gone?.before], ["removed", `${said}; ${said}`]);
  const [added] = changesBetween({ deny: [rule] }, { deny: [rule, rule] });
  assert.equal([added?.label, added?.kind, added?.after], ["Rules that refuse › 2", "new", said]);
  const texts = { "deny.0": "yes", "deny.0.name": "a", "deny.0.when": "cost_eur > 1.0 &&\r\ncost_eur < 2.0" };
  assert.equal(definitionFrom(texts, {}).deny, [{ name: "a", when: "cost_eur > 1.0 &&\ncost_eur < 2.0" }]);
});

test("what differs is told in the form's words, and by the definition's names where the form has no field", () => {
  const told = (before: Definition, after: Definition) =>
    changesBetween(before, after).map(({ label, kind, before: was, after: becomes }) => [label, kind, was, becomes]);
  assert.equal(
    told(
      { budget_eur_day: 18, approval: { when: "cost_eur > 1.0", expires_after_s: 60 }, loop: { window_s: 60 } },
      { budget_eur_day: 20, approval: { when: "true", expires_after_s: 60 }, block_on_violation: false },
    ),
    [
      ["Budget, euros a day", "changed", "18", "20"],
      ["Approval › Only when", "changed", "cost_eur > 1.0", "true"],
      ["Loops › Within so many seconds", "removed", "60", ""],
      ["Only observe", "new", "", "yes"],
    ],
  );
  assert.equal(told({}, { approval: {}, protected: true }), [
    ["Approval", "new", "", "{}"],
    ["Protected", "new", "", "yes"],
  ]);
  const schema = { properties: { "approval.when": { type: "string" } } };
  assert.equal(told({ schema }, { schema: { properties: { "approval.when": { type: "null" } } } }), [
    ["schema › properties › approval.when › type", "changed", "string", "null"],
  ]);
  assert.is(
    told({}, { schema, "approval.when": "true" }).join("; "),
    `schema,new,,${JSON.stringify(schema)}; approval.when,new,,true`,
  );
});

test("what is wrong with a value is a sentence in the form's words", () => {
  const said = {
    "must be a text of 1 to 200 characters": "Write 1 to 200 characters.",
    "is needed: max_identical and window_s come together":
      "This is needed: “Identical requests” and “Within so many seconds” come together.",
    "must be a whole number from 1 to 100": "This must be a whole number from 1 to 100.",
    "it must begin with http:// or https://": "It must begin with http:// or https://.",
    "must be an object with either fixed_eur or pointer": "This must be an object with either “Euros” or pointer.",
  };
  for (const [message, sentence] of Object.entries(said)) assert.is(faultInForm(message), sentence);
});

test("a wrong value is named as the form names it, and by its pointer where the form has no field for it", () => {
  const names = {
    "": "The policy",
    "/rate_per_minute": "Requests a minute",
    "/approval/expires_after_s": "Expires after, in seconds",
    "/cost": "What a request costs",
    "/deny/0/when": "Rule 1 refuses when",
    "/deny/2/name": "Name of rule 3",
    "/deny/2": "Rule 3",
    "/require_fields/1": "Required, field 2",
    "/approval/reveal/0": "Roles that may reveal hidden fields",
    "/redact": "Hidden from all below admin",
    "/schema/properties/a": "/schema/properties/a",
    "/deny/0/constructor": "/deny/0/constructor",
    "/cost.scale": "/cost.scale",
    "/toString": "/toString",
  };
  for (const [pointer, name] of Object.entries(names)) assert.is(nameInForm(pointer), name, pointer);
});

test.run();
