import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { bytesOfBoth, databaseBytes, eventsThatFit } from "../../scripts/bench/disk.ts";
import type { Growth } from "../../scripts/bench/growth.ts";
import { growthRows, growthTable, rebuildBar } from "../../scripts/bench/growth-report.ts";
import { spreadOf } from "../../scripts/bench/spread.ts";
import { removeFolder, temporaryFolder } from "../support/program.ts";

const test = suite("the benchmark of growing logs");

const growth = (events: number, ms: number): Growth => {
  const times = spreadOf([ms]);
  return {
    events,
    records: events * 6,
    seededPerS: 1,
    rebuiltPerS: 30_000,
    bytesPerEvent: { log: 5_000, views: 2_500 },
    firstStartS: 3,
    startS: 1,
    admission: { rate: 500, latencyMs: times, late: 0 },
    console: { pageMs: times, filteredMs: times, searchMs: times, detailMs: times },
    rssAfterRebuildMiB: 200,
    rssMiB: 250,
  };
};

test("a database's bytes include its write-ahead log, and an absent one has none", () => {
  const dir = temporaryFolder();
  try {
    assert.is(databaseBytes(dir, "log.db"), null);
    for (const [name, bytes] of [
      ["log.db", 100],
      ["log.db-wal", 20],
      ["views.db", 3],
    ] as const)
      writeFileSync(join(dir, name), Buffer.alloc(bytes));
    assert.is(databaseBytes(dir, "log.db"), 120);
    assert.is(databaseBytes(dir, "views.db"), 3);
  } finally {
    removeFolder(dir);
  }
});

test("an event's bytes are those that are on this disk", () => {
  assert.is(bytesOfBoth({ log: 5, views: 2 }), 7);
  assert.is(bytesOfBoth({ log: null, views: 2 }), 2);
  assert.is(bytesOfBoth({ log: null, views: null }), null);
});

test("a log that does not fit becomes the largest one that does, with room for what grows beside it", () => {
  assert.is(eventsThatFit(1_000, 100, 1_000_000), 1_000);
  assert.is(eventsThatFit(1_000, 100, 13_000), 100);
  assert.is(eventsThatFit(1_000, null, 0), 1_000);
});

test("the table says what an event takes on disk", () => {
  const text = growthTable([growth(10_000, 10), growth(1_000_000, 20)]);
  assert.match(text, /^\| bytes on disk an event, log \+ views +\| 5,000 \+ 2,500 +\| 5,000 \+ 2,500 +\|$/m);
  assert.match(text, /^\| bytes on disk an event +\| 7,500 +\| 7,500 +\|$/m);
});

test("the largest log is compared with the smallest, each figure with its own bar", () => {
  const rows = growthRows([growth(10_000, 10), growth(1_000_000, 14)], 12_500);
  const met = Object.fromEntries(rows.map(({ name, isMet }) => [name, isMet]));
  assert.is(met["admission p99, largest log by smallest"], false);
  assert.is(met["events page p95, largest log by smallest"], true);
  assert.is(met["rebuild of all views, records/s"], true);
  assert.equal(growthRows([growth(10_000, 10)], 12_500), []);
});

test("a slow machine has proportionally less to rebuild, a fast one not more", () => {
  assert.is(rebuildBar(12_500), 25_000);
  assert.is(rebuildBar(40_000), 50_000);
});

test.run();
