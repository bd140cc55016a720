import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { removeFolder, until } from "../support/program.ts";

const DEMO = new URL("../../scripts/demo.js", import.meta.url).pathname;

type Demo = {
  readonly child: ChildProcess;
  /** Its only place for temporary files. */
  readonly tmp: string;
  output(): string;
  /** Waits for its end. */
  exitCode(): Promise<number | null>;
};

const test = suite("the demo");
let demo: Demo;

test.before.each(() => {
  const tmp = mkdtempSync(join(tmpdir(), "countersign-test-"));
  const child = spawn(process.execPath, [DEMO], {
    env: { PATH: process.env.PATH, TMPDIR: tmp },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk));
  const closed = once(child, "close");
  demo = {
    child,
    tmp,
    output: () => output,
    async exitCode() {
      await closed;
      return child.exitCode;
    },
  };
});
test.after.each(() => {
  demo.child.kill("SIGKILL");
  removeFolder(demo.tmp);
});

/** The process of the service, once webhooks are being sent to it. */
const serviceUnderWay = (): Promise<number> =>
  until("webhooks are being sent", () =>
    demo.output().includes("2. Admitted") ? Number(/as process (\d+)/.exec(demo.output())?.[1]) : null,
  );

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test("shows everything as said, in plain text where there is no terminal, and leaves nothing behind", async () => {
  const service = await serviceUnderWay();
  assert.is(await demo.exitCode(), 0, demo.output());
  const output = demo.output();
  for (const shown of ["200 duplicate", "401 mismatch", "401 stale", "202 queued", "EventDelivered"]) {
    assert.ok(output.includes(shown), shown);
  }
  for (const gate of ["require-fields", "schema", "content", "budget", "rate"]) {
    assert.ok(output.includes(`gate-${gate}`), gate);
  }
  assert.not.ok(output.includes("\u001b"));
  assert.equal(readdirSync(demo.tmp), []);
  assert.not.ok(isRunning(service));
});

test("leaves nothing behind when it is interrupted", async () => {
  const service = await serviceUnderWay();
  demo.child.kill("SIGINT");
  assert.is(await demo.exitCode(), 130, demo.output());
  assert.equal(readdirSync(demo.tmp), []);
  assert.not.ok(isRunning(service));
});

test("says so when something did not happen, and leaves nothing behind", async () => {
  process.kill(await serviceUnderWay(), "SIGKILL");
  assert.is(await demo.exitCode(), 1, demo.output());
  assert.equal(readdirSync(demo.tmp), []);
  assert.match(demo.output(), "The demo could not go on: ");
  assert.not.ok(demo.output().includes("Everything happened as said"));
});

test.run();
