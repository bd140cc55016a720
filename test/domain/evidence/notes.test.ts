import { createHash, createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { fromBase64, toBase64 } from "../../../domain/evidence/bytes.ts";
import {
  accountOrigin,
  checkpointText,
  FIRST_GENERATION,
  instanceOrigin,
  parseCheckpoint,
  parseOrigin,
  parseSize,
  signingKeyName,
} from "../../../domain/evidence/checkpoint.ts";
import {
  cosignatureMessage,
  cosignatureOf,
  cosignedBy,
  parseTimedSignature,
} from "../../../domain/evidence/cosignature.ts";
import {
  ED25519,
  ED25519_COSIGNATURE,
  formatNote,
  formatSignatureLine,
  formatSignerKey,
  formatVerifierKey,
  parseNote,
  parseSignatureLine,
  parseSignerKey,
  parseVerifierKey,
  type SignEd25519,
  signatureOf,
  type VerifyEd25519,
  verifiedBy,
  verifierKey,
} from "../../../domain/evidence/signed-note.ts";
import { parseSigningKeyLeaf, signingKeyLeaf } from "../../../domain/evidence/signing-key.ts";
import { formatTlogProof, parseTlogProof } from "../../../domain/evidence/tlog-proof.ts";

const test = suite("notes");

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(bytes).digest());

/** Node takes Ed25519 keys in DER alone (RFC 8410, section 7 and 4): a fixed beginning, then the 32 bytes. */
const PRIVATE_DER = Buffer.from("302e020100300506032b657004220420", "hex");
const PUBLIC_DER = Buffer.from("302a300506032b6570032100", "hex");
const privateKey = (seed: Uint8Array) =>
  createPrivateKey({ key: Buffer.concat([PRIVATE_DER, seed]), format: "der", type: "pkcs8" });
const publicKeyOf = (seed: Uint8Array): Uint8Array =>
  createPublicKey(privateKey(seed)).export({ format: "der", type: "spki" }).subarray(PUBLIC_DER.length);
const signEd25519: SignEd25519 = (seed, message) => sign(null, message, privateKey(seed));
const verifyEd25519: VerifyEd25519 = (publicKey, message, signature) =>
  verify(
    null,
    message,
    createPublicKey({ key: Buffer.concat([PUBLIC_DER, publicKey]), format: "der", type: "spki" }),
    signature,
  );

/** The example of C2SP signed-note. */
const VKEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
const NOTE = `This is an example message.

— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
`;

const defined = <T>(value: T | null): T => {
  assert.is.not(value, null);
  return value as T; // The line before has refused null.
};

test("the example of C2SP signed-note verifies, and a changed text does not", async () => {
  const key = defined(parseVerifierKey(sha256, VKEY));
  assert.is(formatVerifierKey(key), VKEY);
  const note = defined(parseNote(NOTE));
  assert.is(note.text, "This is an example message.\n");
  assert.is(formatNote(note), NOTE);
  assert.is(await verifiedBy(verifyEd25519, note, key), "verified");
  assert.is(await verifiedBy(verifyEd25519, { ...note, text: "This is an example massage.\n" }, key), "wrong");
  assert.is(await verifiedBy(verifyEd25519, note, { ...key, name: "example.com/bar" }), "absent");
});

test("a note that signed-note does not allow is refused", () => {
  const signature = NOTE.slice(NOTE.indexOf("—"));
  const malformed: Readonly<Record<string, string>> = {
    "no blank line": `text\n${signature}`,
    "no signature": "text\n\n",
    "no newline at the end": NOTE.slice(0, -1),
    "a control character": `te\u0001xt\n\n${signature}`,
    "a carriage return": `text\r\n\n${signature}`,
    "half a character": `te\ud800xt\n\n${signature}`,
    "another line among the signatures": `text\n\n${signature}more\n`,
    "a hyphen for the dash": `text\n\n${signature.replace("—", "-")}`,
    "base64 without its padding": `text\n\n${signature.replace("=", "")}`,
    "base64 whose last bits are not zero": `text\n\n${signature.replace("aQM=", "aQN=")}`,
    "a space in the name": `text\n\n${signature.replace("example.com/foo", "example com/foo")}`,
    "a plus in the name": `text\n\n${signature.replace("example.com/foo", "example+com/foo")}`,
    "too many signatures": `text\n\n${signature.repeat(101)}`,
  };
  for (const [why, note] of Object.entries(malformed)) assert.is(parseNote(note), null, why);
  assert.ok(parseNote(`text\n\nwith an empty line\n\n${signature.repeat(100)}`));
});

test("a key whose id is not that of its bytes is refused, and of a signer key both texts fit together", () => {
  for (const text of [VKEY.replace("530d903a", "530d903b"), VKEY.replace("+Aek", "+Auk"), "x+y", VKEY.slice(0, -4)])
    assert.is(parseVerifierKey(sha256, text), null, text);
  const seed = new Uint8Array(32).fill(7);
  const key = verifierKey(sha256, "example.com/instance", ED25519, publicKeyOf(seed));
  const text = formatSignerKey({ ...key, seed });
  assert.ok(text.startsWith(`PRIVATE+KEY+example.com/instance+`));
  assert.equal(parseSignerKey(text)?.keyId, key.keyId);
  assert.equal(parseSignerKey(text)?.seed, seed);
  assert.is(parseSignerKey(text.slice(1)), null);
});

/** The example of C2SP tlog-checkpoint and tlog-cosignature. */
const CHECKPOINT = `example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=
`;

test("the checkpoint of C2SP tlog-checkpoint is read and written, and others are refused", () => {
  const checkpoint = defined(parseCheckpoint(CHECKPOINT));
  assert.is(checkpoint.origin, "example.com/behind-the-sofa");
  assert.is(checkpoint.size, 20_852_163);
  assert.is(checkpointText(checkpoint.origin, checkpoint), CHECKPOINT);
  assert.equal(parseCheckpoint(`${CHECKPOINT}more\n`)?.extensions, ["more"]);
  for (const text of [
    CHECKPOINT.slice(0, -1),
    `${CHECKPOINT}\n`,
    `\n${CHECKPOINT}`,
    CHECKPOINT.replace("20852163", "020852163"),
    CHECKPOINT.replace("20852163", "-1"),
    CHECKPOINT.replace("20852163", "1e3"),
    CHECKPOINT.replace("20852163", "9007199254740993"),
    CHECKPOINT.replace("CsUYapGG", "CsUY"),
  ])
    assert.is(parseCheckpoint(text), null, text);
  assert.is(parseSize("0"), 0);
});

test("an origin says host, generation and account, and has one form", () => {
  const first = { host: "cs.example.com:8443", generation: FIRST_GENERATION };
  const second = { ...first, generation: 2 };
  assert.is(accountOrigin(first, "acc_a"), "cs.example.com:8443/accounts/acc_a");
  assert.is(instanceOrigin(second), "cs.example.com:8443/2/instance");
  assert.is(signingKeyName(first.host), "cs.example.com:8443/instance");
  assert.equal(parseOrigin(accountOrigin(second, "acc_a")), { ...second, account: "acc_a" });
  assert.equal(parseOrigin(instanceOrigin(first)), { ...first, account: null });
  for (const origin of ["a/1/instance", "a/02/instance", "a/accounts/", "a/accounts/b/c", "a", "a b/instance"])
    assert.is(parseOrigin(origin), null, origin);
});

test("a cosignature has the message and the form of C2SP tlog-cosignature", async () => {
  const line =
    "witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==";
  const published = defined(parseSignatureLine(`— ${line}`));
  assert.is(published.name, "witness.example.com/w1");
  assert.is(parseTimedSignature(published.signature)?.time, 1_679_315_147);
  assert.is(formatSignatureLine(published), `— ${line}\n`);
  const seed = new Uint8Array(32).fill(3);
  const key = verifierKey(sha256, "witness.example.com/w1", ED25519_COSIGNATURE, publicKeyOf(seed));
  const signer = { ...key, seed };
  const note = { text: CHECKPOINT, signatures: [cosignatureOf(signEd25519, CHECKPOINT, signer, 1_679_315_147)] };
  const [signature] = note.signatures;
  const message = Buffer.from(`cosignature/v1\ntime 1679315147\n${CHECKPOINT}`);
  assert.equal(Buffer.from(cosignatureMessage(1_679_315_147, CHECKPOINT)), message);
  const timed = defined(parseTimedSignature(defined(signature ?? null).signature));
  assert.is(timed.time, 1_679_315_147);
  assert.ok(await verifyEd25519(key.publicKey, message, timed.signature));
  assert.equal(await cosignedBy(verifyEd25519, note, key), { time: 1_679_315_147 });
  assert.is(await cosignedBy(verifyEd25519, { ...note, text: `${CHECKPOINT}x\n` }, key), "wrong");
  assert.is(await cosignedBy(verifyEd25519, { ...note, signatures: [] }, key), "absent");
  const plain = { text: CHECKPOINT, signatures: [signatureOf(signEd25519, CHECKPOINT, signer)] };
  assert.is(await cosignedBy(verifyEd25519, plain, key), "wrong");
});

test("a tlog-proof is read as it was written, and others are refused", () => {
  const hash = "gSKyXoYZUgZ6jduWYrkDOARinOMGJveXjgMkBTcdPlQ=";
  const text = `c2sp.org/tlog-proof@v1\nextra YQ==\nindex 73894\n${hash}\n${hash}\n\n${NOTE}`;
  const proof = defined(parseTlogProof(text));
  assert.is(formatTlogProof(proof), text);
  assert.is(proof.index, 73_894);
  assert.is(proof.checkpoint, NOTE);
  assert.equal(proof.path, [fromBase64(hash), fromBase64(hash)]);
  const least = `c2sp.org/tlog-proof@v1\nindex 0\n\n${NOTE}`;
  assert.equal(defined(parseTlogProof(least)).path, []);
  assert.is(formatTlogProof(defined(parseTlogProof(least))), least);
  for (const wrong of [
    text.replace("v1", "v2"),
    text.replace("index 73894\n", ""),
    text.replace("73894", "073894"),
    text.replace("YQ==", "YQ"),
    text.replace(hash, hash.slice(4)),
    text.replaceAll("\n\n", "\n"),
    text.replace("extra YQ==\nindex 73894", "index 73894\nextra YQ=="),
  ])
    assert.is(parseTlogProof(wrong), null, wrong);
});

test("the leaf of a signing key is read only in its canonical form", () => {
  const leaf = signingKeyLeaf({ vkey: VKEY, previous: CHECKPOINT, reason: "restored from the backup of May" });
  assert.is(parseSigningKeyLeaf(leaf)?.previous, CHECKPOINT);
  assert.is(parseSigningKeyLeaf(Buffer.from(` ${Buffer.from(leaf)}`)), null);
  assert.is(parseSigningKeyLeaf(Buffer.from(CHECKPOINT)), null);
  assert.is(parseSigningKeyLeaf(Buffer.from('{"reason":null}')), null);
});

test("base64 has one form", () => {
  for (const text of ["YQ", "YR==", "YQ= =", "YWJjZ", "-_8=", "YQ==\n"]) assert.is(fromBase64(text), null, text);
  const long = new Uint8Array(100_001).map((_, i) => i);
  assert.equal(fromBase64(toBase64(long)), long);
});

test.run();
