import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { appendedSignal } from "../../../infra/sqlite/event-log-signal.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";
import { until } from "../../support/until.ts";

const test = suite("signal of appends by other processes");

test("an unreadable file wakes its followers, whose reads report the error, and ends no process", async () => {
  const dir = temporaryFolder();
  let answer = (): number => 1;
  let asked = 0;
  const signal = appendedSignal(join(dir, "log.db"), () => {
    asked += 1;
    return answer();
  });
  let woken = 0;
  const silence = signal.listen(() => {
    woken += 1;
  });
  await until("it is asked", () => asked > 1);
  assert.is(woken, 0);
  answer = () => {
    throw new Error("disk I/O error");
  };
  await until("its followers look", () => woken > 0);
  const before = woken;
  answer = () => 2;
  await until("they look again when it can be read", () => woken > before);
  silence();
  signal.close();
  removeFolder(dir);
});

test("a log without commits is looked at often for a while only, and each commit begins the while anew", async () => {
  const NEVER_MS = 2 ** 31 - 1;
  const CHANGED_AT = 4;
  const quietLooks = 5;
  const dir = temporaryFolder();
  let asked = 0;
  let woken = 0;
  const dataVersion = (): number => {
    asked += 1;
    return asked < CHANGED_AT ? 1 : 2;
  };
  const signal = appendedSignal(join(dir, "log.db"), dataVersion, { soonMs: 1, quietMs: NEVER_MS, quietLooks });
  signal.listen(() => {
    woken += 1;
  });
  await until("it is quiet", () => asked >= CHANGED_AT + quietLooks);
  for (let n = 0; n < 20; n += 1) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.equal([asked, woken], [CHANGED_AT + quietLooks, 1]);
  signal.close();
  removeFolder(dir);
});

test.run();
