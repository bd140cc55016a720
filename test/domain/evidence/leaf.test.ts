import { createHash } from "node:crypto";
import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { canonicalJson, wellFormed } from "../../../domain/evidence/canonical-json.ts";
import { type KeyLink, keysOfRecord, type Leaf, leafBytes, leafOf, readLeaf } from "../../../domain/evidence/leaf.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { Actor } from "../../../domain/ports/event-log.ts";
import { history } from "../../support/history.ts";

const test = suite("leaf");

const sha256 = (bytes: Uint8Array): Uint8Array => createHash("sha256").update(bytes).digest();
const hexOf = (text: string): string => Buffer.from(sha256(Buffer.from(text))).toString("hex");

const idOf = (prefix: string, character: string): string => `${prefix}_${character.repeat(32)}`;
const ACCOUNT = idOf("acc", "a");
const EVENT = idOf("evt", "b");
const AGENT = idOf("agt", "c");
const POLICY = idOf("pol", "d");

const recordOf = (stream: string, data: JsonObject, actor: Actor = { kind: "agent", id: AGENT }) =>
  history().add(stream, { type: "EventAdmitted", data }, { account: ACCOUNT, actor });

const textOf = (leaf: Leaf): string => Buffer.from(leafBytes(leaf)).toString();

test("a leaf says each thing of a record once, in canonical form", () => {
  const record = recordOf(`delivery-${EVENT}`, { b: 1, a: "x" });
  const keys: Readonly<Record<string, KeyLink>> = { [AGENT]: [0, null], [EVENT]: [2, 5] };
  const leaf = leafOf(sha256, record, { index: 7, keys });
  const { account: _, actor: __, recorded_at: ___, ...meta } = record.meta;
  assert.equal(leaf.meta, meta);
  assert.equal(JSON.parse(textOf(leaf)), {
    v: 1,
    account: ACCOUNT,
    index: 7,
    stream: `delivery-${EVENT}`,
    revision: 0,
    id: record.id,
    type: "EventAdmitted",
    recorded_at: record.meta.recorded_at,
    actor: { kind: "agent", id: AGENT },
    subject: EVENT,
    data: { a: "x", b: 1 },
    meta,
    keys: { [AGENT]: [0, null], [EVENT]: [2, 5] },
  });
  assert.ok(textOf(leaf).startsWith(`{"account":"${ACCOUNT}","actor":{"id":`));
  assert.equal(JSON.parse(JSON.stringify(readLeaf(leafBytes(leaf)))), leaf);
});

/** What `readLeaf` says, by JSON.parse and by writing the canonical form of the whole again. */
const isLeafText = (text: string): boolean => {
  try {
    const value = JSON.parse(text);
    if (canonicalJson(value) !== text) return false;
    // Its own members and their types are those of `readLeaf`, which is asked for the same in one form for all texts.
    return typeof readLeaf(Buffer.from(canonicalJson({ ...value, data: {} }))) === "object";
  } catch {
    return false;
  }
};

test("links that are read apart are those that JSON has, whatever else stands in a leaf", () => {
  const leafWith = (data: JsonObject, keys: Record<string, KeyLink>): string =>
    textOf(leafOf(sha256, recordOf(`delivery-${EVENT}`, data), { index: 7, keys }));
  const links: Record<string, KeyLink> = { [AGENT]: [0, null], [EVENT]: [2, 5] };
  const likeLeaf = { index: 1, keys: { x: [0, null] }, meta: { a: 1 } };
  const good = [
    leafWith({}, links),
    leafWith({}, {}),
    leafWith(likeLeaf, links),
    leafWith({ a: likeLeaf, keys: 0 }, links),
    leafWith({}, JSON.parse('{"__proto__":[0,null],"\u00e9":[1,0]}')),
  ];
  for (const text of good)
    assert.equal(JSON.parse(JSON.stringify(readLeaf(Buffer.from(text)))), JSON.parse(text), text);
  const [plain = ""] = good;
  const own = /,"keys":\{.*\},(?="meta")/;
  const bad = [
    leafWith(likeLeaf, links).replace(/,"keys":\{"agt[^}]*\}/, ""),
    leafWith(likeLeaf, links).replace(/,"keys":\{"agt[^}]*\}/, ',"keys":0'),
    plain.replace(own, `,"keys":{"${AGENT}":[0,null],},`),
    plain.replace(own, `,"keys":{"${AGENT}":[00,null]},`),
    plain.replace(own, `,"keys":{"${EVENT}":[2,5],"${AGENT}":[0,null]},`),
    plain.replace(own, `,"keys":{"${AGENT}":[0,null],"${AGENT}":[0,null]},`),
    plain.replace(own, ',"keys":{"a\nb":[0,null]},'),
    plain.replace(own, ',"keys":{"a":[0,1]},'),
    plain.replace(own, ',"keys":0,'),
    plain.replace(own, `,"keys":{"${AGENT}":[0,null]}, `),
  ];
  for (const text of bad) assert.is(typeof readLeaf(Buffer.from(text)), "string", text);
});

test("of a leaf in which any byte was changed, the same is read as by JSON alone", () => {
  const links: Record<string, KeyLink> = { [AGENT]: [0, null], [EVENT]: [2, 5] };
  const bytes = leafBytes(leafOf(sha256, recordOf(`delivery-${EVENT}`, { a: "x" }), { index: 7, keys: links }));
  const BYTES = [...',:"{}[]0 9-.eknul\\/'].map((it) => it.charCodeAt(0));
  for (let at = 0; at < bytes.length; at += 1)
    for (const byte of BYTES) {
      const changed = Buffer.from(bytes);
      changed[at] = byte;
      const text = changed.toString();
      const read = readLeaf(changed);
      assert.is(typeof read === "object", isLeafText(text), text);
      if (typeof read === "object") assert.equal(JSON.parse(JSON.stringify(read)), JSON.parse(text), text);
    }
});

test("sealed texts stand as their SHA-256, and members of the same names elsewhere as they are", () => {
  const data = {
    secret: "s",
    password: "p",
    headers: { "x-key": { sealed: "h", digest: null }, accept: "text/plain" },
    changes: { headers: { "x-key": { sealed: "c", digest: "d" } }, name: "n" },
    definition: { password: "not sealed", schema: { properties: { password: { type: "string" } } } },
  };
  assert.equal(leafOf(sha256, recordOf("endpoint-end_1", data), { index: 0, keys: {} }).data, {
    ...data,
    secret: hexOf("s"),
    password: hexOf("p"),
    headers: { "x-key": { sealed: hexOf("h"), digest: null }, accept: "text/plain" },
    changes: { headers: { "x-key": { sealed: hexOf("c"), digest: "d" } }, name: "n" },
  });
});

test("a record's keys are the ids in actor, stream and data, and its action", () => {
  const target = { endpoint_id: idOf("end", "e"), url: "https://example.com", inner: { policy: POLICY } };
  const data = { account: ACCOUNT, event: EVENT, target, action: { name: "refund", id: idOf("act", "f") } };
  assert.equal(keysOfRecord(recordOf(`delivery-${EVENT}`, data)), [
    idOf("act", "f"),
    "action:refund",
    AGENT,
    idOf("end", "e"),
    EVENT,
    POLICY,
  ]);
  assert.equal(keysOfRecord(recordOf("calls-x", { action: "refund" }, { kind: "system", id: "deliverer" })), [
    "action:refund",
  ]);
});

test("what a sender chose, parts of values, lists and the account give no key", () => {
  const chosen = { delivery_key: EVENT, idempotency_key: EVENT, type: EVENT, run: { id: EVENT } };
  const data = {
    ...chosen,
    deep: chosen,
    list: [EVENT],
    part: `${EVENT}-2026`,
    upper: EVENT.toUpperCase(),
    account: ACCOUNT,
  };
  assert.equal(keysOfRecord(recordOf(`ledger-${POLICY}-2026-01-31`, data)), [AGENT]);
  assert.equal(keysOfRecord(recordOf(`account-${ACCOUNT}`, {}, { kind: "system", id: "x" })), []);
});

test("a lone surrogate becomes U+FFFD in a leaf, and stays distinct in a digest", () => {
  const record = recordOf("calls-x", { "half \udc00": "\ud83d", whole: "\u{1f600}", text: "C:\\ud800" });
  const leaf = leafOf(sha256, record, { index: 0, keys: {} });
  const read = readLeaf(leafBytes(leaf));
  assert.equal(typeof read === "string" ? read : read.data, {
    "half \ufffd": "\ufffd",
    whole: "\u{1f600}",
    text: "C:\\ud800",
  });
  assert.is.not(canonicalJson("\ud800"), canonicalJson("\ufffd"));
  assert.equal(wellFormed(["\ud800", { a: ["\udfff"] }]), ["\ufffd", { a: ["\ufffd"] }]);
});

test("bytes that are not exactly a leaf are refused, each for its reason", () => {
  const leaf = leafOf(sha256, recordOf(`delivery-${EVENT}`, { a: "\u20ac" }), { index: 7, keys: { [EVENT]: [2, 5] } });
  const text = textOf(leaf);
  const changed = (change: object) => canonicalJson({ ...JSON.parse(text), ...change });
  const why = (bytes: string | Uint8Array) => readLeaf(typeof bytes === "string" ? Buffer.from(bytes) : bytes);
  assert.is(why(Buffer.concat([Buffer.from(text.slice(0, -2)), Buffer.of(0xff)])), "not-utf8");
  assert.is(why(text.slice(0, -1)), "not-json");
  assert.is(why("[".repeat(200_000) + "]".repeat(200_000)), "not-json");
  for (const other of [
    `${text}\n`,
    `\ufeff${text}`,
    text.replace(":", ": "),
    text.replace("\u20ac", "\\u20ac"),
    text.replace('"index":7', '"index":7.0'),
    text.replace('"index":7', '"index":7,"index":7'),
    JSON.stringify(leaf),
  ])
    assert.ok(["not-canonical", "not-json"].includes(String(why(other))), other);
  assert.is(why(changed({ id: "\ud800" })), "lone-surrogate");
  assert.is(why(changed({ v: 2 })), "unknown-version");
  for (const change of [
    { more: 1 },
    { index: -1 },
    { index: 0.5 },
    { revision: "0" },
    { actor: { kind: "operator", id: "x" } },
    { actor: { kind: "system", id: "x", more: 1 } },
    { data: [] },
    { meta: null },
    { keys: { [EVENT]: [0, 1] } },
    { keys: { [EVENT]: [1, null] } },
    { keys: { [EVENT]: [1] } },
    { subject: "another" },
  ])
    assert.is(why(changed(change)), "wrong-members", JSON.stringify(change));
  assert.is(why("null"), "wrong-members");
});

test("whatever JSON a record has, its leaf is read back as it was", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ stringUnit: "binary" })), (data) => {
      const record = recordOf("calls-x", data as JsonObject); // fast-check's type for JSON is wider than ours.
      const leaf = leafOf(sha256, record, { index: 3, keys: {} });
      const read = readLeaf(leafBytes(leaf));
      assert.type(read, "object");
      assert.is(textOf(read as Leaf), textOf(leaf)); // The line before has refused a failure.
    }),
  );
});

test.run();
