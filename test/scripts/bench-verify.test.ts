import { suite } from "uvu";
import * as assert from "uvu/assert";
import { LARGE_EXPORT_KEY, largeExport } from "../../scripts/bench/large-export.ts";
import { verifyExport } from "../../src/verifier/export.ts";
import { platformHere } from "../../src/verifier/platform.ts";

const test = suite("the export that the bench of the verifier writes");

/** More than from one sealed key map to the next. */
const RECORDS = 10_100;

test("it is authentic, has as many records as were asked for, and a sealed key map", async () => {
  const lines = [...largeExport(RECORDS)].map((line) => Buffer.from(line));
  const source = async function* () {
    yield* lines;
  };
  const given = { keys: [LARGE_EXPORT_KEY], witnesses: [], previous: [] };
  const report = await verifyExport(source, given, platformHere());
  assert.equal([report.verdict, report.records, report.fault], ["authentic", RECORDS, null]);
  assert.match(Buffer.from(String(JSON.parse(String(lines[10_000])).leaf), "base64").toString(), "KeyMapSealed");
});

test.run();
