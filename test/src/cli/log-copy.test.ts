import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { DatabaseSync } from "../../../infra/sqlite/driver.ts";
import { sqliteEventLog } from "../../../infra/sqlite/event-log.ts";
import { exclusiveLock } from "../../../infra/sqlite/exclusive-lock.ts";
import { run } from "../../../src/cli/run.ts";
import { chainOf } from "../../../src/log-copy/records.ts";
import { events, newStream } from "../../contract/event-log-events.ts";
import { countersign, MAIN } from "../../support/command-line.ts";
import { startEventStoreDouble } from "../../support/eventstore-double/server.ts";
import { testWhere } from "../../support/skipped.ts";
import { contentOf, type Varied, variedLog } from "../../support/varied-log.ts";

const test = suite<{ directory: string; from: string; to: string }>("countersign log");
const KILLS = Number(process.env.CRASH_ROUNDS ?? 4);

test.before.each((context) => {
  context.directory = mkdtempSync(join(tmpdir(), "log-copy-"));
  context.from = join(context.directory, "from");
  context.to = join(context.directory, "to");
});
test.after.each(({ directory }) => rmSync(directory, { recursive: true, force: true }));

const opened = (dataDir: string) => sqliteEventLog({ path: join(dataDir, "log.db") });

const written = async (dataDir: string, seed: number, write: (varied: Varied) => Promise<void>): Promise<void> => {
  const log = await opened(dataDir);
  await write(variedLog(log, seed));
  await log.close();
};

const contentIn = async (dataDir: string) => {
  const log = await opened(dataDir);
  const content = await contentOf(log);
  const chain = await chainOf(log);
  await log.close();
  return { content, chain };
};

const copy = (from: string, to: string, ...more: readonly string[]) =>
  countersign(["log", "copy", "--from", `sqlite:${from}`, "--to", `sqlite:${to}`, ...more]);

test("copies a log, prints the count and hash that log verify prints, and a second call copies nothing", async ({
  from,
  to,
}) => {
  await written(from, 1, (varied) => varied.add(30));
  const { status, stdout, stderr } = await copy(from, to);
  assert.is(status, 0, stderr);
  const { content, chain } = await contentIn(to);
  assert.equal(content, (await contentIn(from)).content);
  const line = `${chain.count} records, sha256 ${chain.sha256}`;
  assert.is(
    stdout,
    `found   0 records in the target\ncopied  ${chain.count} records\nsource  ${line}\ntarget  ${line}\n`,
  );
  for (const place of [from, to]) {
    assert.equal(await countersign(["log", "verify", `sqlite:${place}`]), {
      status: 0,
      stdout: `${line}\n`,
      stderr: "",
    });
  }
  assert.match((await copy(from, to)).stdout, "copied  0 records");
});

test("a copy that is killed again and again goes on where it was", async ({ from, to }) => {
  await written(from, 2, (varied) => varied.add(400));
  const expected = await contentIn(from);
  let killed = 0;
  for (let round = 1; round <= KILLS; round += 1) {
    const { status } = await countersign(
      ["log", "copy", "--from", `sqlite:${from}`, "--to", `sqlite:${to}`, "--batch", "1"],
      {
        started(child) {
          // Once it writes, at a moment that is another one each round.
          const wait = setInterval(() => {
            if (!existsSync(join(to, "log.db-wal"))) return;
            clearInterval(wait);
            setTimeout(() => child.kill("SIGKILL"), 20 + ((round * 37) % 150));
          }, 5);
          child.once("close", () => clearInterval(wait));
        },
      },
    );
    killed += status === null ? 1 : 0;
    if (status === 0) rmSync(to, { recursive: true });
    else if (existsSync(join(to, "log.db"))) {
      const there = (await contentIn(to)).content;
      assert.ok(there.length <= expected.content.length);
    }
  }
  assert.ok(killed > 0);
  const { status, stderr } = await copy(from, to);
  assert.is(status, 0, stderr);
  assert.equal(await contentIn(to), expected);
});

test("a copy to EventStoreDB that is killed continues, even if its last append arrived in part", async ({
  from,
  to,
}) => {
  await written(from, 5, (varied) => varied.add(120));
  const { content, chain } = await contentIn(from);
  const double = await startEventStoreDouble();
  const args = ["log", "copy", "--from", `sqlite:${from}`, "--to", double.url];
  for (const appends of [20, 150, 300]) {
    const cut = await countersign(args, {
      started(child) {
        const wait = setInterval(() => {
          if (double.state.log.length >= appends) child.kill("SIGKILL");
        }, 1);
        child.once("close", () => clearInterval(wait));
      },
    });
    assert.is(cut.status, null, "it was killed");
  }
  const { status, stderr } = await countersign(args);
  assert.is(status, 0, stderr);
  const verified = await countersign(["log", "verify", double.url]);
  assert.is(verified.stdout, `${chain.count} records, sha256 ${chain.sha256}\n`);
  const back = await countersign(["log", "copy", "--from", double.url, "--to", `sqlite:${to}`]);
  assert.is(back.status, 0, back.stderr);
  assert.equal((await contentIn(to)).content, content);
  await double.stop();
});

test("a target that is no copy is a failure, and so is one that a service uses", async ({ from, to }) => {
  await written(from, 3, (varied) => varied.add(5));
  await written(to, 4, (varied) => varied.add(5));
  const other = await copy(from, to);
  assert.is(other.status, 1);
  assert.match(other.stderr, /^The target is not a copy of the source\. Record 1 of the source is .*\n$/);
  for (const role of ["api", "deliverer", "feed"]) {
    const lock = exclusiveLock(join(to, `${role}.lock`));
    const used = await copy(from, to);
    assert.is(used.status, 1, role);
    assert.match(used.stderr, "stop it", role);
    lock?.release();
  }
});

test("places that cannot be used are named in one line, without a password, and the process ends by itself", async ({
  directory,
  from,
  to,
}) => {
  await written(from, 6, (varied) => varied.add(1));
  const text = join(directory, "text");
  mkdirSync(text);
  writeFileSync(join(text, "log.db"), "Dear reader, this is no database.");
  const double = await startEventStoreDouble();
  const wrong: readonly (readonly [string, string, RegExp])[] = [
    [`sqlite:${from}`, "sqlite:/proc/nope", /^\/proc\/nope cannot be made a folder \(ENOENT/],
    [`sqlite:${text}`, `sqlite:${to}`, /\/text\/log\.db is not an event log, or is damaged: restore it from a backup$/],
    [`sqlite:${from}`, "esdb://me:secret@127.0.0.1:1?tls=false&fast=1", /has an option fast, which there is not/],
    ["esdb://me:not@secret@127.0.0.1:1?tls=false", `sqlite:${to}`, /percent-encoded/],
    [
      `esdb://me:secret@127.0.0.1:${double.port}`,
      `sqlite:${to}`,
      /^EventStoreDB at esdb:\/\/127\S+ cannot be used: it spe/,
    ],
  ];
  for (const [source, target, says] of wrong) {
    const { status, stdout, stderr } = await countersign(["log", "copy", "--from", source, "--to", target]);
    const [said = "", usage = ""] = stderr.split("\n");
    assert.match(said, says);
    assert.match(usage, /^(?:usage: .*)?$/);
    assert.not.match(stderr, /secret/);
    assert.ok(status === 1 || status === 2, said);
    assert.is(stdout, "");
  }
  await double.stop();
});

/** As root may write everywhere. */
const WITHOUT_RIGHTS = process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : [];
const canGiveUpRights = WITHOUT_RIGHTS.length === 0 || spawnSync("setpriv", ["--version"]).status === 0;

testWhere(
  test,
  canGiveUpRights,
  "it needs setpriv (util-linux), as root may write everywhere",
  "a backup in a folder that cannot be written to is named, with what to do",
  async ({ from, to }) => {
    await written(from, 7, (varied) => varied.add(3));
    const { chain } = await contentIn(from);
    mkdirSync(to);
    copyFileSync(join(from, "log.db"), join(to, "log.db"));
    const verify = () => {
      const [command = "", ...args] = [...WITHOUT_RIGHTS, process.execPath, MAIN, "log", "verify", `sqlite:${to}`];
      return spawnSync(command, args, { encoding: "utf8" });
    };
    chmodSync(to, 0o500);
    const { status, stderr } = verify();
    chmodSync(to, 0o700);
    assert.is(status, 1);
    assert.match(stderr, /^\S+\/log\.db cannot be read in a folder that this user cannot write to, .+ copy it .+\n$/);
    assert.is(verify().stdout, `${chain.count} records, sha256 ${chain.sha256}\n`);
  },
);

const called = async (args: readonly string[]) => {
  const printed: string[] = [];
  const line = (text: string): void => void printed.push(text);
  return { status: await run(args, {}, { out: line, note: line }), printed: printed.join("\n") };
};

test("a wrong call says how it is to be made, and exits with 2", async ({ from, to }) => {
  const place = `sqlite:${from}`;
  const target = ["--to", `sqlite:${to}`];
  for (const args of [
    ["log", "copy"],
    ["log", "copy", "--from", place],
    ["log", "copy", "--from", place, "--to", "somewhere"],
    ["log", "copy", "--from", place, "--to", place],
    ["log", "copy", "--from", place, ...target, "--batch", "0"],
    ["log", "copy", "--from", place, ...target, "--fast"],
    ["log", "copy", "--from", place, ...target],
    ["log", "verify"],
    ["log", "move"],
    [],
  ]) {
    const { status, printed } = await called(args);
    assert.is(status, 2, args.join(" "));
    assert.match(printed, "usage: countersign");
  }
  assert.not(existsSync(to), "nothing was made");
  assert.is((await countersign(["log", "copy"])).status, 2);
});

test("each command explains itself with --help", async () => {
  for (const args of [["--help"], ["log", "copy", "--help"], ["log", "verify", "-h"], ["views", "rebuild", "--help"]]) {
    const { status, printed } = await called(args);
    assert.is(status, 0);
    assert.match(printed, "usage: countersign");
  }
});

test("log verify names the damaged records, and fails", async ({ from }) => {
  const log = await opened(from);
  const [stream, payload] = [newStream(), newStream("payload")];
  await log.append(payload, "absent", events(2));
  await log.append(stream, "absent", events(1));
  await log.close();
  const damage = (category: string): void => {
    const db = new DatabaseSync(join(from, "log.db"));
    db.prepare("UPDATE events SET data = '[' || substr(data, 2) WHERE category = ?").run(category);
    db.close();
  };
  damage("payload");
  const payloads = await countersign(["log", "verify", `sqlite:${from}`]);
  assert.is(payloads.status, 1);
  assert.match(payloads.stdout, /^3 records, sha256 /);
  for (const revision of [0, 1]) assert.match(payloads.stderr, `${payload}, revision ${revision}, cannot be read`);
  damage("delivery");
  const records = await countersign(["log", "verify", `sqlite:${from}`]);
  assert.equal([records.status, records.stdout], [1, ""]);
  assert.match(records.stderr, `the log is damaged: ${stream}, revision 0, at position `);
});

test.run();
