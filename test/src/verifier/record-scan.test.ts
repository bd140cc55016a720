import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { LEAF_PREFIX_BYTE } from "../../../domain/evidence/merkle.ts";
import { parseLine } from "../../../src/verifier/lines.ts";
import { platformHere } from "../../../src/verifier/platform.ts";
import { RecordScan } from "../../../src/verifier/record-scan.ts";

const test = suite("records read from their bytes");

const RUNS = 2_000;
const { fromBase64 } = platformHere();

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
const written = fc
  .record({
    index: fc.nat(),
    leaf: fc.uint8Array({ maxLength: 100 }),
    hash: fc.option(fc.uint8Array({ minLength: 32, maxLength: 32 })),
  })
  .map(({ index, leaf, hash }) =>
    JSON.stringify({
      ...{ kind: "record", index, leaf: base64(leaf) },
      ...(hash === null ? {} : { leaf_hash: base64(hash) }),
    }),
  );

/** What the parser reads of the line; null if it is no record. */
const parsed = (line: Uint8Array) => {
  const read = parseLine(line);
  if (read?.kind !== "record") return null;
  const hash = read.leaf_hash === undefined ? null : fromBase64(read.leaf_hash);
  return { index: read.index, leaf: fromBase64(read.leaf), hash };
};

const scanned = (scan: RecordScan, line: Uint8Array) => {
  const read = scan.read(line);
  if (read === null) return null;
  const [prefix, ...leaf] = read.prefixedLeaf;
  assert.is(prefix, LEAF_PREFIX_BYTE);
  return { index: read.index, leaf: Uint8Array.from(leaf), hash: read.leafHash?.slice() ?? null };
};

const sameAs = (line: Uint8Array, found: ReturnType<typeof scanned>): void => {
  const right = parsed(line);
  const asText = (it: typeof right) =>
    it === null
      ? null
      : [it.index, it.leaf === null ? null : base64(it.leaf), it.hash === null ? null : base64(it.hash)];
  assert.equal(asText(found), asText(right), Buffer.from(line).toString());
};

test("a record that an exporter wrote is read as the parser reads it, with one buffer for all", () => {
  const scan = new RecordScan();
  fc.assert(
    fc.property(written, (text) => {
      const line = Buffer.from(text);
      const found = scanned(scan, line);
      assert.is.not(found, null, text);
      sameAs(line, found);
    }),
    { numRuns: RUNS },
  );
});

test("of a line with a changed byte, or one that was cut off, it says what the parser says, or nothing", () => {
  const scan = new RecordScan();
  const value = fc.oneof(fc.constantFrom(...Buffer.from('AZaz09+/="\\,:{} ')), fc.nat(255));
  fc.assert(
    fc.property(written, fc.nat(), value, (text, place, byte) => {
      const line = Buffer.from(text);
      const at = place % line.length;
      const cut = line.subarray(0, at);
      const changed = Buffer.from(line);
      changed[at] = byte;
      for (const it of [cut, changed, Buffer.concat([cut, Buffer.of(byte), line.subarray(at)])]) {
        const found = scanned(scan, it);
        if (found !== null) sameAs(it, found);
      }
    }),
    { numRuns: RUNS },
  );
});

test("two texts of the same bytes, numbers in another form and other members are left to the parser", () => {
  const scan = new RecordScan();
  const hash = base64(new Uint8Array(32));
  const lines = [
    ...['{"kind":"record","index":0,"leaf":"AB=="}', '{"kind":"record","index":0,"leaf":"AAB="}'],
    ...['{"kind":"record","index":01,"leaf":"AA=="}', '{"kind":"record","index":,"leaf":"AA=="}'],
    ...['{"kind":"record","index":1e3,"leaf":"AA=="}', '{"kind":"record","index":0,"leaf":"A"}'],
    ...['{"kind":"record","index":9007199254740993,"leaf":"AA=="}', '{"kind":"record","index":0,"leaf":"AA=="} '],
    `{"kind":"record","index":0,"leaf":"AA==","leaf_hash":"${hash}","more":1}`,
    `{"kind":"record","index":0,"leaf":"AA==","leaf_hash":"${hash.slice(4)}"}`,
    ...['{"index":0,"kind":"record","leaf":"AA=="}', '{"kind":"record", "index":0,"leaf":"AA=="}', ""],
  ];
  for (const line of lines) assert.is(scan.read(Buffer.from(line)), null, line);
});

test.run();
