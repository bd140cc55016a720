import { suite } from "uvu";
import * as assert from "uvu/assert";
import { inAnyScope, inScope, isScopePattern } from "../../../domain/agent/scope.ts";

const test = suite("an agent's scope");

const SCOPES: readonly (readonly [readonly string[], string, boolean])[] = [
  [["refund.create"], "refund.create", true],
  [["refund.create"], "refund.create.now", false],
  [["refund.*"], "refund.create", true],
  [["refund.*"], "refund.partial.create", true],
  [["refund.*"], "refund", false],
  [["refund.*"], "refunds.create", false],
  [["*"], "anything.at-all", true],
  [["mail.send", "refund.*"], "refund.create", true],
  [[], "refund.create", false],
];

for (const [actions, action, expected] of SCOPES) {
  test(`${JSON.stringify(actions)} ${expected ? "includes" : "does not include"} ${action}`, () => {
    assert.is(inScope({ actions }, action), expected);
  });
}

test("a pattern is a name, the beginning of a name with a star after its dot, or a star", () => {
  for (const good of ["a", "refund.create", "refund.*", "a.b-c.d_e.*", "*"]) assert.ok(isScopePattern(good), good);
  const bad = [
    "",
    "Refund",
    "refund*",
    "*.create",
    "refund.*.now",
    ".*",
    "a..b",
    "a.",
    "**",
    "a b",
    "é",
    "a".repeat(101),
  ];
  for (const pattern of bad) assert.not(isScopePattern(pattern), pattern);
});

test("an action is in any of many scopes if it is in one of them", () => {
  const scopes = [["refund.*"], ["note", "a.b.*"], ["*"]].map((actions) => ({ actions }));
  for (const action of ["refund", "refund.create", "refunds.create", "note", "note.write", "a.b", "a.b.c.d"]) {
    for (const some of [scopes, scopes.slice(0, 2), scopes.slice(0, 1), []]) {
      assert.is(
        inAnyScope(some)(action),
        some.some((scope) => inScope(scope, action)),
        action,
      );
    }
  }
});

test.run();
