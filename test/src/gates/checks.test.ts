import { readdirSync, readFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { PolicyDefinition } from "../../../domain/policy/definition.ts";
import { AccountWork } from "../../../src/gates/account-work.ts";
import { type CheckThread, checkThread } from "../../../src/gates/check-thread.ts";
import { bytesOf, DIRECT_WORK_MAX, type Question, sharedChecks } from "../../../src/gates/checks.ts";
import { actionCompiler, compiledActions } from "../../../src/gates/compiled-action.ts";
import { compiledPolicies, policyCompiler } from "../../../src/gates/compiled-policy.ts";
import { testClock } from "../../support/http-app.ts";

const test = suite("checks of policies");

const LARGE = { t: "a".repeat(900_000), n: 1 };
const SIXTY_SIZES = Array.from({ length: 60 }, () => "size(payload.t) < 5").join(" || ");
const CHEAP: PolicyDefinition = { name: "cheap", deny: [{ name: "large", when: "payload.n > 1" }] };
const COSTLY: PolicyDefinition = {
  name: "costly",
  deny: [{ name: "sizes", when: SIXTY_SIZES }],
  approval: { when: "payload.n > 1", expires_after_s: 60 },
};

const policies = compiledPolicies(policyCompiler(DIRECT_WORK_MAX));
const asked = (definition: PolicyDefinition) => ({
  id: definition.name,
  version: 1,
  definition,
  compiled: policies.get("acc", definition.name, 1, definition),
});
const question = (account: string, payload: unknown, more: Partial<Question> = {}): Question => ({
  account,
  payload: () => payload,
  body: () => bytesOf(payload as never),
  isStrict: true,
  headers: {},
  source: null,
  agent: null,
  action: null,
  ...more,
});

/** A thread that answers "passed" to everything and takes the given work for each check. */
const passingThread = (work = 0) => {
  const accounts: string[] = [];
  const thread: CheckThread = {
    async run(account) {
      accounts.push(account);
      return { check: { gates: [], cost: null }, work };
    },
    stop: async () => undefined,
  };
  return { thread, accounts };
};

test("a cheap check is made at once, and does not go to the other thread", () => {
  const { thread, accounts } = passingThread();
  const checks = sharedChecks(thread, testClock());
  const check = checks.policy(asked(CHEAP), question("acc", { n: 2 }));
  assert.not.ok(check instanceof Promise);
  assert.is((check as { gates: readonly { code: string }[] }).gates[0]?.code, "denied-by-rule");
  assert.equal(accounts, []);
});

test("an expensive check stops at its budget here and is made on the other thread", async () => {
  const { thread, accounts } = passingThread();
  const checks = sharedChecks(thread, testClock());
  const policy = asked(COSTLY);
  await checks.policy(policy, question("acc", LARGE));
  assert.ok(policy.compiled.work.used <= DIRECT_WORK_MAX);
  assert.equal(accounts, ["acc"]);
});

test("this thread does not read a large body whose JSON may be ambiguous", async () => {
  const { thread, accounts } = passingThread();
  const checks = sharedChecks(thread, testClock());
  const payload = () => assert.unreachable("it is read on the other thread");
  await checks.policy(asked(CHEAP), question("acc", LARGE, { isStrict: false, payload }));
  assert.equal(accounts, ["acc"]);
});

test("an account that has used up its second is denied, and other accounts are not", async () => {
  const clock = testClock();
  const { thread, accounts } = passingThread(30_000_000);
  const checks = sharedChecks(thread, clock);
  const codes: string[] = [];
  for (let n = 0; n < 30; n += 1) {
    const { gates } = await checks.policy(asked(COSTLY), question("attacker", LARGE));
    codes.push(gates.map(({ gate, outcome, code }) => `${gate} ${outcome} ${code}`).join(", "));
  }
  assert.equal(accounts, ["attacker", "attacker"]);
  assert.equal(codes.slice(2), Array(28).fill("rate deny evaluation-rate, approval deny evaluation-rate"));
  assert.equal((await checks.policy(asked(COSTLY), question("victim", LARGE))).gates, []);
  const cheap = checks.policy(asked(CHEAP), question("victim", { n: 1 }));
  assert.not.ok(cheap instanceof Promise);
  clock.advance(1_000);
  assert.equal((await checks.policy(asked(COSTLY), question("attacker", LARGE))).gates, []);
});

test("an account's work on the main thread is bounded for each second", () => {
  const clock = testClock();
  const work = new AccountWork(100, clock);
  work.add("a", 99);
  assert.ok(work.has("a"));
  work.add("a", 1);
  assert.not.ok(work.has("a"));
  assert.ok(work.has("b"));
  clock.advance(1_000);
  assert.ok(work.has("a"));
});

test("the schema of an action is checked in the same way", async () => {
  const { thread, accounts } = passingThread();
  const checks = sharedChecks(thread, testClock());
  const compiled = (schema: object) => {
    const made = actionCompiler(DIRECT_WORK_MAX)("refund", {
      endpoint_id: "end_1",
      reversibility: "irreversible",
      schema: schema as never,
    });
    if (!made.ok) throw new Error(JSON.stringify(made.errors));
    return made.action;
  };
  const schemaAsked = (schema: object, payload: unknown) => ({
    ...question("acc", payload),
    compiled: compiled(schema),
  });
  assert.is((await checks.schema(schemaAsked({ type: "array" }, { n: 1 }))).code, "schema-mismatch");
  assert.equal(accounts, []);
  const costly = { properties: { t: { pattern: "^(a|aa|aaa)*b{900}$" } } };
  await checks.schema(schemaAsked(costly, { t: "a".repeat(30_000) }));
  assert.equal(accounts, ["acc"]);
});

test("a large payload of an agent is checked by the other thread, however cheap the check", async () => {
  const { thread, accounts } = passingThread();
  const checks = sharedChecks(thread, testClock());
  const about = { ...question("acc", LARGE), isStrict: true };
  await checks.policy(asked(CHEAP), about);
  const made = actionCompiler()("refund", {
    endpoint_id: "end_1",
    reversibility: "irreversible",
    schema: { type: "array" },
  });
  assert.ok(made.ok);
  if (made.ok) await checks.schema({ ...about, compiled: made.action });
  assert.equal(accounts, ["acc", "acc"]);
});

const order = (definition: PolicyDefinition) => ({
  account: "acc",
  key: definition.name,
  definition,
  isStrict: false,
  input: { headers: {}, source: null, agent: null, action: null },
});

test("the other thread decides as this one would, and accounts take turns on it", async () => {
  const thread = checkThread();
  const ended: string[] = [];
  const run = async (account: string, definition: PolicyDefinition, body: Uint8Array) => {
    const answer = await thread.run(account, order(definition), body);
    ended.push(account);
    return answer === "full" ? [] : answer.check.gates.map(({ gate, code }) => `${gate} ${code}`);
  };
  const body = bytesOf(LARGE);
  const attacks = Array.from({ length: 4 }, () => run("attacker", COSTLY, body));
  const victim = run("victim", CHEAP, bytesOf({ n: 2 }));
  const ambiguous = run("victim", CHEAP, Buffer.from('{"n": 1, "n": 2}'));
  assert.equal(await victim, ["content denied-by-rule"]);
  assert.equal(await ambiguous, ["content ambiguous-payload"]);
  for (const gates of await Promise.all(attacks)) assert.equal(gates, ["content ok", "approval ok"]);
  assert.equal(ended, ["attacker", "attacker", "victim", "attacker", "victim", "attacker"]);
  await thread.stop();
});

test("the other thread has a lower priority than those that answer everybody", async () => {
  if (process.platform !== "linux") return;
  /** Of each thread: field 19 of stat (proc(5)); the name before it may have spaces. */
  const niceness = () =>
    readdirSync("/proc/self/task").map((id) => {
      const stat = readFileSync(`/proc/self/task/${id}/stat`, "utf8");
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]);
    });
  const usual = Math.max(...niceness());
  const thread = checkThread();
  await sharedChecks(thread, testClock()).policy(asked(COSTLY), question("acc", LARGE));
  assert.is(niceness().filter((nice) => nice > usual).length, 1);
  await thread.stop();
});

test("an account's waiting checks are limited, and its bytes stay unchanged", async () => {
  const thread = checkThread();
  const body = bytesOf({ n: 2 });
  const answers = await Promise.all(Array.from({ length: 100 }, () => thread.run("acc", order(CHEAP), body)));
  assert.is(answers.filter((answer) => answer === "full").length, 67);
  assert.equal(JSON.parse(Buffer.from(body).toString()), { n: 2 });
  await thread.stop();
});

test("a check that never answers is a denial, and the next one gets a new thread", async () => {
  const late: (() => void)[] = [];
  const thread = checkThread({
    after(_ms, work) {
      late.push(work);
      return () => undefined;
    },
  });
  const hanging = thread.run("acc", order(COSTLY), bytesOf(LARGE));
  late[0]?.();
  const answer = await hanging;
  assert.equal(answer === "full" ? [] : answer.check.gates.map(({ code }) => code), ["too-costly", "too-costly"]);
  const next = await thread.run("acc", order(CHEAP), bytesOf({ n: 1 }));
  assert.equal(next === "full" ? [] : next.check.gates.map(({ code }) => code), ["ok"]);
  await thread.stop();
});

test("the thread checks a policy that the account has no time left to compile here", async () => {
  const { thread, accounts } = passingThread();
  const checks = sharedChecks(thread, testClock());
  const action = actionCompiler();
  const paced = compiledPolicies(policyCompiler(DIRECT_WORK_MAX), () => false);
  const compiled = paced.get("acc", "pol_1", 1, CHEAP);
  assert.is(compiled.isUncompiled, true);
  await checks.policy({ ...asked(CHEAP), compiled }, question("acc", { n: 2 }));
  const actions = compiledActions(action, () => false);
  const definition = { endpoint_id: "end_1", reversibility: "irreversible", schema: { type: "object" } } as const;
  const about = {
    phase: "defined",
    account: "acc",
    name: "refund",
    version: 1,
    by: "mem_1",
    at: "",
    createdAt: "",
  } as const;
  const its = actions.get({ ...about, actionId: "act_1", definition });
  await checks.schema({ account: "acc", payload: () => ({}), body: () => bytesOf({}), compiled: its });
  assert.equal(accounts, ["acc", "acc"]);
});

test.run();
