import type { ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { formatSignerKey, parseVerifierKey } from "../../../domain/evidence/signed-note.ts";
import { sha256 } from "../../../infra/crypto/sha256.ts";
import { checkPack } from "../../../src/evidence-pack/check-pack.ts";
import { includedControlText, readControlText } from "../../../src/evidence-pack/control-text.ts";
import { PACK_FILES } from "../../../src/evidence-pack/files.ts";
import { emptyFolder, packAround, verifierKeyOf } from "../../../src/evidence-pack/make-pack.ts";
import { countersign } from "../../support/command-line.ts";
import { controlFileWith } from "../../support/evidence-claims.ts";
import {
  AFTER_PERIOD,
  PERIOD as EXPORT_PERIOD,
  exportLines,
  OPERATOR_KEY,
  signerKey,
} from "../../support/evidence-export.ts";
import { ran, scriptedService, sendJson } from "../../support/scripted-service.ts";

const EXPORT = exportLines([{ type: "PolicyPublished", data: { policy_id: "pol_1", version: 1 } }, AFTER_PERIOD])
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
    assert.match(out, /records +2, of which 1 say/);
    assert.equal(
      service.asked.map(({ call }) => call),
      ["GET /v1/audit/export"],
    );
    assert.equal(readdirSync(pathOf("pack")).sort(), [...PACK_FILES, "manifest.txt"].sort());
    assert.is(readFileSync(pathOf("pack/export.ndjson"), "utf8"), EXPORT);
  }));

/** The index of the first or last record of the period, of the last from a minute before it, or of the first from a minute after. */
const indexFor = (query: URLSearchParams): number => {
  const [from, to] = [query.get("from"), query.get("to")];
  if (from !== null && to !== null) return query.get("order") === "asc" ? 5 : 9;
  if (to !== null) assert.is(to, "2025-12-31T23:59:00.000Z");
  else assert.is(from, "2026-02-01T00:01:00.000Z");
  return to !== null ? 3 : 12;
};

test("only the period's records are asked for by their indexes, up to those that show that it has no others", () =>
  inFolder(async (pathOf) => {
    const service = await scriptedService();
    service.answer(({ url }, response) => {
      if (url?.startsWith("/v1/audit/export")) response.writeHead(200).end(EXPORT);
      else sendJson(response, 200, { data: [{ index: indexFor(new URL(url ?? "", service.url).searchParams) }] });
    });
    const env = { COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: "csk_a" };
    await ran(["evidence", ...PERIOD, "--only-period", "--payloads", "--out", pathOf("pack")], env);
    service.close();
    assert.is(service.asked.at(-1)?.call, "GET /v1/audit/export?payloads=1&from_index=3&to_index=13");
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

test("verify of the folder says who signed, and names for a changed byte the file and each control that uses it", () =>
  inFolder(async (pathOf) => {
    writeFileSync(pathOf("export"), EXPORT);
    const pack = pathOf("pack");
    const made = await ran(["evidence", ...PERIOD, "--export", pathOf("export"), "--out", pack, "--json"], {});
    const { signed_by } = JSON.parse(made.out) as { signed_by: string };
    const verify = (...args: readonly string[]) => ran(["verify", pack, ...args], {});
    const consistent = await verify();
    assert.is(consistent.status, 3, consistent.out);
    assert.match(consistent.out, /no --pack-key was given/);
    assert.is((await verify("--pack-key", signed_by)).status, 3, "the maker of the pack vouches for no record");
    const authentic = await verify("--key", OPERATOR_KEY);
    assert.is(authentic.status, 0, authentic.out);
    assert.match(authentic.out, /^AUTHENTIC/);
    assert.is((await verify("--key", signed_by)).status, 5, "another key than the checkpoint's");
    assert.match(
      (await verify("--pack-key", OPERATOR_KEY)).out,
      /manifest.txt: it is not signed by the key that you gave/,
    );
    assert.is((await ran(["verify", pack, pathOf("export")], {})).status, 2);
    assert.is((await ran(["verify", pathOf("export"), "--pack-key", signed_by], {})).status, 2);
    for (const name of [...PACK_FILES, "manifest.txt"]) {
      const bytes = readFileSync(join(pack, name));
      const changed = Buffer.from(bytes);
      const at = Math.floor(bytes.length / 2);
      changed[at] = (changed[at] ?? 0) ^ 1;
      writeFileSync(join(pack, name), changed);
      const { status, out } = await verify("--key", OPERATOR_KEY);
      assert.is(status, 5, name);
      assert.match(out, new RegExp(`^BROKEN.*\\n${name}: .*`));
      if (name === "proofs.ndjson") assert.match(out, /Controls that use it: changes\./);
      else if (name !== "framework.json" && name !== "manifest.txt")
        assert.match(out, /Controls that use it: approvals, money, changes, access, operation, data\./);
      writeFileSync(join(pack, name), bytes);
    }
    assert.is((await verify("--key", OPERATOR_KEY)).status, 0);
  }));

test("verify says of a folder that is not there, or is empty, that the call was wrong", () =>
  inFolder(async (pathOf) => {
    const none = await ran(["verify", pathOf("pack")], {});
    assert.is(none.status, 2);
    assert.match(none.note, /There is no folder or file ".*pack"/);
    mkdirSync(pathOf("pack"));
    const empty = await ran(["verify", pathOf("pack")], {});
    assert.is(empty.status, 2);
    assert.match(empty.note, /The folder ".*pack" is empty/);
    writeFileSync(pathOf("pack/export.ndjson"), EXPORT);
    const partial = await ran(["verify", pathOf("pack")], {});
    assert.is(partial.status, 5);
    assert.match(partial.out, /manifest.txt: it is missing/);
  }));

test("an export that ends before the period leaves claims open, which the command and verify say with the reason", () =>
  inFolder(async (pathOf) => {
    writeFileSync(pathOf("export"), EXPORT);
    const period = ["--from", "2026-01-01", "--to", "2100-01-01"];
    const { status, out } = await ran(
      ["evidence", ...period, "--export", pathOf("export"), "--out", pathOf("pack")],
      {},
    );
    assert.is(status, 0);
    assert.match(out, /covered +the period from its beginning up to 2026-02-01T00:00:00.000Z/);
    assert.not.match(out, /claims.* holds/);
    const verified = await ran(["verify", pathOf("pack"), "--key", OPERATOR_KEY], {});
    assert.is(verified.status, 0, verified.out);
    assert.match(
      verified.out,
      /the export's last record says 2026-02-01T00:01:00.000Z, before the period's end.*no-damage/,
    );
  }));

test("a pack whose report another version has made is incomplete, as its report is not checked", () =>
  inFolder(async (pathOf) => {
    const [folder, controlText] = [pathOf("pack"), includedControlText("generic") ?? ""];
    await emptyFolder(folder);
    writeFileSync(join(folder, "export.ndjson"), EXPORT);
    const controlFile = readControlText(Buffer.from(controlText));
    const [madeAt, madeBy, signer] = ["2026-02-02T00:00:00.000Z", "0.0.1", signerKey("auditor", 9)];
    await packAround({ folder, controlText, controlFile, period: EXPORT_PERIOD, madeAt, madeBy, signer });
    const { status, out } = await ran(["verify", folder, "--key", OPERATOR_KEY], {});
    assert.is(status, 4);
    assert.match(out, /^INCOMPLETE.*\n/);
    assert.match(out, /Missing: a check of report.html, so do not rely on it: it was made by version 0.0.1/);
  }));

test("an export that is cut off makes no pack, and leaves the folder free for the next try", () =>
  inFolder(async (pathOf) => {
    writeFileSync(pathOf("export"), EXPORT.slice(0, -300));
    const cut = await ran(["evidence", ...PERIOD, "--export", pathOf("export"), "--out", pathOf("pack")], {});
    assert.is(cut.status, 1);
    assert.match(cut.note, /cut off/);
    assert.equal(readdirSync(pathOf(".")), ["export"], "nothing is left");
    const deep = await ran(["evidence", ...PERIOD, "--export", pathOf("export"), "--out", pathOf("a/b/pack")], {});
    assert.is(deep.status, 1);
    const missing = await ran(["evidence", ...PERIOD, "--export", pathOf("none"), "--out", pathOf("pack")], {});
    assert.is(missing.status, 2);
    assert.match(missing.note, /There is no file/);
    assert.equal(readdirSync(pathOf(".")), ["export"], "and nothing of the way to it");
    writeFileSync(pathOf("export"), EXPORT);
    const again = ["evidence", ...PERIOD, "--export", pathOf("export"), "--out", pathOf("pack")];
    assert.is((await ran(again, {})).status, 0);
    const third = await ran(again, {});
    assert.is(third.status, 1);
    assert.match(third.note, /is not empty/);
    assert.is(readdirSync(pathOf("pack")).length, PACK_FILES.length + 1);
  }));

test("a call that is killed during the export leaves no half pack, and the next one makes it", () =>
  inFolder(async (pathOf) => {
    const service = await scriptedService();
    const env = { COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: "csk_a" };
    const args = ["evidence", ...PERIOD, "--out", pathOf("pack")];
    let child: ChildProcess | null = null;
    service.answer((_, response) => {
      response.writeHead(200).write(EXPORT.slice(0, -300));
      const kill = setInterval(() => {
        const partial = readdirSync(pathOf(".")).find((name) => name.startsWith("pack.partial-"));
        if (partial === undefined || readdirSync(pathOf(partial)).length === 0) return;
        clearInterval(kill);
        child?.kill("SIGKILL");
      }, 5);
    });
    const killed = await countersign(args, { env, started: (it) => (child = it) });
    assert.is(killed.status, null, killed.stderr);
    assert.not(readdirSync(pathOf(".")).includes("pack"));
    assert.is((await ran(["verify", pathOf("pack")], {})).status, 2);
    service.answer((_, response) => response.writeHead(200).end(EXPORT));
    assert.is((await ran(args, env)).status, 0);
    service.close();
    assert.is((await ran(["verify", pathOf("pack")], {})).status, 3);
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
