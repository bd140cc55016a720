import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { sqliteEventLog } from "../../../infra/sqlite/event-log.ts";
import { event, newStream } from "../../contract/event-log-events.ts";
import { testWhere } from "../../support/skipped.ts";
import { inDirectory, isInstalled, startAppending } from "./event-log-children.ts";

/** What was answered is on disk: seen in the system calls, and with a disk that fails. */
const test = suite("sqlite event log: durability");

const withStrace = (name: string, body: () => Promise<void>): void =>
  testWhere(test, isInstalled("strace"), "strace is not installed", name, body);

const run = async (args: readonly string[], tracer: readonly string[]): Promise<string> => {
  const child = startAppending(args, tracer);
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const [code] = await once(child, "close");
  assert.is(code, 0, output);
  return output;
};

type Call = { readonly name: string; readonly path: string; readonly text: string };

/** The calls of `strace -f -y`, in the order of their end; one that was interrupted gets its beginning back. */
const callsOf = (trace: string): Call[] => {
  const begun = new Map<string, string>();
  const calls: Call[] = [];
  for (const line of trace.split("\n")) {
    const [, thread = "", text = ""] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    if (text.endsWith("<unfinished ...>")) {
      begun.set(thread, text);
      continue;
    }
    const whole = text.startsWith("<...") ? (begun.get(thread) ?? "") + text : text;
    const [, name, path] = /^(\w+)\(\d+<([^>]*)>/.exec(whole) ?? [];
    if (name !== undefined && path !== undefined) calls.push({ name, path, text: whole });
  }
  return calls;
};

withStrace("every answer comes after a sync of the WAL that came after its events were written there", () =>
  inDirectory(async (directory) => {
    const [path, trace] = [join(directory, "log.db"), join(directory, "trace")];
    // Strings as long as a page: the ids of its events can be found in what is written.
    const tracer = ["strace", "-f", "-y", "-s", "10000", "-e", "trace=pwrite64,write,fsync,fdatasync", "-o", trace];
    const output = await run([path, "4", "10"], tracer);
    assert.is(output.match(/^answered .* appended$/gm)?.length, 40, output);

    const calls = callsOf(readFileSync(trace, "utf8"));
    const isOfWal = ({ path: file }: Call): boolean => file === `${path}-wal`;
    const isSync = ({ name }: Call): boolean => name === "fsync" || name === "fdatasync";
    let answers = 0;
    for (const [index, { name, text }] of calls.entries()) {
      const [, first = "", last = ""] = /"answered \S+ (\S+) (\S+) /.exec(text) ?? [];
      if (name !== "write" || first === "") continue;
      answers += 1;
      for (const id of [first, last]) {
        const written = calls.findIndex((call) => isOfWal(call) && !isSync(call) && call.text.includes(id));
        const synced = calls.findIndex((call, at) => at > written && isOfWal(call) && isSync(call));
        assert.ok(written !== -1 && written < synced && synced < index, `${id}: ${written}, ${synced}, ${index}`);
      }
    }
    assert.is(answers, 40);
  }),
);

withStrace("a sync that fails is an unknown outcome, and the log works again when the disk does", () =>
  inDirectory(async (directory) => {
    const path = join(directory, "log.db");
    // Made before, so that the failing syncs are those of appends.
    await (await sqliteEventLog({ path })).close();
    const fault = "inject=fsync,fdatasync:error=EIO:when=3..4";
    const output = await run(
      [path, "1", "12"],
      ["strace", "-f", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e", fault],
    );
    const lines = output.trim().split("\n");
    assert.ok(lines.includes("failed OutcomeUnknown"), output);
    assert.ok(lines.at(-1)?.startsWith("answered"), output);
    const log = await sqliteEventLog({ path });
    for (const line of lines.filter((text) => text.startsWith("answered"))) {
      const [, stream = ""] = line.split(" ");
      assert.is((await log.read(stream, null, 10)).length, 2, stream);
    }
    await log.close();
  }),
);

/** Enough for a quick answer; `CRASH_ROUNDS=100` for a thorough one. */
const CRASH_ROUNDS = Number(process.env.CRASH_ROUNDS ?? 10);
const CRASH_WITHIN_MS = 150;

test("answered appends survive kill -9, whole, in order and without gaps", () =>
  inDirectory(async (directory) => {
    const path = join(directory, "log.db");
    const answered = new Map<string, string[]>();
    for (let round = 0; round < CRASH_ROUNDS; round += 1) {
      const child = startAppending([path, "16", "1000000"]);
      let output = "";
      child.stdout?.setEncoding("utf8").on("data", (text: string) => {
        // At a random moment of its work, not of its start.
        if (output === "") setTimeout(() => child.kill("SIGKILL"), Math.random() * CRASH_WITHIN_MS);
        output += text;
      });
      await once(child, "close");
      // A last line that the kill cut off was no answer.
      for (const line of output.split("\n").slice(0, -1)) {
        const [word, stream = "", ...ids] = line.split(" ");
        if (word === "answered") answered.set(stream, ids.slice(0, 2));
      }

      const log = await sqliteEventLog({ path });
      const stored = new Map<string, string[]>();
      const grouped = new Map<string, string>();
      let count = 0;
      for (let at = null as string | null; ; ) {
        const page = await log.readAll(at, 1_000);
        const last = page.at(-1);
        if (last === undefined) break;
        for (const { id, stream, position, data } of page) {
          count += 1;
          if (typeof data.with === "string") grouped.set(stream, data.with);
          assert.is(Number(position), count, "a gap in the positions");
          stored.set(stream, [...(stored.get(stream) ?? []), id]);
        }
        at = last.position;
      }
      for (const [stream, ids] of answered) assert.equal(stored.get(stream), ids, `round ${round}: ${stream}`);
      for (const [stream, ids] of stored) assert.is(ids.length, 2, `round ${round}: ${stream} was torn`);
      for (const other of grouped.values())
        assert.ok(stored.has(other), `round ${round}: a group was torn at ${other}`);
      assert.is((await log.append(newStream(), "absent", [event(), event()])).outcome, "appended");
      await log.close();
    }
    assert.ok(answered.size > CRASH_ROUNDS, `${answered.size} answers`);
  }));

test.run();
