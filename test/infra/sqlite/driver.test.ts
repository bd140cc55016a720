import { spawnSync } from "node:child_process";
import { extname } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { DatabaseSync, isSoundVersion } from "../../../infra/sqlite/driver.ts";

const test = suite("sqlite driver");

test("the SQLite in use is free of the WAL-reset bug", () => {
  const db = new DatabaseSync(":memory:");
  const row = db.prepare("SELECT sqlite_version() AS version").get();
  assert.ok(isSoundVersion(String(row?.version)), String(row?.version));
  db.close();
});

test("a version is sound from 3.51.3 on", () => {
  for (const version of ["3.51.3", "3.51.10", "3.53.0", "4.0.0"]) assert.ok(isSoundVersion(version), version);
  for (const version of ["3.51.2", "3.50.4", "3.9.9", "2.99.99", "0"]) assert.not.ok(isSoundVersion(version), version);
});

test("values come back as they were bound, the empty string and all of Unicode but NUL included", () => {
  const db = new DatabaseSync(":memory:");
  const row = db.prepare("SELECT ? AS text, ? AS empty, ? AS number, ? AS none").get("aé😀\u202e\uffff", "", 7, null);
  assert.equal({ ...row }, { text: "aé😀\u202e\uffff", empty: "", number: 7, none: null });
  db.close();
});

test("errors carry SQLite's code", () => {
  const db = new DatabaseSync(":memory:");
  db.exec("CREATE TABLE t (a INTEGER PRIMARY KEY) STRICT; INSERT INTO t VALUES (1)");
  try {
    db.exec("INSERT INTO t VALUES (1)");
    assert.unreachable();
  } catch (error) {
    assert.ok(error instanceof Error && "errcode" in error);
    // SQLITE_CONSTRAINT_PRIMARYKEY: the primary code is in the lowest byte (https://sqlite.org/rescode.html).
    assert.is(Number(error.errcode) & 0xff, 19);
  }
  db.close();
});

test("loading the driver prints no warning and hides no other", () => {
  const driver = new URL(`../../../infra/sqlite/driver${extname(import.meta.url)}`, import.meta.url);
  const program = `await import(${JSON.stringify(driver.href)}); process.emitWarning("still heard");`;
  const child = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  assert.is(child.status, 0);
  assert.not.match(child.stderr, /ExperimentalWarning/);
  assert.match(child.stderr, /still heard/);
});

test.run();
