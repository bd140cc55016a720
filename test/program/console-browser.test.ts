import { execFile, execFileSync } from "node:child_process";
import { promisify } from "node:util";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { removeFolder, startProgram, temporaryFolder } from "../support/program.ts";

const test = suite("the console in a browser");

/** What a Chromium is called on the systems that people use; `BROWSER_BINARY` names another. */
const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const LIMIT_MS = 60_000;

const isThere = (name: string): boolean => {
  try {
    execFileSync(name, ["--version"], { stdio: "ignore", timeout: LIMIT_MS });
    return true;
  } catch {
    return false;
  }
};

const browser = process.env.BROWSER_BINARY ?? NAMES.find(isThere);

if (browser === undefined) {
  console.log("SKIPPED: the console in a browser is not tested: there is no Chromium, and BROWSER_BINARY is not set");
  test.skip("no browser");
} else {
  test("its modules run under its own policy: who is not signed in is shown the start, and nothing is refused", async () => {
    const program = await startProgram();
    const profile = temporaryFolder();
    try {
      // The service answers on 127.0.0.1, which browsers trust as they do localhost.
      const page = ["--dump-dom", "--virtual-time-budget=5000", `${program.url}/`];
      const quiet = ["--headless", "--disable-gpu", "--no-sandbox", "--no-first-run", `--user-data-dir=${profile}`];
      const logged = ["--enable-logging=stderr", "--v=0"];
      const ran = await promisify(execFile)(browser, [...quiet, ...logged, ...page], { timeout: LIMIT_MS });
      assert.match(ran.stdout, /<div id="start">/);
      assert.match(ran.stdout, /<div id="console" hidden/);
      assert.not.match(ran.stderr, /Content Security Policy|Uncaught|TrustedHTML/);
    } finally {
      await program.stop();
      removeFolder(program.dir);
      removeFolder(profile);
    }
  });
}

test.run();
