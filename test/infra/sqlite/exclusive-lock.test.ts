import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { exclusiveLock } from "../../../infra/sqlite/exclusive-lock.ts";

const test = suite("exclusive lock");
const folder = mkdtempSync(join(tmpdir(), "countersign-lock-"));
test.after(() => rmSync(folder, { recursive: true, force: true }));

const HOLDER = new URL("../../../infra/sqlite/exclusive-lock.js", import.meta.url).href;

test("a second holder is refused until the first releases the lock", () => {
  const path = join(folder, "a.lock");
  const first = exclusiveLock(path);
  assert.is(exclusiveLock(path), null);
  // Whoever could read it could hold it too.
  assert.is((statSync(path).mode & 0o777).toString(8), "600");
  first?.release();
  const second = exclusiveLock(path);
  assert.ok(second !== null);
  second?.release();
});

test("a killed process leaves no lock", async () => {
  const path = join(folder, "b.lock");
  const program = `import { exclusiveLock } from ${JSON.stringify(HOLDER)};
    globalThis.held = exclusiveLock(${JSON.stringify(path)}); console.log("held"); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  assert.is(exclusiveLock(path), null);
  child.kill("SIGKILL");
  await once(child, "close");
  const lock = exclusiveLock(path);
  assert.ok(lock !== null);
  lock?.release();
});

test.run();
