import { suite } from "uvu";
import * as assert from "uvu/assert";
import { hookSource, signUp } from "../support/client.ts";
import { killPrograms, removeFolder, startProgram, temporaryFolder } from "../support/program.ts";

/** P14: an attacker with an account of its own beside a victim, over HTTP alone. */
const test = suite("isolation");
let dir: string;

test.before.each(() => {
  dir = temporaryFolder();
});
test.after.each(() => {
  killPrograms();
  removeFolder(dir);
});

const TEXT = "a".repeat(900_000);
const ELEMENTS = Array.from({ length: 200_000 }, () => 1);
const sixty = (condition: string): string => Array.from({ length: 60 }, () => condition).join(" || ");

test("P14: conditions that take all work there is are refused, never passed, and nothing of another account is refused", async () => {
  const program = await startProgram({ LOG_LEVEL: "fatal" }, dir);
  const victim = await signUp(program.url);
  const cheap = await victim.make("/v1/policies", { name: "p", deny: [{ name: "large", when: "payload.n > 9000" }] });
  const source = await hookSource(victim, { policy_id: cheap.id });
  const attacks: { readonly send: () => Promise<{ status: number; body: { code: string; verdict: object } }> }[] = [];
  for (const [when, payload] of [
    [sixty("size(payload.t) < 5"), { t: TEXT }],
    [sixty("2 in payload.l"), { l: ELEMENTS }],
    [sixty("payload.l.exists(x, x == 2)"), { l: ELEMENTS }],
    [sixty("size(payload.l.map(x, x)) < 5"), { l: ELEMENTS }],
  ] as const) {
    const attacker = await signUp(program.url);
    const policy = await attacker.make("/v1/policies", { name: "p", deny: [{ name: "costly", when }] });
    const hooks = await hookSource(attacker, { policy_id: policy.id });
    for (let n = 0; n < 4; n += 1) attacks.push({ send: () => hooks.send(`${n}`, JSON.stringify(payload)) });
  }
  const attacked = Promise.all(attacks.map(({ send }) => send()));
  for (let n = 0; n < 50; n += 1) assert.is((await source.send(`v${n}`, { n })).status, 202);
  for (const { status, body } of await attacked) {
    // The first rule fits into the budget. On a slow machine some are not decided in time, and are told to come again.
    if (status === 202 || status === 503) continue;
    assert.ok(status === 422 || status === 429, `${status} ${JSON.stringify(body)}`);
    assert.match(JSON.stringify(body.verdict), status === 422 ? '"too-costly"' : '"evaluation-rate"');
  }
  assert.is(await program.stop(), 0);
});

test.run();
