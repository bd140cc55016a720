import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { browserHere, openBrowser } from "../../test/support/browser.ts";
import { processorTimeOfWork, withDescendants } from "./processor-time.ts";

export type Verification = {
  readonly seconds: number;
  /** Null on a system without /proc. */
  readonly processorSeconds: number | null;
  readonly memoryMiB: number;
  /** What of it the page had taken before the check; 0 for the command. */
  readonly emptyMiB: number;
};

const PAGE = pathToFileURL(resolve("build/page/verify.html")).href;
const LOOK_MS = 200;
const RENDERER = "--type=renderer";
/** The most memory that a process has had (proc_pid_status(5)), in KiB. */
const PEAK = /^VmHWM:\s+(\d+) kB$/m;

const fileOf = (pid: number, name: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
};

/** The most memory of the browser's process that runs the page and its worker. */
const rendererPeakMiB = (): number =>
  Math.max(
    0,
    ...withDescendants(process.pid)
      .filter((pid) => fileOf(pid, "cmdline").includes(RENDERER))
      .map((pid) => Number(PEAK.exec(fileOf(pid, "status"))?.[1] ?? 0) / 1_024),
  );

/** Has the page `verify.html` check the file in a browser of this machine. Throws unless the file is authentic. */
export const verifiedByPage = async (file: string, key: string): Promise<Verification> => {
  const binary = browserHere();
  if (binary === null) throw new Error("there is no browser: set BROWSER_BINARY");
  const page = await openBrowser(binary);
  try {
    await page.open(PAGE);
    await page.choose("#files", [file]);
    await page.evaluate(`void (document.getElementById("keys").value = ${JSON.stringify(key)})`);
    const emptyMiB = rendererPeakMiB();
    const start = performance.now();
    const { result: said, ms } = await processorTimeOfWork(process.pid, async () => {
      await page.click("Check");
      for (;;) {
        const text = await page.evaluate<string>("document.getElementById('result').innerText.trim()");
        if (text !== "") return text;
        await sleep(LOOK_MS);
      }
    });
    const seconds = (performance.now() - start) / 1_000;
    if (!said.startsWith("AUTHENTIC")) throw new Error(`the page says: ${said}`);
    return { seconds, processorSeconds: ms === null ? null : ms / 1_000, memoryMiB: rendererPeakMiB(), emptyMiB };
  } finally {
    await page.close();
  }
};
