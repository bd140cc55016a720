/**
 * Makes what a release consists of in a folder: the packages, a list of what they contain (CycloneDX), SHA-256 checksums of
 * these, and `notes.md`, the version's section of the changelog. Called as `release.js <folder> [<tag>]`; ends with 1 if the
 * tag is not that of the version, or the changelog has no dated section for it.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { notesOf } from "./release/notes.ts";
import { manifest, packAll } from "./release/packages.ts";

/**
 * Packages that only build and test the program are listed as well, marked as development: with `--omit dev`, npm 11 also
 * leaves out packages that the program needs, such as `ajv`.
 */
const SBOM = ["sbom", "--sbom-format", "cyclonedx", "--sbom-type", "application"];
const SBOM_BYTES_MAX = 64 * 1024 * 1024;

const sha256 = (path: string): string => createHash("sha256").update(readFileSync(path)).digest("hex");

const make = (folder: string, tag: string): void => {
  const { version } = manifest();
  if (tag !== `v${version}`) throw new Error(`The tag ${tag} is not v${version}, the version in package.json.`);
  const notes = notesOf(readFileSync("CHANGELOG.md", "utf8"), version);
  if (notes === null) throw new Error(`CHANGELOG.md has no section "## [${version}] - <date>".`);
  const packages = packAll(folder);
  const sbom = `countersign-${version}.cdx.json`;
  writeFileSync(join(folder, sbom), execFileSync("npm", SBOM, { maxBuffer: SBOM_BYTES_MAX }));
  const sums = [...packages, sbom].map((name) => `${sha256(join(folder, name))}  ${name}\n`);
  writeFileSync(join(folder, "SHA256SUMS"), sums.join(""));
  writeFileSync(join(folder, "notes.md"), notes);
  process.stdout.write(sums.join(""));
};

const [folder, tag = `v${manifest().version}`] = process.argv.slice(2);
try {
  if (folder === undefined) throw new Error("release takes a folder, and the tag if there is one.");
  make(folder, tag);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
