/** A uvu suite that is never run passes silently, so this checks that each suite calls its `run()`. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

let missing = 0;
for (const entry of readdirSync("test", { recursive: true, encoding: "utf8" })) {
  if (!entry.endsWith(".ts")) continue;
  const file = join("test", entry);
  const text = readFileSync(file, "utf8");
  for (const [, name] of text.matchAll(/\bconst (\w+) = suite\(/g)) {
    if (new RegExp(`\\b${name}\\.run\\(\\)`).test(text)) continue;
    console.error(`${file}: ${name}.run() is never called`);
    missing += 1;
  }
}
if (missing === 0) console.log("tests: every suite is run");
process.exitCode = missing === 0 ? 0 : 1;
