/** Packs the program, the SDK and the verifier into a folder; build/packages unless one is named. */
import { join } from "node:path";
import { packAll } from "./release/packages.ts";

const [folder = join("build", "packages")] = process.argv.slice(2);
for (const name of packAll(folder)) console.log(join(folder, name));
