import { suite } from "uvu";
import * as assert from "uvu/assert";
import { countersign } from "../../support/command-line.ts";
import { removeFolder, temporaryFolder, until } from "../../support/program.ts";
import { runningCommand } from "../../support/running-command.ts";

const test = suite("countersign serve");

test("serve runs until it is stopped, and ends with the service's exit code", async () => {
  const dir = temporaryFolder();
  const served = runningCommand(["serve", "--port", "0", "--data-dir", dir], { LOG_LEVEL: "warn" });
  const url = await until("it listens", () => /listening on (http:\S+)/.exec(served.lines().join("\n"))?.[1]);
  assert.is((await fetch(`${url}/health`)).status, 200);
  const shown = await countersign(["status", "--url", url]);
  assert.match(shown.stdout, /engines +log sqlite, views sqlite, feed none/);
  assert.is(await served.stop("SIGTERM"), 0);
  await assertGone(url);
  removeFolder(dir);
});

const assertGone = async (url: string): Promise<void> =>
  fetch(`${url}/health`).then(
    () => assert.unreachable("the service goes on without its command"),
    () => undefined,
  );

test("a bad configuration is the service's sentence and exit code 2", async () => {
  const { status, stderr } = await countersign(["serve", "--port", "none"]);
  assert.is(status, 2);
  assert.match(stderr, "PORT");
  assert.is((await countersign(["serve", "now"])).status, 2);
});

test.run();
