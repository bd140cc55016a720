import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** Everything that the bundle is made of; the lock file stands for all packages. */
const INPUTS = ["console", "src/verifier", "domain/evidence", "package-lock.json"];

const filesBelow = (path: string): readonly string[] =>
  statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true, encoding: "utf8" })
        .map((name) => join(path, name))
        .filter((it) => statSync(it).isFile())
    : [path];

/** A digest of the names and contents of all inputs: a bundle with the same digest need not be made again. */
export const inputsDigest = (): string => {
  const hash = createHash("sha256");
  for (const file of INPUTS.flatMap(filesBelow).sort())
    hash.update(`${file}\0`).update(readFileSync(file)).update("\0");
  return hash.digest("hex");
};
