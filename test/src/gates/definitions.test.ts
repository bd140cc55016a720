import { suite } from "uvu";
import * as assert from "uvu/assert";
import { actionCompiler } from "../../../src/gates/compiled-action.ts";
import { policyCompiler } from "../../../src/gates/compiled-policy.ts";
import { type DefinitionThread, definitions, definitionThread } from "../../../src/gates/definitions.ts";

const test = suite("checking definitions before they are published");

const LONG_NAME = "a".repeat(60);
const rules = (count: number, when: string) =>
  Array.from({ length: count }, (_, index) => ({ name: `${LONG_NAME} ${index}`, when }));

test("a small definition is compiled at once, a large one by another thread, with the same answer", async () => {
  const thread = definitionThread();
  const kinds: string[] = [];
  const counted: Pick<DefinitionThread, "run"> = {
    run(account, order) {
      kinds.push(order.kind);
      return thread.run(account, order);
    },
  };
  const compile = { policy: policyCompiler(), action: actionCompiler() };
  const { policy, action } = definitions(counted, compile);
  const small = { name: "p", deny: rules(1, "payload.n > 1") };
  const seen = await policy(small, "acc");
  assert.equal([seen.ok, kinds], [true, []]);
  const large = { name: "p", deny: rules(32, "payload.n > 1") };
  const far = await policy(large, "acc");
  assert.equal(far.ok && far.definition, large);
  const wrong = await policy({ name: "p", deny: rules(32, "gone()") }, "acc");
  const near = compile.policy({ name: "p", deny: rules(32, "gone()") });
  assert.equal(wrong.ok ? [] : wrong.errors, near.ok ? null : near.errors);
  const properties = Object.fromEntries(rules(40, "").map(({ name }) => [name, { type: "string" }]));
  const input = { endpoint_id: "end_1", reversibility: "irreversible", schema: { properties } } as const;
  assert.is((await action("refund", input, "acc")).ok, true);
  assert.equal(kinds, ["policy", "policy", "action"]);
  await thread.stop();
});

test.run();
