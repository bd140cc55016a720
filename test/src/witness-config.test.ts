import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ED25519_COSIGNATURE, formatVerifierKey, verifierKey } from "../../domain/evidence/signed-note.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import { ConfigError, type Env } from "../../src/config-error.ts";
import { readWitnesses } from "../../src/witness-config.ts";
import { removeFolder, temporaryFolder } from "../support/program.ts";

const test = suite("the configuration of witnesses");

const folder = temporaryFolder();
test.after(() => removeFolder(folder));

const VKEY = formatVerifierKey(verifierKey(sha256, "example.com/w1", ED25519_COSIGNATURE, new Uint8Array(32).fill(7)));
const fileWith = (text: string): string => {
  const path = join(folder, "policy");
  writeFileSync(path, text);
  return path;
};

const problemOf = (env: Env): string => {
  try {
    readWitnesses(env);
    return "none";
  } catch (error) {
    assert.instance(error, ConfigError);
    return (error as ConfigError).message;
  }
};

test("without a policy no witness is asked", () => {
  assert.is(readWitnesses({}), null);
  assert.is(readWitnesses({ AUDIT_WITNESSES: "", AUDIT_WITNESS_MODE: "" }), null);
});

test("a policy names the witnesses to ask and the quorum", () => {
  const path = fileWith(`witness w ${VKEY} https://w.example/prefix/\nquorum w\n`);
  for (const mode of ["open", "closed"]) {
    const config = readWitnesses({ AUDIT_WITNESSES: path, AUDIT_WITNESS_MODE: mode });
    assert.is(config?.mode, mode);
    assert.equal(
      config?.witnesses.map(({ name, url }) => [name, url]),
      [["w", "https://w.example/prefix"]],
    );
    assert.is(config?.policy.quorum, "w");
  }
});

test("each wrong value is one sentence that says what to change, and repeats no address", () => {
  const cases: readonly [string, string, RegExp][] = [
    [`witness w ${VKEY}\nquorum w`, "open", /^AUDIT_WITNESSES: the witness example\.com\/w1 in .* needs an http/],
    [`witness w ${VKEY} ftp://w\nquorum w`, "open", /needs an http or https address after its key\.$/],
    [`witness w ${VKEY} https://w/?key=hush\nquorum w`, "open", /needs an http or https address after its key\.$/],
    [`witness w ${VKEY} https://ana:hush@w/\nquorum w`, "open", /in .* has a user name\.$/],
    [`witness w ${VKEY} https://w\n`, "open", /which is no witness policy: it has no quorum line\.$/],
    ["quorum none", "open", /which has no witness to ask\.$/],
    [
      `witness w ${VKEY} https://w\nquorum none`,
      "closed",
      /is closed, but the policy in .* asks for none: name a quorum/,
    ],
    [`witness w ${VKEY} https://w\nquorum w`, "ajar", /^AUDIT_WITNESS_MODE is "ajar": it has to be open or closed\.$/],
  ];
  for (const [text, mode, sentence] of cases) {
    const problem = problemOf({ AUDIT_WITNESSES: fileWith(text), AUDIT_WITNESS_MODE: mode });
    assert.match(problem, sentence);
    assert.not.match(problem, /hush|\n/);
  }
  assert.match(problemOf({ AUDIT_WITNESSES: join(folder, "absent") }), /absent, which cannot be read: .*ENOENT/);
  assert.match(problemOf({ AUDIT_WITNESS_MODE: "closed" }), /^AUDIT_WITNESS_MODE is closed without AUDIT_WITNESSES/);
});

test.run();
