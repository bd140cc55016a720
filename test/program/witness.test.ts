import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toBase64 } from "../../domain/evidence/bytes.ts";
import { cosignedBy } from "../../domain/evidence/cosignature.ts";
import { parseNote, parseVerifierKey } from "../../domain/evidence/signed-note.ts";
import { ed25519Verify } from "../../infra/crypto/ed25519.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import { countersign } from "../support/command-line.ts";
import { removeFolder, temporaryFolder } from "../support/program.ts";
import { logKey, signedTree } from "../support/signed-tree.ts";
import { until } from "../support/until.ts";
import { startWitness } from "../support/witness-program.ts";

const test = suite("witness program");

const folder = temporaryFolder();
test.after(() => removeFolder(folder));

const INSTANCE = "hooks.example.com/instance";
const ORIGIN = `hooks.example.com/accounts/acc_${"b".repeat(32)}`;
const LOG = logKey(INSTANCE, 1);

const isCosigned = async (note: string, line: string, vkey: string): Promise<boolean> => {
  const key = parseVerifierKey(sha256, vkey);
  const parsed = parseNote(note + line);
  return key !== null && parsed !== null && typeof (await cosignedBy(ed25519Verify, parsed, key)) === "object";
};

const ROUNDS = 20;

test("a witness that is killed at any moment never forgets what it cosigned", async () => {
  const args = ["--log", LOG.vkey, "--state", join(folder, "killed")];
  const tree = signedTree(INSTANCE, LOG.signer);
  const fork = signedTree(INSTANCE, LOG.signer, (index) => `fork ${index}`);
  const first = await startWitness(args);
  assert.is((await first.add(tree.call(0, 1))).status, 200);
  await first.kill();
  let cosigned = 1;
  for (let round = 0; round < ROUNDS; round += 1) {
    const witness = await startWitness(args);
    assert.is(witness.vkey, first.vkey);
    // It knows the last size that it answered for, or the next one, whose answer the kill cut off.
    const known = Number((await witness.add(fork.call(0, 1))).body);
    assert.ok(known === cosigned || known === cosigned + 1, `round ${round}: ${known} after ${cosigned}`);
    assert.is((await witness.add(fork.call(known, known))).status, 422);
    assert.is((await witness.add(fork.call(known, known + 5))).status, 422);
    cosigned = known;
    const grow = async (): Promise<void> => {
      for (;;) {
        const answer = await witness.add(tree.call(cosigned, cosigned + 1)).catch(() => null);
        if (answer === null) return;
        assert.is(answer.status, 200, answer.body);
        cosigned += 1;
        assert.ok(await isCosigned(tree.checkpoint(cosigned), answer.body, witness.vkey));
      }
    };
    const growing = grow();
    await until("the tree grows", () => cosigned >= known + (round % 5));
    await Promise.all([growing, witness.kill()]);
  }
});

test("the newest cosigned checkpoint is read by the hash of its origin", async () => {
  const witness = await startWitness(["--log", LOG.vkey, "--state", join(folder, "read")]);
  const tree = signedTree(ORIGIN, LOG.signer);
  const { body } = await witness.add(tree.call(0, 7));
  const hash = createHash("sha256").update(ORIGIN).digest("hex");
  const newest = await fetch(`${witness.url}/${hash}/checkpoint`);
  assert.is(await newest.text(), tree.checkpoint(7) + body);
  assert.is((await fetch(`${witness.url}/${"0".repeat(64)}/checkpoint`)).status, 404);
  assert.is((await fetch(`${witness.url}/`)).status, 404);
  assert.is((await fetch(`${witness.url}/add-checkpoint`)).status, 405);
  assert.is((await witness.add("x".repeat(65_537))).status, 413);
  assert.is((await witness.add(`old 0\n\n${"x".repeat(60_000)}`)).status, 400);
  assert.is(await witness.stop(), 0);
});

test("an address that calls too often waits", async () => {
  const witness = await startWitness(["--log", LOG.vkey, "--state", join(folder, "rate")]);
  const statuses = new Set<number>();
  await until("a call is refused", async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => witness.add("")));
    for (const { status } of answers) statuses.add(status);
    return statuses.has(429);
  });
  assert.equal([...statuses].sort(), [400, 429]);
  await witness.stop();
});

test("a second process on one state ends with one sentence", async () => {
  const args = ["--log", LOG.vkey, "--state", join(folder, "shared")];
  const witness = await startWitness(args);
  const { status, stderr } = await countersign(["witness", ...args, "--listen", "127.0.0.1:0"]);
  assert.is(status, 1);
  assert.match(stderr, /shared is in use: another witness is running on it\.\n$/);
  await witness.stop();
});

test("a wrong call of the command is refused with exit code 2", async () => {
  const state = join(folder, "wrong");
  const calls: readonly (readonly [readonly string[], RegExp])[] = [
    [["--state", state, "--listen", ":0"], /witness takes --log, --state/],
    [["--log", LOG.vkey, "--listen", "127.0.0.1:0"], /witness takes --log, --state/],
    [["--log", LOG.vkey, "--state", state], /witness takes --listen, --fetch or both/],
    [["--log", "nonsense", "--state", state], /--log takes a verifier key/],
    [["--log", LOG.vkey, "--state", state, "--listen", "nowhere"], /--listen takes <host>:<port>/],
    [["--log", LOG.vkey, "--state", state, "--listen", "127.0.0.1:99999"], /--listen takes <host>:<port>/],
    [["--log", LOG.vkey, "--state", state, "--listen", "127.0.0.1:0", "--name", "a b"], /name has no space/],
  ];
  for (const [args, message] of calls) {
    const { status, stderr } = await countersign(["witness", ...args]);
    assert.is(status, 2, args.join(" "));
    assert.match(stderr, message);
  }
});

test("an auditor's witness asks for the account's checkpoints itself, and says when a tree was taken back", async () => {
  const tree = signedTree(ORIGIN, LOG.signer);
  let size = 5;
  const asked: (string | undefined)[] = [];
  const service = createServer(({ url = "", headers }, response) => {
    asked.push(headers.authorization);
    const { pathname, searchParams } = new URL(url, "http://service");
    if (pathname === "/v1/audit/checkpoint") return response.end(tree.checkpoint(size));
    const proof = tree.proof(Number(searchParams.get("from")), Number(searchParams.get("to"))).map(toBase64);
    response.end(JSON.stringify({ proof }));
  });
  service.listen(0, "127.0.0.1");
  await until("the service listens", () => service.listening);
  const env = {
    COUNTERSIGN_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
    COUNTERSIGN_API_KEY: "csk_auditor",
  };
  const args = ["--log", LOG.vkey, "--state", join(folder, "fetch"), "--fetch"];
  const rounds: readonly [number, RegExp][] = [
    [5, /cosigned hooks\.example\.com\/accounts\/acc_b+ with 5 records/],
    [12, /with 12 records/],
    [12, /with 12 records/],
    [11, /was taken back: it has 11 records, and this witness cosigned it with 12/],
  ];
  for (const [next, said] of rounds) {
    size = next;
    const witness = await startWitness(args, env);
    await until(String(said), () => said.test(witness.output()));
    assert.is(await witness.stop(), 0);
  }
  assert.equal(new Set(asked), new Set(["Bearer csk_auditor"]));
  service.closeAllConnections();
  service.close();
});

test.run();
