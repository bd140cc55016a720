import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { utf8 } from "../../../domain/evidence/bytes.ts";
import { cosignedBy } from "../../../domain/evidence/cosignature.ts";
import {
  formatNote,
  parseNote,
  parseVerifierKey,
  signatureOf,
  type VerifierKey,
} from "../../../domain/evidence/signed-note.ts";
import { ed25519Signer, ed25519Verify } from "../../../infra/crypto/ed25519.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { sha256 } from "../../../infra/crypto/sha256.ts";
import { openWitness } from "../../../src/witness/open-witness.ts";
import { signsFor } from "../../../src/witness/origins.ts";
import { callRates } from "../../../src/witness/rates.ts";
import { WitnessState } from "../../../src/witness/state.ts";
import { Witness } from "../../../src/witness/witness.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";
import { logKey, signedTree } from "../../support/signed-tree.ts";

const test = suite("witness");

const folder = temporaryFolder();
test.after(() => removeFolder(folder));

const ACCOUNT = `acc_${"a".repeat(32)}`;
const INSTANCE = "hooks.example.com/instance";
const LOG = logKey(INSTANCE, 1);

const fresh = (logs: readonly VerifierKey[] = [LOG.key], path = join(mkdtempSync(join(folder, "w-")), "state")) => {
  const forks: string[] = [];
  const clock = { ms: 1_700_000_000_000, now: () => clock.ms };
  const onFork = (text: string): void => void forks.push(text);
  const opened = openWitness({ path, name: "example.com/witness", logs, clock, randomness, onFork });
  const add = (body: string) => opened.witness.add(utf8(body));
  return { ...opened, path, clock, forks, add };
};

const timeOf = async (checkpoint: string, answer: string, vkey: string): Promise<number | string> => {
  const key = parseVerifierKey(sha256, vkey);
  const note = parseNote(checkpoint + answer);
  assert.ok(key !== null && note !== null);
  const verdict = await cosignedBy(ed25519Verify, note, key);
  return typeof verdict === "string" ? verdict : verdict.time;
};

/** The session of filippo.io/torchwood, cmd/litewitness/testdata/litewitness.txt, with the answers that it expects. */
const SIGSUM = "sigsum.org/v1/tree/4d6d8825a6bb689d459628312889dfbb0bcd41b5211d9e1ce768b0ff0309e562";
const SIGSUM_KEY = `${SIGSUM}+5202289b+Af/cLU2Y5BJNP+r3iMDC+av9eWCD0fBJVDfzAux5zxAP`;
const zeros = (first: number, last = 0): string =>
  Buffer.of(42, first, ...new Array(29).fill(0), last && 0x10).toString("base64");
const leaf = (number: number): string => Buffer.concat([Buffer.of(42, number), Buffer.alloc(30)]).toString("base64");
const checkpoint = (size: number, root: string, signature: string, origin = SIGSUM): string =>
  `${origin}\n${size}\n${root}\n\n— ${origin} ${signature}\n`;
const ONE = checkpoint(
  1,
  leaf(0),
  "UgIom7fPZTqpxWWhyjWduBvTvGVqsokMbqTArsQilegKoFBJQjUFAmQ0+YeSPM3wfUQMFSzVnnNuWRTYrajXpNUbIQY=",
);
const ROOT_3 = "RcCI1Nk56ZcSmIEfIn0SleqtV7uvrlXNccFx595Iwl0=";
const SIGNATURE_3 = "UgIom2VbtIcdFbwFAy1n7s6IkAxIY6J/GQOTuZF2ORV39d75cbAj2aQYwyJre36kezNobZs4SUUdrcawfAB8WVrx6go=";
const THREE = checkpoint(3, ROOT_3, SIGNATURE_3);
const FIVE = checkpoint(
  5,
  "QrtXrQZCCvpIgsSmOsah7HdICzMLLyDfxToMql9WTjY=",
  "UgIomw/EOJmWi0i1FQsOj+etB7F8IccFam/jgd6wzRns4QPVmyEZtdvl1U2KEmLOZ/ASRcWJi0tW90dJWAShei7sDww=",
);
const call = (old: number, proof: readonly string[], note: string): string =>
  `${[`old ${old}`, ...proof].join("\n")}\n\n${note}`;

test("the recorded session of another witness gets the answers that the other witness gives", async () => {
  const key = parseVerifierKey(sha256, SIGSUM_KEY);
  assert.ok(key !== null);
  const { add, vkey, close } = fresh([key]);
  const stranger = `${SIGSUM.slice(0, -1)}3`;
  const session: readonly [string, number, string?][] = [
    [call(0, [], ONE), 200],
    [call(1, [leaf(1), leaf(2)], THREE.replace("WVrx6go=", "WVrx6gx=")), 400],
    [call(1, [leaf(1), leaf(2)], THREE.replace("WVrx6go=", "WVrx6gs=")), 403],
    [call(1, [leaf(1), leaf(2)], checkpoint(3, ROOT_3, SIGNATURE_3, stranger)), 404],
    [call(1, [], THREE), 422],
    [call(1, [leaf(1), zeros(2, 1)], THREE), 422],
    [call(1, [leaf(1), leaf(2)], THREE), 200],
    [call(1, [leaf(2), "+fUDV+k970B4I3uKrqJM4aP1lloPZP8mvr2Z4wRw2LI=", leaf(4)], FIVE), 409, "3\n"],
    [call(3, [leaf(2), leaf(3), "wgiIFdZfYNv6WU1OllBKsWnLYIS/DBMqt8Uh/S4OukE=", leaf(4)], FIVE), 200],
    [call(0, [], FIVE), 409, "5\n"],
  ];
  for (const [index, [body, status, said]] of session.entries()) {
    const answer = await add(body);
    assert.equal(answer.status, status, `call ${index}: ${answer.body}`);
    if (said !== undefined) assert.equal([answer.type, answer.body], ["text/x.tlog.size", said]);
  }
  const { body } = await add(call(5, [], FIVE));
  assert.equal(await timeOf(FIVE, body, vkey), 1_700_000_000);
  close();
});

test("the request of the specification's example is understood", async () => {
  const { add, close } = fresh([logKey("example.com/behind-the-sofa", 9).key]);
  const body = `old 20852014
PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=
jrJZDmY8Y7SyJE0MWLpLozkIVMSMZcD5kvuKxPC3swk=
5+pKlUdi2LeF/BcMHBn+Ku6yhPGNCswZZD1X/6QgPd8=
/6WVhPs2CwSsb5rYBH5cjHV/wSmA79abXAwhXw3Kj/0=

example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
— example.com/behind-the-sofa opLqBQsREYCgu6xQkYQwJr9fo45a62DN9EdmHXnZdXNqlcVGlCum2Wks+49/V6267UEjw6QUXTS5Rovnzv++qbSzm9Q=
`;
  // The key behind the example is not published, so the signature is by a key that this witness does not know.
  assert.equal((await add(body)).status, 403);
  close();
});

test("a tree that grows is cosigned at every size, and so is the same size again", async () => {
  const { add, vkey, clock, witness, close } = fresh();
  const tree = signedTree(INSTANCE, LOG.signer);
  let from = 0;
  for (const to of [0, 1, 1, 2, 3, 7, 8, 64, 100, 1_000]) {
    clock.ms += 1_000;
    const answer = await add(tree.call(from, to));
    assert.equal(answer.status, 200, `${from} to ${to}: ${answer.body}`);
    assert.equal(await timeOf(tree.checkpoint(to), answer.body, vkey), clock.ms / 1_000);
    from = to;
  }
  const hash = Buffer.from(sha256(utf8(INSTANCE))).toString("hex");
  assert.equal(await timeOf(witness.newest(hash) ?? "", "", vkey), clock.ms / 1_000);
  assert.ok(witness.newest(hash)?.startsWith(tree.checkpoint(1_000)));
  assert.equal(witness.newest("0".repeat(64)), null);
  close();
});

test("each thing that a witness has to refuse has the answer of the protocol and changes nothing", async () => {
  const { add, witness, forks, close } = fresh();
  const tree = signedTree(INSTANCE, LOG.signer);
  const other = signedTree(INSTANCE, LOG.signer, (index) => `other ${index}`);
  assert.equal((await add(tree.call(0, 10))).status, 200);
  const stranger = logKey(INSTANCE, 2);
  const cases: Readonly<Record<string, readonly [string, number]>> = {
    "a smaller tree, from its own size": [tree.call(5, 5), 409],
    "a smaller tree": [tree.call(10, 10).replace("\n10\n", "\n9\n"), 403],
    "a smaller tree, signed": [`old 10\n\n${tree.checkpoint(9)}`, 400],
    "an earlier old size": [tree.call(9, 12), 409],
    "a later old size": [tree.call(11, 12), 409],
    "another history": [other.call(10, 20), 422],
    "another history of the same size": [other.call(10, 10), 422],
    "a proof where the size is the same": [`old 10\n${leaf(1)}\n\n${tree.checkpoint(10)}`, 422],
    "no proof": [`old 10\n\n${tree.checkpoint(12)}`, 422],
    "a key of the same name": [signedTree(INSTANCE, stranger.signer).call(10, 12), 403],
    "another host": [signedTree("evil.example/instance", LOG.signer).call(0, 1), 404],
    "an account's proof for an empty tree": [
      `old 0\n${leaf(1)}\n\n${signedTree(`hooks.example.com/accounts/${ACCOUNT}`, LOG.signer).checkpoint(2)}`,
      422,
    ],
    "no body": ["", 400],
    "no blank line": ["old 10\n", 400],
    "a leading zero": [tree.call(10, 12).replace("old 10", "old 010"), 400],
    "a negative size": [tree.call(10, 12).replace("old 10", "old -1"), 400],
    "a size that cannot be counted to": [tree.call(10, 12).replace("old 10", "old 9007199254740993"), 400],
    "too many lines": [`old 10\n${`${leaf(1)}\n`.repeat(64)}\n${tree.checkpoint(12)}`, 400],
    "half a hash": [tree.call(10, 12).replace("\n\n", `\n${leaf(1).slice(0, 20)}\n\n`), 400],
    "carriage returns": [tree.call(10, 12).replaceAll("\n", "\r\n"), 400],
    "no signature": [`old 10\n\n${tree.checkpoint(12).split("— ")[0]}`, 400],
  };
  for (const [name, [body, status]] of Object.entries(cases)) {
    const answer = await add(body);
    assert.equal(answer.status, status, `${name}: ${answer.body}`);
    if (status === 409) assert.equal([answer.type, answer.body], ["text/x.tlog.size", "10\n"], name);
  }
  assert.equal(witness.seen(INSTANCE)?.size, 10);
  assert.equal(forks.length, 1);
  assert.ok(forks[0]?.includes(tree.checkpoint(10)) && forks[0]?.includes(other.checkpoint(10)));
  assert.equal((await add(tree.call(10, 12))).status, 200);
  close();
});

test("an empty tree is cosigned only with the root of no leaves", async () => {
  const { add, close } = fresh();
  const tree = signedTree(INSTANCE, LOG.signer);
  assert.equal((await add(tree.call(0, 0))).status, 200);
  const wrong = logKey("wrong.example/instance", 1);
  const lying = fresh([wrong.key]);
  const text = `wrong.example/instance\n0\n${leaf(1)}\n`;
  const sign = (seed: Uint8Array, message: Uint8Array) => ed25519Signer(seed).sign(message);
  const note = formatNote({ text, signatures: [signatureOf(sign, text, wrong.signer)] });
  assert.equal((await lying.add(`old 0\n\n${note}`)).status, 422);
  close();
  lying.close();
});

test("of simultaneous calls for one origin, one is cosigned and the others are told its size", async () => {
  const { add, close } = fresh();
  const tree = signedTree(INSTANCE, LOG.signer);
  const answers = await Promise.all([5, 9, 7, 9, 3].map((size) => add(tree.call(0, size))));
  const [cosigned = [], refused = []] = [200, 409].map((status) =>
    answers.filter((answer) => answer.status === status),
  );
  assert.equal(cosigned.length, 1);
  assert.equal(refused.length, 4);
  assert.equal(new Set(refused.map(({ body }) => body)).size, 1);
  close();
});

test("a clock that is set back never takes back the time of a cosignature", async () => {
  const { add, vkey, clock, close } = fresh();
  const tree = signedTree(INSTANCE, LOG.signer);
  await add(tree.call(0, 5));
  clock.ms -= 3_600_000;
  const { body } = await add(tree.call(5, 6));
  assert.equal(await timeOf(tree.checkpoint(6), body, vkey), 1_700_000_000);
  close();
});

test("a key of Countersign signs for the instance, its accounts and their generations, another key for its name", () => {
  const cases: readonly [string, string, boolean][] = [
    [INSTANCE, INSTANCE, true],
    [INSTANCE, "hooks.example.com/2/instance", true],
    [INSTANCE, `hooks.example.com/accounts/${ACCOUNT}`, true],
    [INSTANCE, `hooks.example.com/3/accounts/${ACCOUNT}`, true],
    [INSTANCE, "hooks.example.com/1/instance", false],
    [INSTANCE, "hooks.example.com/02/instance", false],
    [INSTANCE, "hooks.example.com/accounts/acc_short", false],
    [INSTANCE, `hooks.example.com/accounts/${ACCOUNT}/more`, false],
    [INSTANCE, `hooks.example.com.evil/accounts/${ACCOUNT}`, false],
    [INSTANCE, "other.example.com/instance", false],
    ["hooks.example.com/2/instance", "hooks.example.com/instance", false],
    ["example.com/log", "example.com/log", true],
    ["example.com/log", "example.com/instance", false],
    ["/instance", `/accounts/${ACCOUNT}`, false],
  ];
  for (const [name, origin, expected] of cases) assert.equal(signsFor(name, origin), expected, `${name} ${origin}`);
});

test("several logs, and two keys of one log, are witnessed side by side", async () => {
  const next = logKey(INSTANCE, 3);
  const foreign = logKey("example.com/log", 4);
  const { add, close } = fresh([LOG.key, next.key, foreign.key]);
  const account = `hooks.example.com/accounts/${ACCOUNT}`;
  assert.equal((await add(signedTree(INSTANCE, LOG.signer).call(0, 3))).status, 200);
  assert.equal((await add(signedTree(INSTANCE, next.signer).call(3, 4))).status, 200);
  assert.equal((await add(signedTree(account, LOG.signer).call(0, 3))).status, 200);
  assert.equal((await add(signedTree("example.com/log", foreign.signer).call(0, 3))).status, 200);
  assert.equal((await add(signedTree("example.com/log", LOG.signer).call(0, 3))).status, 403);
  close();
});

test("a witness keeps a limited number of origins, and those it has are cosigned on", async () => {
  const state = WitnessState.open(join(folder, "limited"));
  const signer = { ...LOG.signer, type: 4 as const };
  const clock = { now: () => 0 };
  const witness = new Witness({ logs: [LOG.key], signer, state, clock, onFork: () => undefined, originsMax: 1 });
  const add = (body: string) => witness.add(utf8(body));
  assert.equal((await add(signedTree(INSTANCE, LOG.signer).call(0, 3))).status, 200);
  const account = signedTree(`hooks.example.com/accounts/${ACCOUNT}`, LOG.signer);
  assert.equal((await add(account.call(0, 3))).status, 503);
  assert.equal((await add(signedTree(INSTANCE, LOG.signer).call(3, 4))).status, 200);
  state.close();
});

test("a state is for one process, survives a restart, and belongs to its key", async () => {
  const { path, vkey, add, close } = fresh();
  const tree = signedTree(INSTANCE, LOG.signer);
  await add(tree.call(0, 10));
  assert.throws(() => fresh([LOG.key], path), /is in use: another witness is running on it/);
  close();
  const again = fresh([LOG.key], path);
  assert.equal(again.vkey, vkey);
  assert.equal((await again.add(signedTree(INSTANCE, LOG.signer, (i) => `other ${i}`).call(0, 10))).body, "10\n");
  again.close();
});

test("a key whose memory was lost cosigns nothing", async () => {
  const { path, add, close } = fresh();
  await add(signedTree(INSTANCE, LOG.signer).call(0, 10));
  close();
  renameSync(path, `${path}.away`);
  const lost =
    /not that of the witness with the key file .*: restore it, or move the key away to begin as a new witness/;
  assert.throws(() => fresh([LOG.key], path), lost);
  writeFileSync(path, "");
  assert.throws(() => fresh([LOG.key], path), lost);
  renameSync(`${path}.away`, path);
  fresh([LOG.key], path).close();
  const key = `${path}.key`;
  chmodSync(key, 0o644);
  assert.throws(() => fresh([LOG.key], path), /others can read it: run "chmod 600/);
  rmSync(key);
  assert.throws(() => fresh([LOG.key], path), /The key file .* is missing: restore it/);
  writeFileSync(path, "no database");
  assert.throws(() => fresh([LOG.key], path), /cannot be used as a witness' state/);
});

test("a witness that died before its key was written makes another one", () => {
  const path = join(folder, "died");
  const state = WitnessState.open(path);
  state.setKey("example.com/witness+00000000+key that was never written");
  state.close();
  const { vkey, close } = fresh([LOG.key], path);
  close();
  const again = fresh([LOG.key], path);
  assert.equal(again.vkey, vkey);
  again.close();
});

test("an address may call so often, and others are not affected", () => {
  let now = 0;
  const mayCall = callRates(3, 2, () => now);
  assert.equal(["a", "a", "a", "a", "b"].map(mayCall), [true, true, true, false, true]);
  now += 1_000;
  assert.equal(["a", "a", "a"].map(mayCall), [true, true, false]);
  now -= 60_000;
  assert.equal(mayCall("a"), false);
});

test.run();
