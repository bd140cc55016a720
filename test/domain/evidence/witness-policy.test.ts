import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ED25519, ED25519_COSIGNATURE, formatVerifierKey, verifierKey } from "../../../domain/evidence/signed-note.ts";
import {
  isQuorum,
  POLICY_BYTES_MAX,
  parseWitnessPolicy,
  type WitnessPolicy,
} from "../../../domain/evidence/witness-policy.ts";
import { sha256 } from "../../../infra/crypto/sha256.ts";

const test = suite("witness policy");

const keyOf = (name: string, number: number, type: typeof ED25519 | typeof ED25519_COSIGNATURE): string =>
  formatVerifierKey(verifierKey(sha256, name, type, new Uint8Array(32).fill(number)));
const witness = (number: number): string => keyOf(`example.com/w${number}`, number, ED25519_COSIGNATURE);
const LOG = keyOf("example.com/instance", 200, ED25519);

const parse = (text: string | Uint8Array) =>
  parseWitnessPolicy(sha256, typeof text === "string" ? new TextEncoder().encode(text) : text);
const policyOf = (text: string): WitnessPolicy => {
  const parsed = parse(text);
  assert.ok(parsed.ok, parsed.ok ? "" : parsed.problem);
  return parsed.policy;
};
const problemOf = (text: string | Uint8Array): string => {
  const parsed = parse(text);
  return parsed.ok ? "none" : parsed.problem;
};

/** The example of C2SP tlog-policy, with keys. */
const EXAMPLE = `log ${LOG}

witness X1 ${witness(1)}
witness X2 ${witness(2)}
witness X3 ${witness(3)}
group X-witnesses 2 X1 X2 X3

witness Y1 ${witness(4)}
witness Y2 ${witness(5)}
witness Y3 ${witness(6)}
group Y-witnesses any Y1 Y2 Y3

group X-and-Y all X-witnesses Y-witnesses
quorum X-and-Y
`;

test("the example of the specification asks for two of X and one of Y", () => {
  const policy = policyOf(EXAMPLE);
  assert.equal(policy.logs.length, 1);
  assert.equal(
    policy.witnesses.map(({ name }) => name),
    ["X1", "X2", "X3", "Y1", "Y2", "Y3"],
  );
  const cases: readonly [string[], boolean][] = [
    [[], false],
    [["X1", "X2"], false],
    [["X1", "Y1"], false],
    [["Y1", "Y2", "Y3"], false],
    [["X1", "X3", "Y2"], true],
    [["X1", "X2", "X3", "Y1", "Y2", "Y3"], true],
  ];
  for (const [names, reached] of cases) assert.equal(isQuorum(policy, new Set(names)), reached, names.join());
});

test("a quorum can be one witness, or none", () => {
  const one = policyOf(`witness w ${witness(1)} https://w.example/\nquorum w\n`);
  assert.equal(one.witnesses[0]?.url, "https://w.example/");
  assert.equal(isQuorum(one, new Set()), false);
  assert.equal(isQuorum(one, new Set(["w"])), true);
  assert.equal(isQuorum(policyOf("quorum none\n"), new Set()), true);
});

test("comments, blank lines, tabs, spaces around words and a last line without its newline are accepted", () => {
  const policy = policyOf(`# of 2026\n \t\n\t witness\t w  ${witness(1)} \n  # more\nquorum   w`);
  assert.equal(policy.quorum, "w");
});

test("a name is a string of octets, which need not be UTF-8", () => {
  const bytes = Buffer.concat([
    Buffer.from("witness "),
    Buffer.of(0xff, 0xfe),
    Buffer.from(` ${witness(1)}\nquorum `),
    Buffer.of(0xff, 0xfe),
  ]);
  const parsed = parse(bytes);
  assert.ok(parsed.ok);
  assert.equal(isQuorum(parsed.policy, new Set(["\u00ff\u00fe"])), true);
});

test("32 logs, witnesses and groups are taken", () => {
  const numbers = Array.from({ length: 32 }, (_, i) => i + 1);
  const lines = numbers.flatMap((n) => [
    `log ${keyOf(`example.com/${n}`, n, ED25519)}`,
    `witness w${n} ${witness(n)}`,
    n === 1 ? "group g1 all w1" : `group g${n} any g${n - 1} w${n}`,
  ]);
  const policy = policyOf([...lines, "quorum g32"].join("\n"));
  assert.equal(isQuorum(policy, new Set(["w17"])), true);
});

test("each line that breaks a rule is named, with the rule", () => {
  const w = `witness w ${witness(1)}\n`;
  const v = `witness v ${witness(2)}\n`;
  const cases: Readonly<Record<string, string>> = {
    "": "it has no quorum line",
    [w]: "it has no quorum line",
    [`${w}quorum v\n`]: "line 2 names v, which no line above defines",
    [`quorum w\n${w}`]: "line 1 names w, which no line above defines",
    [`${w}quorum w\nquorum none\n`]: "line 3 is the second quorum",
    [`${w}quorum w w\n`]: "line 2 does not have one name",
    [`${w}witness w ${witness(2)}\n`]: "line 2 gives the name w again",
    [`witness none ${witness(1)}\n`]: "line 1 gives the name none again",
    [`${w}witness v ${keyOf("elsewhere", 1, ED25519_COSIGNATURE)}\n`]:
      "line 2 repeats the public key of an earlier line",
    [`log ${LOG}\nlog ${keyOf("elsewhere", 200, ED25519)}\n`]: "line 2 repeats the public key of an earlier line",
    [`witness w ${LOG}\n`]: "line 1 has no Ed25519 verifier key of the type 0x04",
    [`log ${witness(1)}\n`]: "line 1 has no Ed25519 verifier key of the type 0x01",
    "witness w\n": "line 1 has no Ed25519 verifier key of the type 0x04",
    [`witness w ${witness(1)} http://a b\n`]: "line 1 has too many words",
    [`${w}group g\n`]: "line 2 has no members",
    [`${w}group g 1\n`]: "line 2 has no members",
    [`${w}group g any none\n`]: "line 2 names none, which no line above defines",
    [`${w}group g any g\n`]: "line 2 names g, which no line above defines",
    [`${w}group w any w\n`]: "line 2 gives the name w again",
    [`${w}group g any w w\n`]: "line 2 makes w a member again",
    [`${w}group g any w\ngroup h any w\n`]: "line 3 makes w a member again",
    [`${w}${v}group g 3 w v\n`]: "line 3 asks for 3 of 2 members: it takes all, any or a number up to it",
    [`${w}group g 0 w\n`]: "line 2 asks for 0 of 1 members: it takes all, any or a number up to it",
    [`${w}group g 01 w\n`]: "line 2 asks for 01 of 1 members: it takes all, any or a number up to it",
    "quorum none\r\n": "line 1 has a control character",
    "constructor\nquorum none\n": "line 1 begins with none of log, witness, group, quorum",
    "Quorum none\n": "line 1 begins with none of log, witness, group, quorum",
  };
  for (const [text, problem] of Object.entries(cases)) assert.equal(problemOf(text), problem, text);
});

test("a file is limited in its length and in its entries", () => {
  assert.equal(problemOf(new Uint8Array(POLICY_BYTES_MAX + 1).fill(0x20)), "it has over 65536 bytes");
  const many = Array.from({ length: 65 }, (_, i) => `witness w${i} ${witness(i)}\n`).join("");
  assert.equal(problemOf(many), "line 65 is one too many: at most 64 logs, witnesses and groups are taken");
});

test.run();
