import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { loadKey } from "../../../infra/crypto/keyfile.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";

const test = suite<{ dir: string; path: string }>("the server's key");
test.before.each((context) => {
  context.dir = mkdtempSync(join(tmpdir(), "countersign-key-"));
  context.path = join(context.dir, "key");
});
test.after.each(({ dir }) => rmSync(dir, { recursive: true }));

const refuses = (load: () => unknown, saying: RegExp): void =>
  assert.throws(load, (error: Error) => error.name === "KeyUnusable" && saying.test(error.message));

test("the environment comes first and no file is made", ({ path }) => {
  const env = Buffer.alloc(32, 7).toString("base64");
  assert.equal(Buffer.from(loadKey({ env, path }, randomness)), Buffer.alloc(32, 7));
  assert.not.ok(existsSync(path));
});
test("a key that is not exactly 32 bytes of canonical base64 is refused", ({ path }) => {
  const right = Buffer.alloc(32, 0xfb).toString("base64");
  const wrong = [
    "x",
    right.slice(0, -1),
    `${right}\n`,
    ` ${right}`,
    right.replaceAll("+", "-"),
    Buffer.alloc(31).toString("base64"),
  ];
  const another = `${right.slice(0, -2)}t=`;
  assert.is.not(another, right);
  for (const env of [...wrong, another, "00".repeat(32)]) {
    refuses(() => loadKey({ env, path }, randomness), /^COUNTERSIGN_KEY must be 32 bytes in base64/);
  }
});
test("a missing key file is created once, for its owner alone, and no draft is left", ({ dir, path }) => {
  const made = loadKey({ path }, randomness);
  assert.is(made.length, 32);
  assert.is(statSync(path).mode & 0o777, 0o600);
  assert.equal(loadKey({ path, env: "" }, randomness), made);
  assert.equal(readdirSync(dir), ["key"]);
});
test("a file that others can reach is refused with what to do", ({ path }) => {
  loadKey({ path }, randomness);
  for (const mode of [0o640, 0o604, 0o644, 0o660]) {
    chmodSync(path, mode);
    refuses(() => loadKey({ path }, randomness), /chmod 600/);
  }
  chmodSync(path, 0o400);
  assert.is(loadKey({ path }, randomness).length, 32);
});
test("a damaged file is refused and left as it is", ({ path }) => {
  for (const content of ["", "not a key", Buffer.alloc(16).toString("base64")]) {
    writeFileSync(path, content, { mode: 0o600 });
    refuses(() => loadKey({ path }, randomness), /must be 32 bytes/);
    assert.is(readFileSync(path, "utf8"), content);
  }
});
test("a missing key file is not replaced where data exists", ({ path }) => {
  refuses(() => loadKey({ path, mayCreate: false }, randomness), /is missing/);
  assert.not.ok(existsSync(path));
});
test("a missing directory is reported in one sentence", ({ dir }) =>
  refuses(() => loadKey({ path: join(dir, "no", "key") }, randomness), /cannot be created/));
test.run();
