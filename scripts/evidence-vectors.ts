/** Writes the test vectors of the verifier to test/vectors/evidence/, from `test/support/evidence-vectors.ts`. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { evidenceVectors } from "../test/support/evidence-vectors.ts";

const FOLDER = join("test", "vectors", "evidence");

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
const vectors = evidenceVectors();
for (const { files } of vectors)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(FOLDER, name), text);
const list = vectors.map(({ files, ...vector }) => ({ ...vector, files: Object.keys(files) }));
writeFileSync(join(FOLDER, "vectors.json"), `${JSON.stringify(list, null, 2)}\n`);
console.log(`${vectors.length} vectors in ${FOLDER}`);
