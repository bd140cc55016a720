import { createHash } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { saltedHash } from "../../../src/streams/commitments.ts";
import { encodeBody } from "../../../src/streams/payload-encoding.ts";
import {
  type Incoming,
  PAYLOAD_BYTES_MAX,
  payloadStream,
  payloads,
  type ReadPayload,
} from "../../../src/streams/payloads.ts";
import { failingLog } from "../../support/failing-log.ts";
import { APPEND_LIMIT_BYTES, measuredLog } from "../../support/measured-log.ts";
import { seededRandom } from "../../support/seeded-random.ts";

const test = suite("payloads");
const ID = `evt_${"a".repeat(32)}`;
const STREAM = payloadStream(ID);
const random = seededRandom(7);
const randomness = {
  bytes: (size: number) => Uint8Array.from({ length: size }, () => random.below(256)),
  number: random.next,
};
/** The payload, which is not damaged. */
const intact = (read: ReadPayload | "damaged" | null): ReadPayload | null => {
  if (read === "damaged") throw new Error("the payload is damaged");
  return read;
};
const envelope = () => ({
  commandId: `cmd_${random.next()}`,
  account: `acc_${"b".repeat(32)}`,
  actor: { kind: "source", id: `src_${"c".repeat(32)}` } as const,
  trace: { trace_id: "1".repeat(32), span_id: "2".repeat(16) },
  at: "2026-05-05T12:00:00.000Z",
});

/** The most that is kept of headers (`redactHeaders`), each character of which JSON doubles. */
const HEADERS = Object.fromEntries(
  Array.from({ length: 15 }, (_, index) => [`x-header-${String(index).padStart(2, "0")}`, '"'.repeat(1_024)]),
);
const incoming = (body: Buffer): Incoming => ({
  body,
  contentType: "application/json",
  contentEncoding: "",
  headers: HEADERS,
});
const cut = (text: string, size: number): Buffer => Buffer.from(text.repeat(size)).subarray(0, size);

/** What an append of a part may take: 128 KiB of quotes, which JSON doubles, with the headers and the metadata. */
const PART_APPEND_BYTES = 310_000;

/** Each of the largest size that is taken, and each long in its own way once it is JSON. */
const NUL = Buffer.alloc(PAYLOAD_BYTES_MAX);
const BYTES = Buffer.from(randomness.bytes(PAYLOAD_BYTES_MAX));
const LARGEST: readonly (readonly [string, Buffer])[] = [
  ["nothing but NUL", NUL],
  ["random bytes", BYTES],
  ["characters of three bytes", cut("€", PAYLOAD_BYTES_MAX)],
  ["characters of four bytes behind one of one", cut("😀", PAYLOAD_BYTES_MAX - 3).subarray(0, -1)],
  ["nothing but quotes", cut('"', PAYLOAD_BYTES_MAX)],
  ["plain text", cut("x", PAYLOAD_BYTES_MAX)],
  ["ordinary JSON", Buffer.from(JSON.stringify(Array.from({ length: 40_000 }, (_, id) => ({ id, name: "é" }))))],
  ["half text, half bytes", Buffer.concat([cut("a", 500_000), Buffer.alloc(PAYLOAD_BYTES_MAX - 500_000, 0xff)])],
];

for (const [name, body] of LARGEST) {
  test(`a body of ${name} is kept byte for byte, in appends that hold up nobody else for long`, async () => {
    const { log, largestAppend } = measuredLog(memoryEventLog());
    const kept = await payloads(log, randomness).keepFirst(ID, incoming(body), envelope());
    assert.ok(kept !== null);
    assert.ok(largestAppend() < PART_APPEND_BYTES, `${largestAppend()} bytes`);
    const read = intact(await payloads(log, randomness).read(ID, kept));
    assert.ok(read?.body.equals(body));
    assert.is(read?.content_type, "application/json");

    const { data } = (await log.last(STREAM)) ?? {};
    assert.is(kept.commitment, saltedHash(Buffer.from(String(data?.salt), "base64"), body));
    // The same again is found, and nothing is kept twice.
    assert.equal(await payloads(log, randomness).keepAgain(ID, incoming(body), envelope()), {
      ...kept,
      isReused: true,
    });
    assert.is((await log.last(STREAM))?.revision, kept.revision);
    await log.erase(STREAM);
    assert.is(await payloads(log, randomness).read(ID, kept), null);
    assert.equal(await log.readAll(null, 10), []);
  });
}

test("a body of any size and kind comes back byte for byte", async () => {
  const kinds = ["x", '"', "\u0000", "€", "😀", "\u2028", "\ufeff"];
  for (const size of [0, 1, 65_535, 65_536, 65_537, 131_071, 131_072, 131_073, 262_145, 900_000]) {
    for (const kind of kinds) {
      const { log, largestAppend } = measuredLog(memoryEventLog());
      const body = cut(kind, size);
      const kept = await payloads(log, randomness).keepFirst(ID, incoming(body), envelope());
      const read = kept === null ? null : intact(await payloads(log, randomness).read(ID, kept));
      assert.ok(read?.body.equals(body), `${size} of ${JSON.stringify(kind)}`);
      assert.ok(largestAppend() < APPEND_LIMIT_BYTES);
    }
  }
});

test("text stays text, whole or in parts, unless its escapes would make it longer than base64", async () => {
  assert.is(encodeBody(cut("x", 200_000)).encoding, "text");
  assert.is(encodeBody(cut('"', 200_000)).encoding, "base64");
  assert.is(encodeBody(cut('"', 2_000)).encoding, "text", "of a short one it does not matter");
  const log = memoryEventLog();
  await payloads(log, randomness).keepFirst(ID, incoming(cut("€", PAYLOAD_BYTES_MAX)), envelope());
  const stored = await log.read(STREAM, null, 10);
  assert.equal(
    stored.map(({ type, data }) => [type, data.encoding]),
    [...Array.from({ length: 7 }, () => ["PayloadPartKept", "text"]), ["PayloadKept", "text"]],
  );
  assert.equal(stored[7]?.data.parts, [0, 1, 2, 3, 4, 5, 6]);
});

test("the parts that a crash left of a long body are used again and are no payload by themselves", async () => {
  const log = memoryEventLog();
  const body = BYTES;
  let appends = 0;
  const dying = failingLog(log, () => {
    appends += 1;
    return appends > 1;
  });
  await payloads(dying, randomness)
    .keepFirst(ID, incoming(body), envelope())
    .catch(() => undefined);
  assert.is((await log.last(STREAM))?.type, "PayloadPartKept");
  assert.is(await payloads(log, randomness).read(ID, { revision: 1, commitment: "" }), null);

  assert.is(await payloads(log, randomness).keepFirst(ID, incoming(body), envelope()), null);
  const kept = await payloads(log, randomness).keepAgain(ID, incoming(body), envelope());
  assert.is(kept.revision, 7, "its first part is not kept again");
  assert.ok(intact(await payloads(log, randomness).read(ID, kept))?.body.equals(body));
});

/** A turn of the event loop before each append, so that racers take turns in between. */
const slow = (log: EventLog): EventLog => ({
  ...log,
  async append(stream, expected, events) {
    for (let turns = random.below(4); turns >= 0; turns -= 1) await new Promise((resolve) => setImmediate(resolve));
    return log.append(stream, expected, events);
  },
});

test("of many simultaneous writers of one long body one stores it, and all get that payload", async () => {
  const { log, largestAppend } = measuredLog(memoryEventLog());
  const body = NUL;
  const race = async () => {
    const racer = payloads(slow(log), randomness);
    return (await racer.keepFirst(ID, incoming(body), envelope())) ?? racer.keepAgain(ID, incoming(body), envelope());
  };
  const outcomes = await Promise.all(Array.from({ length: 8 }, race));
  for (const { revision, commitment } of outcomes)
    assert.equal([revision, commitment], [outcomes[0]?.revision, outcomes[0]?.commitment]);
  assert.is(outcomes.filter(({ isReused }) => isReused !== true).length, 1);
  const stored = await log.read(STREAM, null, 100);
  assert.is(stored.filter(({ type }) => type === "PayloadKept").length, 1);
  assert.ok(largestAppend() < APPEND_LIMIT_BYTES);
});

test("different long bodies under one id are each stored whole, although their parts mix", async () => {
  const log = memoryEventLog();
  const bodies = LARGEST.slice(0, 5).map(([, body]) => body);
  const kept = await Promise.all(
    bodies.map(async (body) => {
      const racer = payloads(slow(log), randomness);
      const own = envelope();
      return (await racer.keepFirst(ID, incoming(body), own)) ?? racer.keepAgain(ID, incoming(body), own);
    }),
  );
  const hash = (body: Buffer | undefined) =>
    createHash("sha256")
      .update(body ?? "")
      .digest("hex");
  for (const [index, name] of kept.entries()) {
    const read = intact(await payloads(log, randomness).read(ID, name));
    assert.is(hash(read?.body), hash(bodies[index]));
  }
});

test("a long body that was erased can come again, and nothing erased comes back with it", async () => {
  const log = memoryEventLog();
  const body = BYTES;
  const own = envelope();
  const first = await payloads(log, randomness).keepFirst(ID, incoming(body), own);
  await log.erase(STREAM);
  assert.is(await payloads(log, randomness).keepFirst(ID, incoming(body), envelope()), null);
  const again = await payloads(log, randomness).keepAgain(ID, incoming(body), own);
  assert.ok(again.revision > (first?.revision ?? 0));
  assert.ok(intact(await payloads(log, randomness).read(ID, again))?.body.equals(body));
  assert.ok(first !== null);
  assert.is(await payloads(log, randomness).read(ID, first), null);
});

test("a payload with damaged members does not keep a repeat of its event from being stored", async () => {
  const log = memoryEventLog();
  const body = Buffer.from("{}");
  const first = await payloads(log, randomness).keepFirst(ID, incoming(body), envelope());
  const damaged: EventLog = {
    ...log,
    async read(...args) {
      const page = await log.read(...args);
      return page.map((event) => (event.revision === 0 ? { ...event, data: { cody: "{}" } } : event));
    },
  };
  const keeper = payloads(damaged, randomness);
  assert.ok(first !== null);
  assert.is(await keeper.read(ID, first), "damaged");
  const again = await keeper.keepAgain(ID, incoming(body), envelope());
  assert.ok(again.revision > first.revision);
  assert.ok(intact(await keeper.read(ID, again))?.body.equals(body));
});

test("neither an erased payload nor one of its parts is used again, also before the erasure is done", async () => {
  const log = memoryEventLog();
  const keeper = payloads(log, randomness);
  const first = await keeper.keepFirst(ID, incoming(BYTES), envelope());
  const last = first?.revision ?? -1;
  assert.ok(last > 0, "it has parts");
  const again = await keeper.keepAgain(ID, incoming(BYTES), envelope(), last);
  assert.ok(again.revision > last);
  assert.equal(await keeper.keepAgain(ID, incoming(BYTES), envelope(), last), { ...again, isReused: true });
  const partly = await keeper.keepAgain(ID, incoming(BYTES), envelope(), again.revision - 1);
  assert.ok(partly.revision > again.revision);
  await log.erase(STREAM, again.revision - 1);
  assert.ok(intact(await keeper.read(ID, partly))?.body.equals(BYTES));
});

test("a record commits to body and headers under salts of their own, which the erasable stream holds", async () => {
  const body = Buffer.from("{}");
  const whole = Buffer.from("{} and more");
  for (const given of [incoming(body), { ...incoming(body), whole }, { ...incoming(body), headers: {} }]) {
    const log = memoryEventLog();
    const kept = await payloads(log, randomness).keepFirst(ID, given, envelope());
    const [stored] = await log.read(STREAM, null, 1);
    const saltOf = (name: string) => Buffer.from(String(stored?.data[name] ?? ""), "base64");
    const of = (salt: Buffer, bytes: Buffer, id: string) => {
      assert.is(salt.length, 16);
      return { id, commitment: createHash("sha256").update(salt).update(bytes).digest("hex"), size: bytes.length };
    };
    const ofBody = of(saltOf("salt"), body, `${ID}/0`);
    const { id, commitment, head, headers } = kept ?? {};
    if ("whole" in given) {
      assert.equal(head, ofBody);
      assert.equal([id, commitment], [undefined, of(saltOf("salt"), whole, "").commitment]);
    } else assert.equal([id, commitment, head], [ofBody.id, ofBody.commitment, undefined]);
    const named = Buffer.from(JSON.stringify(given.headers));
    const expected = named.length === 2 ? undefined : of(saltOf("headers_salt"), named, `${ID}/0/headers`);
    assert.equal(headers, expected);
    assert.is.not(saltOf("salt").toString("hex"), saltOf("headers_salt").toString("hex"));
    assert.equal(await payloads(log, randomness).keepAgain(ID, { ...given, headers: { other: "1" } }, envelope()), {
      ...kept,
      isReused: true,
    });
  }
});

test.run();
