import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { RecordDamaged } from "../../../infra/log-errors.ts";
import { isOtherFormat, LOG_FORMAT } from "../../../infra/other-format.ts";
import { DatabaseSync } from "../../../infra/sqlite/driver.ts";
import { sqliteEventLog } from "../../../infra/sqlite/event-log.ts";
import { DAMAGED_TYPE } from "../../../infra/stream-name.ts";
import { event, events, idsOf, newStream, rejection } from "../../contract/event-log-events.ts";
import { until } from "../../support/until.ts";
import { inDirectory } from "./event-log-children.ts";

/** What is in the directory, and what may be opened. */
const test = suite("sqlite event log: storage");

const MIB = 1024 * 1024;

const inNewFile = (use: (path: string) => Promise<void>): Promise<void> =>
  inDirectory((directory) => use(join(directory, "data", "log.db")));

const sql = (path: string, text: string): void => {
  const db = new DatabaseSync(path);
  db.exec(text);
  // All is in the one file, also where a connection of a log that was just refused is not closed yet.
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
};

const filesWith = (path: string, text: string): string[] =>
  readdirSync(dirname(path)).filter((name) => readFileSync(join(dirname(path), name)).includes(text));

test("only the owner may read the directory and the files", () =>
  inNewFile(async (path) => {
    const log = await sqliteEventLog({ path });
    await log.append(newStream(), "absent", [event()]);
    const modeOf = (name: string): string => (statSync(name).mode & 0o777).toString(8);
    assert.is(modeOf(dirname(path)), "700");
    for (const name of readdirSync(dirname(path))) assert.is(modeOf(join(dirname(path), name)), "600", name);
    await log.close();
  }));

test("an empty log has no head and an empty first page", () =>
  inNewFile(async (path) => {
    const log = await sqliteEventLog({ path });
    assert.is(await log.head(), null);
    assert.equal(await log.readAll(null, 10), []);
    await log.close();
  }));

test("a log keeps its identity, and another log has another", () =>
  inNewFile(async (path) => {
    const opened = [await sqliteEventLog({ path }), await sqliteEventLog({ path, readOnly: true })];
    const names = await Promise.all(opened.map((log) => log.identity()));
    for (const log of opened) await log.close();
    const again = await sqliteEventLog({ path });
    assert.equal(names, [await again.identity(), await again.identity()]);
    await again.close();
    const other = await sqliteEventLog({ path: `${path}-other` });
    assert.is.not(await other.identity(), names[0]);
    await other.close();
  }));

test("a look for types reads a bounded number of rows, however long the log is", () =>
  inNewFile(async (path) => {
    const log = await sqliteEventLog({ path });
    for (let appends = 0; appends < 25; appends += 1) await log.append(newStream(), "absent", events(100));
    await log.append(newStream(), "absent", [event({}, "Wanted")]);
    const found: string[] = [];
    const reached = [0];
    for (let after: string | null = null; ; ) {
      const page = await log.readTypes(["Wanted"], after, 9);
      found.push(...page.events.map(({ type }) => type));
      if (page.upTo === null) break;
      after = page.upTo;
      reached.push(Number(after));
    }
    assert.equal(found, ["Wanted"]);
    assert.equal(reached, [0, 1_024, 2_048, 2_501]);
    await log.close();
  }));

test("closing waits for pending appends and leaves everything in the one file", () =>
  inNewFile(async (path) => {
    const log = await sqliteEventLog({ path });
    const stream = newStream();
    const sent = events(3);
    const appending = log.append(stream, "absent", sent);
    await log.close();
    assert.is((await appending).outcome, "appended");
    // Copied alone, as a backup may be: an empty WAL may stay beside it.
    const copy = `${path}-copy`;
    copyFileSync(path, copy);
    const again = await sqliteEventLog({ path: copy });
    assert.equal(idsOf(await again.read(stream, null, 10)), idsOf(sent));
    await again.close();
  }));

test("a log of another format, newer, older or without a name, is refused, and is left as it is", () =>
  inNewFile(async (path) => {
    await (await sqliteEventLog({ path })).close();
    const begin = "move the file away to begin a new log";
    for (const [version, found, remedy] of [
      [99, "has format 99", "restore the backup that was made before the upgrade"],
      [1, "has format 1", begin],
      [0, "names no format", begin],
    ] as const) {
      sql(path, `PRAGMA user_version = ${version}`);
      const before = readFileSync(path);
      for (const readOnly of [false, true]) {
        const error = await rejection(() => sqliteEventLog({ path, readOnly }));
        assert.ok(isOtherFormat(error));
        assert.is(
          error.message,
          `${path} ${found}, and this version reads format ${LOG_FORMAT} alone: run the version that wrote it, ` +
            `or ${remedy}`,
        );
      }
      assert.ok(before.equals(readFileSync(path)));
    }
  }));

test("a file that is no event log is refused, and is left as it is", () =>
  inDirectory(async (directory) => {
    const [other, text] = [join(directory, "other.db"), join(directory, "text.db")];
    sql(other, "CREATE TABLE t (a)");
    writeFileSync(text, "x".repeat(5_000));
    const before = readFileSync(other);
    assert.match((await rejection(() => sqliteEventLog({ path: other }))).message, /is not an event log/);
    assert.match((await rejection(() => sqliteEventLog({ path: text }))).message, /is not an event log/);
    assert.ok(before.equals(readFileSync(other)));
  }));

test("a file that was cut to nothing is refused, and its WAL is left as it is", () =>
  inNewFile(async (path) => {
    const log = await sqliteEventLog({ path });
    await log.append(newStream(), "absent", events(3));
    const cut = `${path}-cut`;
    writeFileSync(cut, "");
    copyFileSync(`${path}-wal`, `${cut}-wal`);
    const wal = readFileSync(`${cut}-wal`);
    assert.ok(wal.length > 0);
    for (const readOnly of [false, true])
      assert.match(
        (await rejection(() => sqliteEventLog({ path: cut, readOnly }))).message,
        /has no content: restore it/,
      );
    rmSync(cut);
    for (const readOnly of [false, true])
      assert.match(
        (await rejection(() => sqliteEventLog({ path: cut, readOnly }))).message,
        /is missing, but .*-wal exists: restore/,
      );
    assert.ok(wal.equals(readFileSync(`${cut}-wal`)));
    await log.close();
  }));

test("a file with another header, or without its end, is refused with what to do", () =>
  inNewFile(async (path) => {
    const log = await sqliteEventLog({ path });
    for (let n = 0; n < 20; n += 1) await log.append(newStream(), "absent", [event({ filler: "x".repeat(5_000) })]);
    await log.close();
    const whole = readFileSync(path);
    const damages = [
      Buffer.concat([Buffer.from("SQLite forget 3\0"), whole.subarray(16)]),
      Buffer.concat([whole.subarray(0, 100), Buffer.alloc(whole.length - 100)]),
      whole.subarray(0, 60),
      whole.subarray(0, 4_096),
      whole.subarray(0, whole.length - 4_096),
      whole.subarray(0, whole.length - 8_192),
    ];
    for (const [n, damaged] of damages.entries()) {
      for (const readOnly of [false, true]) {
        const copy = `${path}-${n}-${readOnly}`;
        writeFileSync(copy, damaged);
        const { message } = await rejection(() => sqliteEventLog({ path: copy, readOnly }));
        assert.match(message, /log\.db-\S+ is not an event log, or is damaged: restore it from a backup$/, `${n}`);
        assert.ok(damaged.equals(readFileSync(copy)), `${n} is left as it is`);
      }
    }
  }));

test("a log that was made with smaller pages keeps them, and is read and written", () =>
  inNewFile(async (made) => {
    const other = await sqliteEventLog({ path: made });
    const stream = newStream();
    const first = events(3);
    await other.append(stream, "absent", first);
    await other.close();
    const path = `${made}-small`;
    sql(made, `PRAGMA page_size = 4096; VACUUM INTO '${path}'`);
    const log = await sqliteEventLog({ path });
    const later = events(2);
    await log.append(stream, 2, later);
    assert.equal(idsOf(await log.read(stream, null, 10)), idsOf([...first, ...later]));
    await log.close();
    assert.is(readFileSync(path).readUInt16BE(16), 4_096);
  }));

test("a log that lost its WAL is an older log and never a new one", () =>
  inNewFile(async (path) => {
    const log = await sqliteEventLog({ path });
    const name = await log.identity();
    await log.append(newStream(), "absent", events(3));
    // As a crash leaves it: nothing was copied into the file yet.
    const alone = `${path}-alone`;
    copyFileSync(path, alone);
    await log.close();
    const left = await sqliteEventLog({ path: alone });
    assert.equal([await left.identity(), await left.head()], [name, null]);
    await left.close();
  }));

test("a new log exists as a whole or not at all, even if several processes create it at once", () =>
  inNewFile(async (path) => {
    const logs = await Promise.all(Array.from({ length: 4 }, () => sqliteEventLog({ path })));
    const names = new Set(await Promise.all(logs.map((log) => log.identity())));
    assert.is(names.size, 1);
    assert.equal(readdirSync(dirname(path)).sort(), ["log.db", "log.db-shm", "log.db-wal"]);
    for (const log of logs) await log.close();
  }));

test("a log opened for reading sees other appends, refuses its own, and needs the file", () =>
  inNewFile(async (path) => {
    await rejection(() => sqliteEventLog({ path, readOnly: true }));
    const log = await sqliteEventLog({ path });
    const reading = await sqliteEventLog({ path, readOnly: true });
    let woken = 0;
    reading.onAppended(() => {
      woken += 1;
    });
    const stream = newStream();
    await log.append(stream, "absent", [event({ n: 1 })]);
    assert.equal((await reading.last(stream))?.data, { n: 1 });
    await until("the reading log wakes its listener", () => woken > 0);
    assert.is((await rejection(() => reading.append(stream, "any", [event()]))).name, "LogUnavailable");
    await reading.close();
    await log.close();
  }));

test("erased content is soon in no file, even if it was moved within the file", () =>
  inNewFile(async (path) => {
    const log = await sqliteEventLog({ path });
    const streams = Array.from({ length: 300 }, () => newStream("payload"));
    // Of every size: some share a page with others, some have pages of their own.
    const secret = (n: number): string => `«secret-${n}»${`s${n}e`.repeat((n * 37) % 2_000)}`;
    await Promise.all(
      streams.map((stream, n) => log.append(stream, "absent", [event({ secret: secret(n) }), event()])),
    );
    assert.ok(filesWith(path, "«secret-").length > 0);
    // In no order, so that pages empty one by one and are joined.
    const order = streams.map((_, n) => (n * 7) % streams.length);
    for (const n of order.slice(0, 150)) await log.erase(streams[n] ?? "");
    await Promise.all(order.slice(150, -1).map((n) => log.erase(streams[n] ?? "")));
    const kept = order.at(-1) ?? 0;
    const traces = (): string[] => order.slice(0, -1).flatMap((n) => filesWith(path, `«secret-${n}»`));
    await until("no file has a trace of it", () => traces().length === 0);
    assert.is(log.bytesRemoved, "within-seconds");
    assert.equal((await log.read(streams[kept] ?? "", null, 1))[0]?.data, { secret: secret(kept) });
    await log.close();
    // Of long content, a piece without its beginning would be one as well.
    for (const n of order.slice(0, -1)) assert.equal(filesWith(path, `s${n}es${n}es${n}es${n}es${n}e`), [], String(n));
  }));

test("content erased right before a crash leaves the files after the next start", () =>
  inNewFile(async (path) => {
    const log = await sqliteEventLog({ path });
    const stream = newStream("payload");
    await log.append(stream, "absent", [event({ secret: "«secret»" })]);
    await log.erase(stream);
    // The files as the process leaves them, without the cut that is due.
    const left = join(dirname(path), "..", "left", "log.db");
    mkdirSync(dirname(left));
    for (const end of ["", "-wal"]) copyFileSync(`${path}${end}`, `${left}${end}`);
    await log.close();
    assert.ok(filesWith(left, "«secret»").length > 0);
    const again = await sqliteEventLog({ path: left });
    await until("no file has a trace of it", () => filesWith(left, "«secret»").length === 0);
    await again.close();
  }));

test("the WAL restarts during appends", () =>
  inNewFile(async (path) => {
    const log = await sqliteEventLog({ path });
    const filler = "x".repeat(MIB / 4);
    let written = 0;
    const fill = async (): Promise<void> => {
      while (written < 200 * MIB) {
        written += filler.length;
        await log.append(newStream(), "absent", [event({ filler })]);
      }
    };
    await Promise.all(Array.from({ length: 4 }, fill));
    const walMib = statSync(`${path}-wal`).size / MIB;
    assert.ok(walMib < 64, `${walMib} MiB`);
    await log.close();
  }));

test("a damaged record is refused by its name, and a damaged payload is shown without its content", () =>
  inNewFile(async (path) => {
    const log = await sqliteEventLog({ path });
    const [stream, payload] = [newStream(), newStream("payload")];
    await log.append(stream, "absent", events(3));
    await log.append(payload, "absent", events(1));
    await log.close();
    for (const member of ["data", "meta"]) {
      const copy = `${path}-${member}`;
      copyFileSync(path, copy);
      sql(copy, `UPDATE events SET ${member} = '~' || substr(${member}, 2) WHERE revision = 1 OR category = 'payload'`);
      const damaged = await sqliteEventLog({ path: copy, readOnly: true });
      const reads = [() => damaged.read(stream, null, 9), () => damaged.readAll(null, 9, "records")];
      for (const read of [...reads, () => damaged.readTypes(["Tested"], null, 9)]) {
        const error = await rejection(read);
        assert.instance(error, RecordDamaged);
        assert.match(error.message, `${stream}, revision 1, at position 0000000000000002, cannot be read`);
      }
      assert.is((await damaged.last(stream))?.revision, 2);
      assert.equal(
        (await damaged.read(payload, null, 9)).map(({ type, data, revision }) => ({ type, data, revision })),
        [{ type: DAMAGED_TYPE, data: {}, revision: 0 }],
      );
      await damaged.close();
    }
  }));

test.run();
