/** Holds the import rules of ARCHITECTURE.md: which folder may reach which. Exit code 1 names each breach. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";

/** Folder -> what it may reach. "type:x" means `import type` only; "pkg" means npm and node: modules. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  domain: ["domain"],
  projections: ["projections", "type:domain"],
  infra: ["infra", "type:domain", "pkg"],
  src: ["src", "infra", "projections", "domain", "pkg"],
};
/** Run in other people's programs and in browsers: they reach nothing but themselves. */
const ALONE = [join("src", "sdk"), join("src", "console", "browser")];
const IMPORT =
  /^(?:import|export)\s+(type\s)?[^'"]*?from\s+["']([^"']+)["']|^import\s+["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/gm;

let breaches = 0;
for (const [folder, allowed] of Object.entries(ALLOWED)) {
  for (const entry of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!entry.endsWith(".ts")) continue;
    const file = join(folder, entry);
    for (const match of readFileSync(file, "utf8").matchAll(IMPORT)) {
      const target = match[2] ?? match[3] ?? match[4] ?? "";
      const path = target.startsWith(".") ? normalize(join(dirname(file), target)) : null;
      const to = path === null ? "pkg" : (path.split(sep)[0] ?? "?");
      const alone = ALONE.find((it) => file.startsWith(it + sep));
      if (alone !== undefined && path?.startsWith(alone + sep) !== true) {
        console.error(`${file}: ${alone}/ may not import ${target}`);
        breaches += 1;
        continue;
      }
      if (allowed.includes(to) || (match[1] !== undefined && allowed.includes(`type:${to}`))) continue;
      console.error(`${file}: ${folder}/ may not import ${match[1] ? "types from " : ""}${target}`);
      breaches += 1;
    }
  }
}
if (breaches === 0) console.log("imports: every folder reaches only what it may");
process.exitCode = breaches === 0 ? 0 : 1;
