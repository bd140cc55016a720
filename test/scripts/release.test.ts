import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { notesOf } from "../../scripts/release/notes.ts";
import { removeFolder, temporaryFolder } from "../support/program.ts";

const test = suite("what a release consists of");
const RELEASE = join("build", "scripts", "release.js");
const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const dir = temporaryFolder();
const folder = join(dir, "release");

const release = (...args: readonly string[]) => spawnSync(process.execPath, [RELEASE, ...args], { encoding: "utf8" });
const tarball = (name: string): string => join(folder, `${name}-${version}.tgz`);

test.before(() => {
  const made = release(folder, `v${version}`);
  assert.is(made.status, 0, made.stderr);
});
test.after(() => removeFolder(dir));

test("three packages, a list of contents, checksums that hold, and the notes of the version", () => {
  const names = [`countersign-${version}.cdx.json`, `countersign-${version}.tgz`];
  const parts = [`countersign-sdk-${version}.tgz`, `countersign-verifier-${version}.tgz`];
  assert.equal(readdirSync(folder).sort(), ["SHA256SUMS", ...names, ...parts, "notes.md"]);
  const sums = readFileSync(join(folder, "SHA256SUMS"), "utf8").trimEnd().split("\n");
  assert.is(sums.length, 4);
  for (const line of sums) {
    const [sum, name = ""] = line.split("  ");
    assert.is(
      createHash("sha256")
        .update(readFileSync(join(folder, name)))
        .digest("hex"),
      sum,
      name,
    );
  }
  const notes = readFileSync(join(folder, "notes.md"), "utf8");
  assert.is(notes, notesOf(readFileSync("CHANGELOG.md", "utf8"), version));
});

test("the list of contents names each package that is installed with the program, and its version", () => {
  const { bomFormat, components } = JSON.parse(readFileSync(join(folder, `countersign-${version}.cdx.json`), "utf8"));
  assert.is(bomFormat, "CycloneDX");
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  // Packages may be there in several versions.
  const listed: readonly string[] = components.map(
    (it: { name: string; version: string }) => `${it.name}@${it.version}`,
  );
  for (const [name, wanted] of Object.entries(dependencies)) assert.ok(listed.includes(`${name}@${wanted}`), name);
});

test("each action of a workflow is named by its commit, which no one can move, with the version beside it", () => {
  const folder = join(".github", "workflows");
  for (const name of readdirSync(folder)) {
    const used = readFileSync(join(folder, name), "utf8").match(/uses:.*/g) ?? [];
    assert.ok(used.length > 0, name);
    for (const line of used) assert.match(line, /^uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, name);
  }
});

test("another tag, or a version without a dated section of the changelog, is no release", () => {
  const { status, stderr } = release(join(dir, "other"), "v99.0.0");
  assert.is(status, 1);
  assert.match(stderr, /^The tag v99\.0\.0 is not v/);
  assert.is(notesOf("# Changelog\n\n## [Unreleased]: 1.0.0\n\n- one\n", "1.0.0"), null);
  assert.is(notesOf("## [1.1.0] - 2026-02-01\n\n- two\n\n## [1.0.0] - 2026-01-01\n\n- one\n", "1.0.0"), "- one\n");
});

const installed = (name: string): string => {
  const into = join(dir, `uses-${name}`);
  mkdirSync(into);
  writeFileSync(join(into, "package.json"), '{ "type": "module" }');
  const args = ["install", "--offline", "--no-audit", "--no-fund", tarball(name)];
  const { status, stderr } = spawnSync("npm", args, { cwd: into, encoding: "utf8" });
  assert.is(status, 0, stderr);
  assert.equal(
    readdirSync(join(into, "node_modules")).filter((it) => !it.startsWith(".")),
    [name],
    "nothing else",
  );
  return into;
};

const run = (into: string, source: string): string => {
  writeFileSync(join(into, "use.js"), source);
  return execFileSync(process.execPath, ["use.js"], { cwd: into, encoding: "utf8" }).trim();
};

test("the SDK is installed alone, without a network, and executes an action", () => {
  const into = installed("countersign-sdk");
  const source = `
    import { Countersign } from "countersign-sdk";
    const answer = { event_id: "evt_a", status: "delivered", result: { status_code: 200, body: "done" } };
    const fetch = async () => ({ status: 200, headers: new Headers(), text: async () => JSON.stringify(answer) });
    const countersign = new Countersign({ baseUrl: "https://countersign.test", key: "csa_", fetch });
    console.log((await countersign.execute("refund.create", {})).result.body);`;
  assert.is(run(into, source), "done");
  assert.ok(existsSync(join(into, "node_modules", "countersign-sdk", "lib", "index.d.ts")));
  assert.ok(existsSync(join(into, "node_modules", "countersign-sdk", "README.md")));
});

test("the verifier is installed alone, without a network, and verifies an export", () => {
  const into = installed("countersign-verifier");
  const vectors = resolve("test", "vectors", "evidence");
  const { keys } = JSON.parse(readFileSync(join(vectors, "vectors.json"), "utf8")).find(
    ({ files }: { readonly files: readonly string[] }) => files[0] === "full.ndjson",
  );
  const source = `
    import { createReadStream } from "node:fs";
    import { verifyFiles } from "countersign-verifier";
    const path = ${JSON.stringify(join(vectors, "full.ndjson"))};
    const file = { name: "full.ndjson", size: 0, bytes: () => createReadStream(path) };
    const given = { keys: ${JSON.stringify(keys)}, witnesses: [], previous: [] };
    console.log((await verifyFiles([file], given)).verdict);`;
  assert.is(run(into, source), "authentic");
});

test("the program's package is complete: unpacked beside its dependencies, its command line runs", () => {
  const into = join(dir, "program");
  mkdirSync(into);
  execFileSync("tar", ["xzf", tarball("countersign"), "-C", into]);
  symlinkSync(resolve("node_modules"), join(into, "node_modules"));
  const { files, bin } = JSON.parse(readFileSync(join(into, "package", "package.json"), "utf8"));
  for (const built of files) assert.ok(existsSync(join(into, "package", built)), built);
  const shown = execFileSync(process.execPath, [join(into, "package", bin.countersign), "--version"], {
    encoding: "utf8",
  });
  assert.is(shown.trim(), version);
});

test.run();
