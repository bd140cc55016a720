import { suite } from "uvu";
import * as assert from "uvu/assert";
import { decide, deniedBy } from "../../../domain/gate/decide.ts";
import { requireFields } from "../../../domain/gate/require-fields.ts";
import { allowed, denied, type GateResult } from "../../../domain/gate/verdict.ts";

const test = suite("decide");

const hold: GateResult = { gate: "approval", outcome: "hold", code: "needs-approval", detail: "" };
const ok = allowed("rate", "");
const no = denied("content", "denied-by-rule", "");

test("a request that no gate is against is allowed", () => {
  assert.equal(decide([], true), { decision: "allow" });
  assert.equal(decide([ok], false), { decision: "allow" });
});

test("a denial denies, before any hold", () => {
  assert.equal(decide([ok, no, hold], true), { decision: "deny" });
  assert.equal(decide([ok, hold], true), { decision: "hold" });
});

test("an observed denial is allowed and flagged, the gate keeps its outcome", () => {
  const gates = [ok, no];
  assert.equal(decide(gates, false), { decision: "allow", observed: true });
  assert.is(gates[1]?.outcome, "deny");
});

test("observing does not release what is held", () => {
  assert.equal(decide([no, hold], false), { decision: "hold", observed: true });
});

test("observing does not lift the plan's quota or an agent's scope", () => {
  for (const gate of ["quota", "scope"] as const) {
    assert.equal(decide([denied(gate, "over", ""), no], false), { decision: "deny" });
  }
});

test("the first denial that is not only observed refuses the request", () => {
  const over = denied("quota", "over", "");
  assert.is(deniedBy([ok, no, over], true), no);
  assert.is(deniedBy([ok, no, over], false), over);
  assert.is(deniedBy([ok, no], false), undefined);
  assert.is(deniedBy([hold], true), undefined);
});

test("missing fields are named, at most five of them", () => {
  const fields = ["a", "b", "c", "d", "e", "f", "g"].map((name) => ({ name, path: [name] }));
  assert.equal(requireFields(fields, { a: 1, b: null }), {
    gate: "require_fields",
    outcome: "deny",
    code: "missing-fields",
    detail: "missing: b, c, d, e, f and 1 more",
  });
  assert.is(requireFields(fields.slice(0, 1), { a: "" }).outcome, "allow");
  assert.is(requireFields(fields.slice(0, 1), [1]).outcome, "deny");
  assert.is(requireFields(fields.slice(0, 1), null).outcome, "deny");
});

test("observing does not lift a denial of the approval gate", () => {
  const unknown = denied("approval", "evaluation-error", "");
  assert.equal(decide([ok, unknown], false), { decision: "deny" });
  assert.is(deniedBy([no, unknown], false), unknown);
});

test.run();
