import { mkdtempSync, readFileSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { fromBase64 } from "../../../domain/evidence/bytes.ts";
import { parseCheckpoint } from "../../../domain/evidence/checkpoint.ts";
import { leafHash, verifyInclusion } from "../../../domain/evidence/merkle.ts";
import { parseNote, parseVerifierKey } from "../../../domain/evidence/signed-note.ts";
import { parseTlogProof } from "../../../domain/evidence/tlog-proof.ts";
import { sha256 } from "../../../infra/crypto/sha256.ts";
import { checkPack, type PackFault, type PackToCheck } from "../../../src/evidence-pack/check-pack.ts";
import { readControlText } from "../../../src/evidence-pack/control-text.ts";
import { PACK_FILES } from "../../../src/evidence-pack/files.ts";
import { GENERIC } from "../../../src/evidence-pack/frameworks/generic.ts";
import {
  emptyFolder,
  FolderInUse,
  packAround,
  saveExport,
  verifierKeyOf,
} from "../../../src/evidence-pack/make-pack.ts";
import { signedManifest } from "../../../src/evidence-pack/manifest.ts";
import {
  AFTER_PERIOD,
  BEFORE_PERIOD,
  chunksOf,
  type ExportedRecord,
  exportLines,
  PERIOD,
  signerKey,
} from "../../support/evidence-export.ts";

const ID = `evt_${"b".repeat(32)}`;

const RECORDS: readonly ExportedRecord[] = [
  { type: "EventAdmitted", data: { event_id: ID, endpoint_id: "end_1", verdict: { decision: "allow" } } },
  { type: "AttemptStarted", data: { event_id: ID } },
  { type: "AttemptSucceeded", data: { event_id: ID, status_code: 200 } },
  { type: "EventDelivered", data: { event_id: ID } },
  { type: "MemberRemoved", data: { member: "<b>&\u202e" } },
  AFTER_PERIOD,
];

const CONTROLS = GENERIC.controls as readonly { readonly id: string }[]; // A valid control file has this list.
const ALL = CONTROLS.map(({ id }) => id);
/** The controls whose claims name some of `RECORDS`; the others rest on the export as a whole. */
const WITH_PROOFS = ["approvals", "access", "operation"];

const SIGNER = signerKey("auditor", 7);

type Made = { readonly records?: readonly ExportedRecord[]; readonly from?: number };

/** Makes a pack in a new folder and removes it after `use`. */
const withPack = async (
  use: (folder: string, check: (more?: Partial<PackToCheck>) => ReturnType<typeof checkPack>) => Promise<void>,
  { records = RECORDS, from = 0 }: Made = {},
) => {
  const folder = mkdtempSync(join(tmpdir(), "pack-"));
  try {
    await saveExport(folder, chunksOf(exportLines(records, from)));
    const controlText = JSON.stringify(GENERIC);
    const controlFile = readControlText(Buffer.from(controlText));
    const made = { period: PERIOD, madeAt: "2026-02-02T00:00:00.000Z", madeBy: "1.0.0", signer: SIGNER };
    await packAround({ folder, controlText, controlFile, ...made });
    await use(folder, (more) => checkPack({ folder, packKey: null, version: "1.0.0", ...more }));
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const namesOf = (faults: readonly PackFault[]): readonly string[] => faults.map(({ file }) => file);

test("a pack that nobody changed has no fault, and names who signed it only to those who know the key", () =>
  withPack(async (_, check) => {
    assert.equal((await check()).faults, []);
    assert.is((await check()).isVouchedFor, false);
    const packKey = parseVerifierKey(sha256, verifierKeyOf(SIGNER));
    assert.is((await check({ packKey })).isVouchedFor, true);
    const stranger = await check({ packKey: parseVerifierKey(sha256, verifierKeyOf(signerKey("auditor", 8))) });
    assert.match(stranger.faults[0]?.why ?? "", /not signed by the key that you gave/);
  }));

test("a changed byte in any file is found, with the file and every control that uses it", () =>
  withPack(async (folder, check) => {
    for (const name of PACK_FILES) {
      const path = join(folder, name);
      const bytes = readFileSync(path);
      for (const at of [0, Math.floor(bytes.length / 2), bytes.length - 1]) {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ 1;
        writeFileSync(path, changed);
        const { faults } = await check();
        assert.equal(namesOf(faults), [name], `${name} at ${at}`);
        assert.equal(faults[0]?.controls, name === "proofs.ndjson" ? WITH_PROOFS : ALL);
      }
      writeFileSync(path, bytes);
    }
    assert.equal((await check()).faults, []);
  }));

test("any changed byte of the manifest is found, and then nothing else is said", () =>
  withPack(async (folder, check) => {
    const path = join(folder, "manifest.txt");
    const bytes = readFileSync(path);
    for (let at = 0; at < bytes.length; at += 7) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      writeFileSync(path, changed);
      const { faults, manifest } = await check();
      assert.equal(namesOf(faults), ["manifest.txt"]);
      assert.is(manifest, null);
    }
  }));

test("a file that is missing, replaced by a link, or added is named", () =>
  withPack(async (folder, check) => {
    const report = join(folder, "report.html");
    const elsewhere = `${folder}-report.html`;
    writeFileSync(elsewhere, readFileSync(report));
    unlinkSync(report);
    assert.match((await check()).faults[0]?.why ?? "", /missing/);
    symlinkSync(elsewhere, report);
    assert.equal(namesOf((await check()).faults), ["report.html"]);
    unlinkSync(report);
    writeFileSync(report, readFileSync(elsewhere));
    unlinkSync(elsewhere);
    writeFileSync(join(folder, "more.html"), "");
    assert.equal(namesOf((await check()).faults), ["more.html"]);
  }));

/** What somebody does who wants another answer to be believed: changes a file and signs a new manifest. */
const rewrite = async (folder: string, name: string, change: (text: string) => string) => {
  const path = join(folder, name);
  const before = readFileSync(path, "utf8");
  const after = change(before);
  assert.is.not(after, before);
  writeFileSync(path, after);
  const { manifest } = await checkPack({ folder, packKey: null, version: "1.0.0" });
  if (manifest === null) throw new Error("the manifest cannot be read");
  const digest = { size: Buffer.byteLength(after), sha256: Buffer.from(sha256(Buffer.from(after))).toString("hex") };
  const files = manifest.files.map((it) => (it.name === name ? { ...it, ...digest } : it));
  writeFileSync(join(folder, "manifest.txt"), signedManifest({ ...manifest, files }, SIGNER));
};

test("an answer that is not the export's is found under a new manifest, and its controls are named", () =>
  withPack(async (folder, check) => {
    await rewrite(folder, "controls.json", (text) => text.replace('"count": 1', '"count": 2'));
    const { faults } = await check();
    assert.equal(namesOf(faults), ["controls.json"]);
    assert.equal(faults[0]?.controls, ["approvals"]);
    assert.equal((await check({ version: "2.0.0" })).faults, faults);
  }));

test("a report that says something else is found under a new manifest", () =>
  withPack(async (folder, check) => {
    await rewrite(folder, "report.html", (text) => text.replace("Nothing to check", "Holds"));
    assert.equal(namesOf((await check()).faults), ["report.html"]);
    const other = await check({ version: "2.0.0" });
    assert.match(
      other.unchecked[0] ?? "",
      /report.html, so do not rely on it: it was made by version 1.0.0 and this is 2.0.0/,
    );
  }));

const FORGED: readonly (readonly [string, (found: Forged) => void])[] = [
  ["account", (it) => Object.assign(it, { account: `acc_${"b".repeat(32)}` })],
  ["period", (it) => Object.assign(it, { period: { from: "2020-01-01T00:00:00.000Z", to: PERIOD.to } })],
  ["maker", (it) => Object.assign(it, { made_by: "9.9.9" })],
  ["number of records", (it) => Object.assign(it.export, { records: 1_000_000 })],
  [
    "coverage",
    (it) => Object.assign(it.export, { covers: { start: true, end: true, up_to: "2100-01-01T00:00:00.000Z" } }),
  ],
  ["list of members, which has one more,", (it) => Object.assign(it, { verdict: "All is well." })],
];

type Forged = { export: object };

const forging =
  (change: (found: Forged) => void) =>
  (text: string): string => {
    const found = JSON.parse(text) as Forged;
    change(found);
    return JSON.stringify(found);
  };

for (const [name, change] of FORGED)
  test(`a forged ${name} in the answers is found, also in a pack that another version made`, () =>
    withPack(async (folder, check) => {
      await rewrite(folder, "controls.json", forging(change));
      for (const version of ["1.0.0", "2.0.0"])
        assert.equal(namesOf((await check({ version })).faults), ["controls.json"]);
    }));

test("what is not evidenced is not checked in a pack that another version made, and the verdict says so", () =>
  withPack(async (folder, check) => {
    assert.is((await check({ version: "2.0.0" })).unchecked.length, 1);
    assert.match((await check({ version: "2.0.0" })).unchecked[0] ?? "", /controls.json, which was checked as a whole/);
    await rewrite(
      folder,
      "controls.json",
      forging((it) => Object.assign(it, { not_evidenced: ["Nothing."] })),
    );
    assert.equal(namesOf((await check()).faults), ["controls.json"]);
    const { faults, unchecked } = await check({ version: "2.0.0" });
    assert.equal(faults, []);
    assert.match(unchecked[1] ?? "", /not_evidenced at the end of controls.json, so do not rely on it/);
  }));

test("a manifest that names other controls for a file than those that use it is found", () =>
  withPack(async (folder, check) => {
    const { manifest } = await check();
    assert.ok(manifest);
    const files = manifest.files.map((it) => (it.name === "proofs.ndjson" ? { ...it, controls: ALL } : it));
    writeFileSync(join(folder, "manifest.txt"), signedManifest({ ...manifest, files }, SIGNER));
    const { faults } = await check();
    assert.equal(namesOf(faults), ["manifest.txt"]);
    assert.match(faults[0]?.why ?? "", /other controls than those that use proofs.ndjson/);
  }));

/** The ends of the export, and the reason that a claim of absence stays open for, as a pattern. */
const PARTS: readonly (readonly [string, Made, RegExp])[] = [
  ["begins within the period", { from: 100 }, /begins at record 100.*before the export/],
  ["ends before the period does", { records: RECORDS.slice(0, -1) }, /last record says 2026-01-15.*may come after it/],
];

for (const [name, made, why] of PARTS) {
  test(`a pack whose export ${name} says so, and is broken if a claim of absence says that it holds`, () =>
    withPack(async (folder, check) => {
      const damage = /"holds": null,\s*"in_export": true,\s*"open": "[^"]*"/;
      const whole = await check();
      assert.equal(whole.faults, []);
      assert.match(whole.open.join(), why);
      assert.match(whole.open.join(), /no-damage of data/);
      const html = readFileSync(join(folder, "report.html"), "utf8");
      assert.match(html, why);
      assert.match(html, /How much of the period the export covers/);
      await rewrite(folder, "controls.json", (text) =>
        text.replace(damage, '"holds": true, "in_export": true, "open": null'),
      );
      for (const version of ["1.0.0", "2.0.0"]) {
        const { faults } = await check({ version });
        assert.equal(namesOf(faults), ["controls.json"]);
        assert.match(faults[0]?.why ?? "", /says that a claim holds which the export does not show/);
        assert.match(faults[0]?.why ?? "", why);
      }
    }, made));
}

test("an export from a record before the period to one after it covers the period", () =>
  withPack(
    async (_, check) =>
      assert.equal(
        (await check()).open.filter((it) => !/needs the records/.test(it)),
        [],
      ),
    {
      from: 100,
      records: [BEFORE_PERIOD, ...RECORDS],
    },
  ));

test("a record that was changed is found under a new manifest, because the checkpoint is of other records", () =>
  withPack(async (folder, check) => {
    await rewrite(folder, "export.ndjson", (text) => {
      const lines = text.split("\n");
      const line = JSON.parse(lines[3] ?? "") as { leaf: string };
      line.leaf = Buffer.from(Buffer.from(line.leaf, "base64").toString().replace("200", "201")).toString("base64");
      return lines.with(3, JSON.stringify(line)).join("\n");
    });
    const { faults } = await check();
    assert.equal(namesOf(faults), ["export.ndjson"]);
    assert.match(faults[0]?.why ?? "", /not those of the checkpoint/);
    assert.equal(faults[0]?.controls, ALL);
  }));

test("each named record has a proof that holds without the others", () =>
  withPack(async (folder) => {
    const lines = readFileSync(join(folder, "proofs.ndjson"), "utf8").trimEnd().split("\n");
    assert.is(lines.length, RECORDS.length - 1, "all but the one after the period");
    for (const line of lines) {
      const { index, leaf, proof } = JSON.parse(line) as { index: number; leaf: string; proof: string };
      const { path = [], checkpoint = "" } = parseTlogProof(proof) ?? {};
      const head = parseCheckpoint(parseNote(checkpoint)?.text ?? "");
      assert.ok(head);
      const hash = leafHash(sha256, fromBase64(leaf) ?? new Uint8Array());
      assert.ok(verifyInclusion(sha256, { index, size: head.size, leafHash: hash, path }, head.root));
    }
  }));

test("the report shows text of records as text, with invisible characters escaped, and loads nothing", () =>
  withPack(async (folder) => {
    const html = readFileSync(join(folder, "report.html"), "utf8");
    assert.ok(html.includes("&lt;b&gt;&amp;\\u202e"));
    assert.not.match(html, /<script|src=|url\(|@import|<link/);
    assert.not.match(html, /compl(?:y|ies|ian)/i);
    assert.match(html, /<html lang="en">/);
  }));

test("a pack is not made in a folder that is in use", () =>
  withPack(async (folder) => {
    await emptyFolder(folder).then(
      () => assert.unreachable(),
      (error) => assert.instance(error, FolderInUse),
    );
  }));

test.run();
