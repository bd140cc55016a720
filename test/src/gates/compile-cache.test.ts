import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { PolicyDefinition } from "../../../domain/policy/definition.ts";
import { COMPILED_BYTES_PER_S, COMPILED_MAX, CompileCache, compilePace } from "../../../src/gates/compile-cache.ts";
import { compiledPolicies, type PolicyCompiler, policyCompiler } from "../../../src/gates/compiled-policy.ts";
import { testClock } from "../../support/http-app.ts";

const test = suite("what was compiled");

const DEFINITION: PolicyDefinition = { name: "p", deny: [{ name: "large", when: "payload.n > 1" }] };

/** Counts what is compiled. */
const counted = () => {
  const compile = policyCompiler();
  const names: string[] = [];
  const counting: PolicyCompiler = (definition) => {
    const compiled = compile(definition);
    names.push(compiled.ok ? compiled.definition.name : "");
    return compiled;
  };
  return { counting, names };
};

test("an account that fills the cache evicts only its own definitions", () => {
  const cache = new CompileCache<number>();
  cache.add("quiet", "policy", 0);
  for (let index = 0; index < 2 * COMPILED_MAX; index += 1) cache.add("loud", `policy ${index}`, index);
  assert.is(cache.get("quiet", "policy"), 0);
  assert.is(cache.get("loud", `policy ${COMPILED_MAX}`), undefined);
  assert.is(cache.get("loud", `policy ${2 * COMPILED_MAX - 1}`), 2 * COMPILED_MAX - 1);
});

test("an account that rotates through many policies has few of them compiled on this thread in a second", () => {
  const clock = testClock();
  const { counting, names } = counted();
  const policies = compiledPolicies(counting, compilePace(clock));
  const rotate = (): void => {
    for (let index = 0; index < 2 * COMPILED_MAX; index += 1) policies.get("loud", `pol_${index}`, 1, DEFINITION);
  };
  rotate();
  const inOneSecond = names.length;
  // Even the smallest definition counts as 256 bytes.
  assert.is(inOneSecond, COMPILED_BYTES_PER_S / 256);
  rotate();
  assert.is(names.length, inOneSecond);
  assert.is(policies.get("loud", "pol_999", 1, DEFINITION).isUncompiled, true);
  assert.is(policies.get("quiet", "pol_q", 1, DEFINITION).isUncompiled, undefined);
  clock.advance(1_000);
  assert.is(policies.get("loud", "pol_999", 1, DEFINITION).isUncompiled, undefined);
});

test("a long definition is never compiled on this thread", () => {
  const { counting, names } = counted();
  const policies = compiledPolicies(counting, compilePace(testClock()));
  const deny = Array.from({ length: 32 }, (_, index) => ({
    name: `r${index}`,
    when: `payload.n > 1${"0".repeat(200)}`,
  }));
  assert.is(policies.get("acc", "pol_1", 1, { name: "long", deny }).isUncompiled, true);
  assert.equal(names, []);
});

test("a policy without a schema or a condition is compiled without counting", () => {
  const policies = compiledPolicies(policyCompiler(), () => false);
  assert.is(policies.get("acc", "pol_1", 1, { name: "p", rate_per_minute: 5 }).isUncompiled, undefined);
});

test("a policy that is not compiled on this thread still denies", () => {
  const policies = compiledPolicies(policyCompiler(), () => false);
  const about = { ambiguous: false, headers: {}, source: null, agent: null, action: null };
  const { gates } = policies.get("acc", "pol_1", 1, DEFINITION).check({ ...about, payload: { n: 2 } });
  assert.is(gates[0]?.code, "denied-by-rule");
});

test.run();
