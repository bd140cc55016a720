import { spawn } from "node:child_process";
import { once } from "node:events";
import { extname, join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { sqliteEventLog } from "../../../infra/sqlite/event-log.ts";
import { readOn } from "../../contract/event-log-events.ts";
import { until } from "../../support/until.ts";
import { inDirectory, startAppending } from "./event-log-children.ts";

/** Several processes on one file, and a process that ends. */
const test = suite("sqlite event log: processes");

test("two processes create and fill one log without losing or reordering records", () =>
  inDirectory(async (directory) => {
    const path = join(directory, "log.db");
    const children = [startAppending([path, "4", "25"]), startAppending([path, "4", "25"])];
    const codes = await Promise.all(children.map(async (child) => (await once(child, "close"))[0]));
    assert.equal(codes, [0, 0]);
    const log = await sqliteEventLog({ path });
    const stored = await readOn(log, null);
    // Each of eight appends two records 13 times, and 12 times a group of four.
    const records = 8 * (13 * 2 + 12 * 4);
    assert.equal(
      stored.map(({ position }) => Number(position)),
      Array.from({ length: records }, (_, index) => index + 1),
    );
    await log.close();
  }));

test("another process's append wakes listeners", () =>
  inDirectory(async (directory) => {
    const path = join(directory, "log.db");
    const log = await sqliteEventLog({ path });
    let woken = 0;
    log.onAppended(() => {
      woken += 1;
    });
    const ended = once(startAppending([path, "1", "1"]), "close");
    await until("the listener is woken", () => woken > 0);
    await ended;
    assert.is((await readOn(log, null)).length, 2);
    await log.close();
  }));

test("a listener does not keep the process alive, a pending append does", () =>
  inDirectory(async (directory) => {
    const modules = (name: string) => new URL(`../../../${name}${extname(import.meta.url)}`, import.meta.url).href;
    const program = `
      import { sqliteEventLog } from ${JSON.stringify(modules("infra/sqlite/event-log"))};
      import { event, newStream } from ${JSON.stringify(modules("test/contract/event-log-events"))};
      const log = await sqliteEventLog({ path: process.argv[1] });
      log.onAppended(() => undefined);
      log.append(newStream(), "absent", [event()]).then(({ outcome }) => console.log(outcome));
    `;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program, join(directory, "log.db")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    assert.equal(await once(child, "close"), [0, null]);
    assert.is(output, "appended\n");
  }));

test.run();
