import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

type Manifest = { readonly version: string; readonly license: string; readonly engines: { readonly node: string } };

/** A part of the program that is of use alone, and has no dependency. */
type Part = {
  readonly name: string;
  readonly description: string;
  /** What `tsc` has made of it, and the file in it that is imported. */
  readonly built: string;
  readonly index: string;
  readonly readme: string;
};

const PARTS: readonly Part[] = [
  {
    name: "countersign-sdk",
    description: "The client for agents that act through Countersign.",
    built: join("build", "sdk"),
    index: "index",
    readme: join("src", "sdk", "README.md"),
  },
  {
    name: "countersign-verifier",
    description: "Checks exports, proofs and checkpoints of Countersign offline, without trusting whoever made them.",
    built: join("build", "verifier"),
    index: "src/verifier/index",
    readme: join("src", "verifier", "README.md"),
  },
];

export const manifest = (): Manifest => JSON.parse(readFileSync("package.json", "utf8")) as Manifest;

const packageOf = ({ name, description, index }: Part): object => {
  const { version, license, engines } = manifest();
  const entry = { types: `./lib/${index}.d.ts`, default: `./lib/${index}.js` };
  const publishConfig = { access: "public", provenance: true };
  return {
    name,
    version,
    description,
    license,
    type: "module",
    exports: entry,
    files: ["lib"],
    engines,
    publishConfig,
  };
};

/** The name of the tarball. The build is there already, so no script is run. */
const pack = (folder: string, to: string): string => {
  const args = ["pack", folder, "--ignore-scripts", "--silent", "--pack-destination", to];
  return execFileSync("npm", args, { encoding: "utf8" }).trim();
};

const packPart = (part: Part, to: string): string => {
  const folder = mkdtempSync(join(tmpdir(), "countersign-package-"));
  try {
    const filter = (path: string): boolean => !path.endsWith(".tsbuildinfo");
    cpSync(part.built, join(folder, "lib"), { recursive: true, filter });
    cpSync(part.readme, join(folder, "README.md"));
    cpSync("LICENSE", join(folder, "LICENSE"));
    writeFileSync(join(folder, "package.json"), `${JSON.stringify(packageOf(part), null, 2)}\n`);
    return pack(folder, to);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Packs the built program, and each part that is installed alone, into a folder. Answers the names of the tarballs. */
export const packAll = (to: string): readonly string[] => {
  mkdirSync(to, { recursive: true });
  return [pack(".", to), ...PARTS.map((part) => packPart(part, to))];
};
