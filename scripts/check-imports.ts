/** Checks the import rules of ARCHITECTURE.md. If any is broken, names each breach and ends with exit code 1. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";

/** For each folder, what it may import. "type:x" allows only `import type`; "pkg" stands for npm and node: modules. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  domain: ["domain"],
  projections: ["projections", "domain"],
  infra: ["infra", "type:domain", "pkg"],
  src: ["src", "infra", "projections", "domain", "pkg"],
  console: ["console", "pkg"],
};
/** The console runs in browsers: it takes the verifier and the API's types, which are generated into the build folder. */
const CONSOLE = { shares: [join("src", "verifier"), join("domain", "evidence")], types: join("build", "page-types") };
/** This part of it makes the bundle, with the whole program at hand. */
const BUNDLING = join("console", "bundle");
/** These folders run in other people's programs and in browsers, so they import nothing but themselves. */
const ALONE = [join("src", "sdk")];
/** The verifier runs there, too, and shares with the service what both compute. */
const VERIFIER = [join("src", "verifier"), join("domain", "evidence")] as const;
/** A room imports only itself and the rooms above it. `ANYWHERE` and the files of src/ import any room. */
const ROOMS: readonly string[] = [
  "console",
  "sdk",
  "sdk-types",
  "verifier",
  "streams",
  "redaction",
  "keys",
  "witness",
  "following",
  "threads",
  "engine",
  "evidence",
  "witnessing",
  "views",
  "providers",
  "erasure",
  "calls",
  "http",
  "observability",
  "ledgers",
  "accounts",
  "gates",
  "bodies",
  "approvals",
  "change-control",
  "traces",
  "delivery",
  "admission",
  "execute",
  "bundles",
  "replays",
  "retention",
  "sealing",
  "audit",
  "evidence-pack",
  "feed",
  "notifications",
  "billing",
  "log-copy",
  "routes",
  "cli",
  "composition",
];
const ANYWHERE: readonly string[] = ["routes", "cli", "composition"];
const IMPORT =
  /^(?:import|export)\s+(type\s)?[^'"]*?from\s+["']([^"']+)["']|^import\s+["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/gm;

type Import = {
  readonly file: string;
  readonly target: string;
  readonly path: string | null;
  readonly isType: boolean;
};

/** The room of a file; null for a file outside of src/, and for one in no room, such as src/main.ts. */
const roomOf = (path: string): string | null => {
  const [folder, room, file] = path.split(sep);
  return folder === "src" && file !== undefined ? (room ?? null) : null;
};

/** Says which rule the import breaks; null if the import is allowed. */
const breachOf = ({ file, target, path, isType }: Import): string | null => {
  const alone = ALONE.find((it) => file.startsWith(it + sep));
  if (alone !== undefined) return path?.startsWith(alone + sep) ? null : `${alone}/ may not import ${target}`;
  if (file.startsWith(VERIFIER[0] + sep) && !isType)
    return VERIFIER.some((it) => path?.startsWith(it + sep)) ? null : `${VERIFIER[0]}/ may not import ${target}`;
  if (file.startsWith(BUNDLING + sep)) return null;
  const from = file.split(sep)[0] ?? "";
  if (from === "console" && CONSOLE.shares.some((it) => path?.startsWith(it + sep))) return null;
  if (from === "console" && isType && path?.startsWith(CONSOLE.types + sep)) return null;
  const to = path?.split(sep)[0] ?? "pkg";
  const allowed = ALLOWED[from] ?? [];
  if (!allowed.includes(to) && !(isType && allowed.includes(`type:${to}`))) {
    return `${from}/ may not import ${isType ? "types from " : ""}${target}`;
  }
  const room = roomOf(file);
  if (room === null || from !== "src") return null;
  if (!ROOMS.includes(room)) return `${room}/ is not in the list of rooms`;
  if (ANYWHERE.includes(room) || to !== "src" || path === null) return null;
  const reached = roomOf(path);
  if (reached === null) return `${room}/ may not import ${target}, which is in no room`;
  return ROOMS.indexOf(reached) <= ROOMS.indexOf(room) ? null : `${room}/ may not import ${reached}/, a room below it`;
};

const importsOf = (file: string): readonly Import[] =>
  [...readFileSync(file, "utf8").matchAll(IMPORT)].map((match) => {
    const target = match[2] ?? match[3] ?? match[4] ?? "";
    const path = target.startsWith(".") ? normalize(join(dirname(file), target)) : null;
    return { file, target, path, isType: match[1] !== undefined };
  });

let breaches = 0;
for (const folder of Object.keys(ALLOWED)) {
  for (const entry of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!/\.tsx?$/.test(entry)) continue;
    const file = join(folder, entry);
    for (const it of importsOf(file)) {
      const breach = breachOf(it);
      if (breach === null) continue;
      console.error(`${file}: ${breach}`);
      breaches += 1;
    }
  }
}
if (breaches === 0) console.log("imports: every folder and room reaches only what it may");
process.exitCode = breaches === 0 ? 0 : 1;
