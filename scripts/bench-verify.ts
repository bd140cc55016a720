/**
 * Writes a whole, signed export and measures `countersign verify` on it: seconds, processor time and the most memory.
 *
 *     npm run bench:verify                        a million records
 *     npm run bench:verify -- --records 10000     so many
 *     npm run bench:verify -- --file FILE         the export is kept there; default: a temporary file
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, rmSync, statSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { LARGE_EXPORT_KEY, largeExport } from "./bench/large-export.ts";

const RECORDS = 1_000_000;
const MIB = 2 ** 20;
/** Runs in the measured process, whose own figures are the only ones that count no other. */
const TELLS_USAGE = `data:text/javascript,process.on("exit",()=>console.error(JSON.stringify(process.resourceUsage())))`;

const { values: flags } = parseArgs({ options: { records: { type: "string" }, file: { type: "string" } } });
const records = Number(flags.records ?? RECORDS);
if (!Number.isInteger(records) || records < 1) throw new Error(`--records takes a whole number, not ${flags.records}`);

type Usage = { readonly userCPUTime: number; readonly systemCPUTime: number; readonly maxRSS: number };

const verified = async (file: string): Promise<void> => {
  const command = new URL("../src/cli/main.js", import.meta.url).pathname;
  const load = loadavg()[0] ?? 0;
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
  const cpuSeconds = (userCPUTime + systemCPUTime) / 1e6;
  const machine = `load ${load.toFixed(1)} before, ${cpus().length} cores, Node ${process.version}`;
  console.log(`${records} records, ${(statSync(file).size / MIB).toFixed(0)} MiB: ${machine}`);
  console.log(`${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of processor time`);
  console.log(`at most ${(maxRSS / 1_024).toFixed(0)} MiB of memory`);
};

const folder = mkdtempSync(join(tmpdir(), "countersign-verify-"));
try {
  const file = flags.file ?? join(folder, "export.ndjson");
  await pipeline(Readable.from(largeExport(records)), createWriteStream(file));
  await verified(file);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
