import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { formatSignerKey, parseVerifierKey } from "../../../domain/evidence/signed-note.ts";
import { sha256 } from "../../../infra/crypto/sha256.ts";
import { checkPack } from "../../../src/evidence-pack/check-pack.ts";
import { PACK_FILES } from "../../../src/evidence-pack/files.ts";
import { verifierKeyOf } from "../../../src/evidence-pack/make-pack.ts";
import { controlFileWith } from "../../support/evidence-claims.ts";
import { exportLines, signerKey } from "../../support/evidence-export.ts";
import { ran, scriptedService, sendJson } from "../../support/scripted-service.ts";

const EXPORT = exportLines([{ type: "PolicyPublished", data: { policy_id: "pol_1", version: 1 } }])
  .map((line) => `${JSON.stringify(line)}\n`)
  .join("");
const PERIOD = ["--from", "2026-01-01", "--to", "2026-02-01"];

const inFolder = async (use: (pathOf: (name: string) => string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "evidence-"));
  try {
    await use((name) => join(folder, name));
  } finally {
    rmSync(folder, { recursive: true });
  }
};

test("a pack is made of the export that the service sends, with all files that a pack has", () =>
  inFolder(async (pathOf) => {
    const service = await scriptedService();
    service.answer((_, response) => response.writeHead(200, { "content-type": "application/x-ndjson" }).end(EXPORT));
    const env = { COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: "csk_a" };
    const { status, out } = await ran(["evidence", ...PERIOD, "--out", pathOf("pack")], env);
    service.close();
    assert.is(status, 0);
    assert.match(out, /records +1, of which 1 say/);
    assert.equal(
      service.asked.map(({ call }) => call),
      ["GET /v1/audit/export"],
    );
    assert.equal(readdirSync(pathOf("pack")).sort(), [...PACK_FILES, "manifest.txt"].sort());
    assert.is(readFileSync(pathOf("pack/export.ndjson"), "utf8"), EXPORT);
  }));

test("only the period's records are asked for by their indexes", () =>
  inFolder(async (pathOf) => {
    const service = await scriptedService();
    service.answer(({ url }, response) => {
      if (url?.startsWith("/v1/audit/export")) response.writeHead(200).end(EXPORT);
      else sendJson(response, 200, { data: [{ index: url?.includes("order=asc") ? 5 : 9 }] });
    });
    const env = { COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: "csk_a" };
    await ran(["evidence", ...PERIOD, "--only-period", "--payloads", "--out", pathOf("pack")], env);
    service.close();
    assert.is(service.asked.at(-1)?.call, "GET /v1/audit/export?payloads=1&from_index=5&to_index=10");
  }));

test("a pack is made of a saved export without any service, and signed with the given key", () =>
  inFolder(async (pathOf) => {
    const key = signerKey("auditor", 9);
    writeFileSync(pathOf("export"), EXPORT);
    writeFileSync(pathOf("key"), `${formatSignerKey(key)}\n`);
    const given = ["--export", pathOf("export"), "--sign-key", pathOf("key"), "--framework", "soc2"];
    const { status, out } = await ran(["evidence", ...PERIOD, ...given, "--out", pathOf("pack"), "--json"], {});
    assert.is(status, 0);
    const { folder, signed_by } = JSON.parse(out) as { folder: string; signed_by: string };
    assert.is(signed_by, verifierKeyOf(key));
    const packKey = parseVerifierKey(sha256, signed_by);
    const { version } = JSON.parse(readFileSync(new URL("../../../../package.json", import.meta.url), "utf8")) as {
      version: string;
    };
    const { faults, isVouchedFor } = await checkPack({ folder, packKey, version });
    assert.equal([faults, isVouchedFor], [[], true]);
  }));

test("an export that is cut off makes no pack, and leaves the folder free for the next try", () =>
  inFolder(async (pathOf) => {
    writeFileSync(pathOf("export"), EXPORT.slice(0, -300));
    const cut = await ran(["evidence", ...PERIOD, "--export", pathOf("export"), "--out", pathOf("pack")], {});
    assert.is(cut.status, 1);
    assert.match(cut.note, /cut off/);
    assert.equal(readdirSync(pathOf("pack")), []);
    writeFileSync(pathOf("export"), EXPORT);
    const again = ["evidence", ...PERIOD, "--export", pathOf("export"), "--out", pathOf("pack")];
    assert.is((await ran(again, {})).status, 0);
    const third = await ran(again, {});
    assert.is(third.status, 1);
    assert.match(third.note, /is not empty/);
    assert.is(readdirSync(pathOf("pack")).length, PACK_FILES.length + 1);
  }));

test("a wrong call or control file is one sentence, before anything is asked or written", () =>
  inFolder(async (pathOf) => {
    writeFileSync(
      pathOf("controls.json"),
      JSON.stringify(controlFileWith({ id: "x", statement: "X", query: { ask: "sum" } })),
    );
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [["--from", "yesterday", "--to", "2026-02-01"], /--from takes a UTC date or time/],
      [["--from", "2026-02-01", "--to", "2026-02-01"], /--from has to be before --to/],
      [
        [...PERIOD, "--framework", pathOf("controls.json")],
        /controls\[0\]\.claims\[0\]\.query\.ask: one of these is needed/,
      ],
      [[...PERIOD, "--sign-key", pathOf("controls.json")], /is no signer key/],
    ];
    for (const [args, sentence] of cases) {
      const { status, note } = await ran(["evidence", ...args, "--out", pathOf("pack")], {});
      assert.is(status, 2);
      assert.match(note, sentence);
    }
    assert.equal(readdirSync(pathOf(".")), ["controls.json"]);
  }));

test("a control file that comes with the product is printed as a start for another", async () => {
  const { out } = await ran(["evidence", "--print-framework", "--framework", "soc2"], {});
  assert.is((JSON.parse(out) as { id: string }).id, "soc2");
});

test.run();
