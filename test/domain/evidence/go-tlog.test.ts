import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  append,
  consistencyPath,
  EMPTY_FRONTIER,
  inclusionPath,
  leafHash,
  type PathPart,
  pathHashes,
  rootOf,
  type Subtree,
} from "../../../domain/evidence/merkle.ts";
import { formatNote, formatSignerKey, parseNote, signatureOf } from "../../../domain/evidence/signed-note.ts";
import { ed25519Signer } from "../../../infra/crypto/ed25519.ts";
import { sha256 } from "../../../infra/crypto/sha256.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { logKey } from "../../support/signed-tree.ts";
import { skipped } from "../../support/skipped.ts";

/** Go's own trees and notes, which nobody of this project wrote: golang.org/x/mod/sumdb. */
const SOURCE = "test/go/tlog";
const VECTORS = "test/vectors/evidence";
const LEAVES = 130;
const BUILD_MS = 120_000;

type Answer = {
  readonly roots: readonly string[];
  readonly inclusion: readonly (readonly (readonly string[])[])[];
  readonly consistency: readonly (readonly (readonly string[])[])[];
  readonly notes: readonly string[];
  readonly opened: readonly { readonly text: string; readonly error: string }[];
};

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

/** Downloads nothing unless GOPROXY says from where; the reason if it could not be built. */
const built = (folder: string): { readonly program: string } | { readonly why: string } => {
  const program = join(folder, "tlog");
  const env = { GOPROXY: "off", ...process.env, GOFLAGS: "-mod=readonly" };
  const go = spawnSync("go", ["build", "-o", program, "."], { cwd: SOURCE, env, timeout: BUILD_MS, encoding: "utf8" });
  if (go.error !== undefined) return { why: `Go is not here (${go.error.message})` };
  return go.status === 0 ? { program } : { why: `Go does not build ${SOURCE}: ${go.stderr.trim()}` };
};

const random = seededRandom(6_962);
const leaves = Array.from({ length: LEAVES }, () =>
  Uint8Array.from({ length: random.below(40) }, () => random.below(256)),
);

const ourTrees = () => {
  const hashes = new Map<string, Uint8Array>();
  const nameOf = ({ level, index }: Subtree): string => `${level}/${index}`;
  let frontier = EMPTY_FRONTIER;
  const roots = [base64(rootOf(sha256, frontier))];
  for (const leaf of leaves) {
    frontier = append(sha256, frontier, leafHash(sha256, leaf), (it, hash) => hashes.set(nameOf(it), hash));
    roots.push(base64(rootOf(sha256, frontier)));
  }
  const hashOf = (it: Subtree): Uint8Array => {
    const hash = hashes.get(nameOf(it));
    if (hash === undefined) throw new Error(`${nameOf(it)} is no perfect subtree of the tree`);
    return hash;
  };
  const proof = (path: readonly PathPart[]): readonly string[] => pathHashes(sha256, path, hashOf).map(base64);
  const proofs = (pathAt: (n: number, size: number) => readonly PathPart[]) =>
    leaves.map((_, last) => Array.from({ length: last + 1 }, (_, n) => proof(pathAt(n, last + 1))));
  return {
    roots,
    inclusion: proofs(inclusionPath),
    consistency: proofs((n, size) => consistencyPath(n + 1, size)),
  };
};

const TEXTS = ["one line\n", "cs.example.com/instance\n3\nAAAA\n", "Zeichen: äöü 漢字\n\ntwo paragraphs\n"];
const { signer, vkey } = logKey("cs.example.com/instance", 7);
const ourNotes = TEXTS.map((text) => {
  const sign = (seed: Uint8Array, message: Uint8Array): Uint8Array => ed25519Signer(seed).sign(message);
  return formatNote({ text, signatures: [signatureOf(sign, text, signer)] });
});

const published = readFileSync(join(VECTORS, "checkpoints.later.txt"), "utf8");
const [{ keys }] = JSON.parse(readFileSync(join(VECTORS, "vectors.json"), "utf8")) as [{ readonly keys: [string] }];
const [publishedKey] = keys;

const folder = mkdtempSync(join(tmpdir(), "go-tlog-"));
const go = built(folder);
if ("why" in go) skipped("a comparison with Go's golang.org/x/mod/sumdb", go.why);
else {
  const test = suite("Go's sumdb");
  const input = JSON.stringify({
    leaves: leaves.map(base64),
    notes: TEXTS.map((text) => ({ text, skey: formatSignerKey(signer) })),
    signed: [
      ...ourNotes.map((note) => ({ note, vkey })),
      { note: published, vkey: publishedKey },
      { note: published, vkey },
      { note: published.replace("\n", " \n"), vkey: publishedKey },
    ],
  });
  const ran = spawnSync(go.program, { input, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  const theirs = JSON.parse(ran.stdout || "{}") as Answer;

  test(`has the same roots, inclusion proofs and consistency proofs of every size up to ${LEAVES}`, () => {
    assert.is(ran.status, 0, ran.stderr);
    const ours = ourTrees();
    assert.equal(ours.roots, theirs.roots);
    assert.equal(ours.inclusion, theirs.inclusion);
    assert.equal(ours.consistency, theirs.consistency);
  });

  test("signs the same notes with our keys, opens ours, and refuses what we refuse", () => {
    assert.equal(ourNotes, theirs.notes);
    const [first, second, third, ofVectors, otherKey, changed] = theirs.opened;
    assert.equal([first?.text, second?.text, third?.text], TEXTS);
    assert.is(ofVectors?.text, parseNote(published)?.text);
    assert.match(otherKey?.error ?? "", /no verifiable signatures/);
    assert.match(changed?.error ?? "", /invalid signature/);
  });

  test.run();
}
rmSync(folder, { recursive: true, force: true });
