/**
 * Writes a whole, signed export and measures `countersign verify` on it: seconds, processor time and the most memory. With
 * a browser (BROWSER_BINARY, or one that is found) it measures the page `verify.html` as well.
 *
 *     npm run bench:verify                        a million records
 *     npm run bench:verify -- --records 10000     so many
 *     npm run bench:verify -- --file FILE         the export is kept there, or taken from there; default: a temporary file
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { browserHere } from "../test/support/browser.ts";
import { LARGE_EXPORT_KEY, largeExport } from "./bench/large-export.ts";
import { type Verification, verifiedByPage } from "./bench/verify-page.ts";

const RECORDS = 1_000_000;
const MIB = 2 ** 20;
/** Runs in the measured process, whose own figures are the only ones that count no other. */
const TELLS_USAGE = `data:text/javascript,process.on("exit",()=>console.error(JSON.stringify(process.resourceUsage())))`;

const { values: flags } = parseArgs({ options: { records: { type: "string" }, file: { type: "string" } } });
const records = Number(flags.records ?? RECORDS);
if (!Number.isInteger(records) || records < 1) throw new Error(`--records takes a whole number, not ${flags.records}`);

type Usage = { readonly userCPUTime: number; readonly systemCPUTime: number; readonly maxRSS: number };

const verifiedByCommand = async (file: string): Promise<Verification> => {
  const command = new URL("../src/cli/main.js", import.meta.url).pathname;
  const start = performance.now();
  const args = ["--import", TELLS_USAGE, command, "verify", file, "--key", LARGE_EXPORT_KEY];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "pipe"] });
  let told = "";
  child.stderr.on("data", (chunk) => {
    told += chunk;
  });
  const [status] = await once(child, "close");
  const seconds = (performance.now() - start) / 1_000;
  if (status !== 0) throw new Error(`verify ended with ${status}: ${told}`);
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(told) as Usage; // TELLS_USAGE has written it.
  return { seconds, processorSeconds: (userCPUTime + systemCPUTime) / 1e6, memoryMiB: maxRSS / 1_024, emptyMiB: 0 };
};

const printed = (what: string, { seconds, processorSeconds, memoryMiB, emptyMiB }: Verification): void => {
  const processor = processorSeconds === null ? "unknown" : `${processorSeconds.toFixed(1)} s`;
  const empty = emptyMiB === 0 ? "" : `, of which ${emptyMiB.toFixed(0)} MiB before the check`;
  const memory = `at most ${memoryMiB.toFixed(0)} MiB of memory${empty}`;
  console.log(`${what}: ${seconds.toFixed(1)} s, ${processor} of processor time, ${memory}`);
};

const folder = mkdtempSync(join(tmpdir(), "countersign-verify-"));
try {
  const file = flags.file ?? join(folder, "export.ndjson");
  if (!existsSync(file)) await pipeline(Readable.from(largeExport(records)), createWriteStream(file));
  const machine = `load ${(loadavg()[0] ?? 0).toFixed(1)} before, ${cpus().length} cores, Node ${process.version}`;
  console.log(`${records} records, ${(statSync(file).size / MIB).toFixed(0)} MiB: ${machine}`);
  printed("the command", await verifiedByCommand(file));
  if (browserHere() === null) console.log("the page: not measured, as no browser was found");
  else printed("the page", await verifiedByPage(file, LARGE_EXPORT_KEY));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
