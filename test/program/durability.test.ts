import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { LOG_FORMAT } from "../../infra/other-format.ts";
import { DatabaseSync } from "../../infra/sqlite/driver.ts";
import { type Client, hookSource, type Reply, signUp } from "../support/client.ts";
import { fieldOf, readWholeLog } from "../support/log-facts.ts";
import { killPrograms, removeFolder, runProgram, startProgram, temporaryFolder, until } from "../support/program.ts";
import { receiver } from "../support/receiver.ts";
import { testWhere } from "../support/skipped.ts";
import { canTrace, readCalls, tracedTo } from "../support/syscall-trace.ts";

/** What is on disk when the sender reads its answer, and what happens when the disk does not take it. */
const test = suite("durability");
let dir: string;

test.before.each(() => {
  dir = temporaryFolder();
});
test.after.each(() => {
  killPrograms();
  removeFolder(dir);
});

const traces = canTrace();
const isThere = (command: string): boolean => spawnSync(command, ["--version"]).status === 0;
const isRoot = process.getuid?.() === 0;

const idsIn = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, id]) => id ?? "");
/** As a row of the log begins in a page of its file: type, then data. */
const ADMITTED_ROW = /EventAdmitted\{\\"event_id\\":\\"(evt_[a-z2-7]{32})\\"/g;
const ANSWERED = /HTTP\/1\.1 202 .*?\\"event_id\\":\\"(evt_[a-z2-7]{32})\\"/g;
const WRITES: readonly string[] = ["write", "writev", "sendto", "sendmsg"];

testWhere(
  test,
  traces,
  "it needs strace",
  "P1: the admission of each event is written to the log and synced before the first byte of its 202",
  async () => {
    const file = join(dir, "calls");
    const program = await startProgram({}, join(dir, "data"), tracedTo(file));
    const source = await hookSource(await signUp(program.url));
    const sent: string[] = [];
    const keep = (reply: Reply): number => sent.push(reply.body.event_id);
    for (let n = 0; n < 10; n += 1) keep(await source.send(`alone-${n}`));
    for (const reply of await Promise.all(Array.from({ length: 30 }, (_, n) => source.send(`together-${n}`))))
      keep(reply);
    assert.is(await program.stop(), 0);

    const written = new Map<string, number>();
    const synced = new Map<string, number>();
    const answered = new Map<string, number>();
    for (const { name, args, result, began, ended } of readCalls(file)) {
      const isLog = args.includes("/log.db-wal>");
      if (isLog && name === "pwrite64") {
        for (const id of idsIn(args, ADMITTED_ROW)) if (!written.has(id)) written.set(id, ended);
      } else if (isLog && name.startsWith("f")) {
        assert.is(result, 0);
        // Only what was written before the sync began is on disk when it ends.
        for (const [id, at] of written) if (at < began && !synced.has(id)) synced.set(id, ended);
      } else if (WRITES.includes(name) && args.includes("<TCP")) {
        for (const id of idsIn(args, ANSWERED)) answered.set(id, began);
      }
    }
    assert.equal([...answered.keys()].sort(), sent.sort(), "the trace shows every answer");
    for (const [id, at] of answered) {
      const syncedAt = synced.get(id) ?? Number.POSITIVE_INFINITY;
      assert.ok(syncedAt < at, `${id} was answered at call ${at} and on disk at call ${syncedAt}`);
    }
  },
);

testWhere(
  test,
  traces,
  "it needs strace",
  "P1: a sync that fails is a 503 with Retry-After, never a 2xx, and what was answered 2xx survives a kill",
  async () => {
    const data = join(dir, "data");
    await (await startProgram({}, data)).stop();
    const wal = join(data, "log.db-wal");
    // A disk that fails a hundred times in a row, once the account is there, and then works again.
    const failing = ["-e", "inject=fsync,fdatasync:error=EIO:when=60..160", "-P", wal];
    const program = await startProgram({ LOG_LEVEL: "fatal" }, data, tracedTo("/dev/null", ...failing));
    const source = await hookSource(await signUp(program.url));
    const replies: Reply[] = [];
    const statuses = new Set<number>();
    await until("it has failed, and works again", async () => {
      const reply = await source.send(`shaky-${replies.length}`);
      replies.push(reply);
      statuses.add(reply.status);
      return statuses.has(503) && reply.status === 202;
    });
    for (const reply of replies) {
      if (reply.status === 202) continue;
      assert.equal([reply.status, reply.body.code], [503, "unavailable"]);
      assert.ok(Number(reply.headers.get("retry-after")) > 0);
    }
    await program.kill();
    const promised = replies.filter(({ status }) => status === 202).map(({ body }) => body.event_id as string);
    assert.ok(promised.length > 0);
    const again = await startProgram({}, data);
    await again.stop();
    const admitted = new Set(
      (await readWholeLog(data))
        .filter(({ type }) => type === "EventAdmitted")
        .map((event) => fieldOf(event, "event_id")),
    );
    assert.equal(
      promised.filter((id) => !admitted.has(id)),
      [],
    );
  },
);

/** Sends until something is accepted again, and expects that it is then delivered; nothing of before is lost. */
const recovers = async (client: Client, source: Awaited<ReturnType<typeof hookSource>>, ids: readonly string[]) => {
  await until("webhooks are accepted again", async () => (await source.send("after")).status < 300);
  for (const id of ids) assert.is((await source.send(id)).status, 202, "what was refused can be sent again");
  const expected = ids.length + 2;
  await until(
    "everything is delivered, what was in flight as well",
    async () => {
      const { body } = await client.call("GET", "/v1/events?status=delivered&limit=100");
      return body.data?.length === expected;
    },
    60_000,
  );
  const { body } = await client.call("GET", "/v1/billing/summary");
  assert.is(body.usage.events, expected);
};

/** The storage ends while a delivery is under way, comes back, and the same process goes on. */
const storageEnds = async (data: string, take: (pid: number) => void, give: (pid: number) => void): Promise<void> => {
  const [program, target] = await Promise.all([startProgram({ LOG_LEVEL: "error" }, data), receiver()]);
  const client = await signUp(program.url);
  const app = await client.make("/v1/endpoints", { name: "app", url: target.url, timeout_ms: 1_000 });
  const source = await hookSource(client, { endpoint_id: app.id });
  let answer = (): void => assert.unreachable("nothing was under way");
  target.answer((_arrival, response) => {
    answer = () => response.end("ok");
  });
  assert.is((await source.send("in flight")).status, 202);
  await until("it is at the receiver", () => target.arrivals.length === 1);
  take(program.pid);
  target.answer((_arrival, response) => response.end("ok"));
  answer();

  const ids = Array.from({ length: 40 }, (_, n) => `refused-${n}`);
  const replies = [...(await Promise.all(ids.map((id) => source.send(id)))), await source.send("refused-0")];
  replies.push(await client.call("POST", "/v1/policies", { name: "p" }));
  for (const { status, body, headers } of replies) {
    assert.equal([status, body.code, body.retryable], [503, "unavailable", true]);
    assert.match(headers.get("content-type") ?? "", /^application\/problem\+json/);
    assert.ok(Number(headers.get("retry-after")) > 0);
  }
  assert.is((await client.call("GET", "/health")).status, 200);
  assert.is((await client.call("GET", "/v1/events")).status, 200, "what is there can be read");

  give(program.pid);
  await recovers(client, source, ids);
  assert.is(await program.stop(), 0);
  await target.close();
};

testWhere(
  test,
  isThere("prlimit"),
  "it needs prlimit (util-linux)",
  "storage that takes nothing more: everything is refused with 503, nothing is promised, and it goes on when there is room",
  async () => {
    const allow = (bytes: string) => (pid: number) => {
      // The soft limit alone, so that it can be raised again without privileges.
      const done = spawnSync("prlimit", [`--pid=${pid}`, `--fsize=${bytes}:`], { encoding: "utf8" });
      assert.is(done.status, 0, done.stderr);
    };
    await storageEnds(join(dir, "data"), allow("1"), allow("unlimited"));
  },
);

const mounts = (): boolean => {
  const at = temporaryFolder();
  const done = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", at]).status === 0;
  if (done) spawnSync("umount", [at]);
  removeFolder(at);
  return done;
};

testWhere(
  test,
  mounts(),
  "it needs the right to mount",
  "a full disk: the same, and the room that was left is of no use",
  async () => {
    const disk = join(dir, "disk");
    mkdirSync(disk);
    assert.is(spawnSync("mount", ["-t", "tmpfs", "-o", "size=24m", "tmpfs", disk]).status, 0);
    const ballast = join(disk, "ballast");
    try {
      await storageEnds(
        join(disk, "data"),
        // To the last byte: dd ends when the disk is full.
        () => void spawnSync("dd", ["if=/dev/zero", `of=${ballast}`, "bs=4096"]),
        () => removeFolder(ballast),
      );
    } finally {
      killPrograms();
      await until("the disk is free", () => spawnSync("umount", [disk]).status === 0);
    }
  },
);

const refuses = async (data: string, says: RegExp, via: readonly string[] = []): Promise<void> => {
  const { code, stdout, stderr } = await runProgram({}, data, via);
  assert.equal([code, stdout], [2, ""], stderr);
  assert.match(stderr, says);
  assert.match(stderr, /^\S[^\n]*\n$/, "one line");
};

testWhere(
  test,
  !isRoot || isThere("setpriv"),
  "it needs setpriv (util-linux), as root may write everywhere",
  "a data directory that cannot be written to is one sentence, be it new or old",
  async () => {
    const via = isRoot ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : [];
    const data = join(dir, "data");
    await (await startProgram({}, data)).stop();
    for (const file of ["log.db", "views.db", "api.lock", "projector.lock", "deliverer.lock"]) {
      chmodSync(join(data, file), 0o400);
    }
    chmodSync(data, 0o500);
    await refuses(data, /^DATA_DIR \S+ has to be a folder that this user can read and write: /, via);
    await refuses(
      join(data, "below"),
      /^DATA_DIR \S+ has to be a folder that this user can read and write: EACCES/,
      via,
    );
    chmodSync(data, 0o700);
  },
);

for (const [file, format] of [
  ["log.db", LOG_FORMAT],
  ["views.db", 4],
] as const) {
  test(`a ${file} of another format is refused in one sentence, and stays as it is`, async () => {
    await (await startProgram({}, dir)).stop();
    const path = join(dir, file);
    const database = new DatabaseSync(path);
    database.exec("PRAGMA user_version = 99");
    database.close();
    const before = readFileSync(path);
    await refuses(
      dir,
      new RegExp(
        `^The \\w[\\w ]* in DATA_DIR \\S+ cannot be used: \\S+/${file} has format 99, and this version reads format ${format} alone: `,
      ),
    );
    assert.ok(readFileSync(path).equals(before));
  });
}

test("a log that is no log is refused in one sentence", async () => {
  writeFileSync(join(dir, "log.db"), "not a database, and long enough to be read as one: ".repeat(100), {
    mode: 0o600,
  });
  writeFileSync(join(dir, "key"), `${Buffer.alloc(32, 1).toString("base64")}\n`, { mode: 0o600 });
  await refuses(
    dir,
    /^The event log in DATA_DIR \S+ cannot be used: \S+\/log\.db is not an event log, or is damaged: restore it from a backup$/m,
  );
});

test.run();
