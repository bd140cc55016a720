import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toHex } from "../../../../domain/evidence/bytes.ts";
import { type KeyLink, keysOfRecord, leafBytes, leafOf } from "../../../../domain/evidence/leaf.ts";
import { leafHash } from "../../../../domain/evidence/merkle.ts";
import type { EventLog, RecordedEvent } from "../../../../domain/ports/event-log.ts";
import { randomness } from "../../../../infra/crypto/randomness.ts";
import { sha256 } from "../../../../infra/crypto/sha256.ts";
import { EvidenceDamaged } from "../../../../infra/evidence-errors.ts";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../../infra/memory/view-store.ts";
import { audit } from "../../../../projections/audit.ts";
import type { LeafReads } from "../../../../src/audit/record-leaves.ts";
import { personalData } from "../../../../src/erasure/personal-data.ts";
import { encodeCursor } from "../../../../src/http/listing.ts";
import type { Call } from "../../../../src/http/route.ts";
import { auditRoutes } from "../../../../src/routes/audit/audit.ts";
import { caller } from "../../../support/call.ts";
import { foldedLeaves } from "../../../support/evidence-log.ts";
import { appendTo, at, history } from "../../../support/history.ts";
import { folded } from "../../../support/projected.ts";

const test = suite("GET /v1/audit");
const PRINCIPAL = { kind: "key", account: "acc_1", id: "key_1", role: "auditor" } as const;

const NAMES = { mem_1: { kind: "member", name: "ana@a.example", removed: false } } as const;

type Listed = {
  readonly index: number;
  readonly stream: string;
  readonly leaf_hash: string | null;
  readonly sealed: boolean;
  readonly witnessed: boolean;
  readonly data: unknown;
};

const COVERED = { sealed: 3, witnessed: 1 };

const world = async (
  events: readonly RecordedEvent[],
  evidenceOf: (log: EventLog) => Promise<LeafReads | null> = (log) => foldedLeaves(log, COVERED),
) => {
  const log = memoryEventLog();
  await appendTo(log, events);
  const views = memoryViewStore([audit.schema]);
  const documents = new Map(Object.entries(folded(audit, events, 50).all()));
  const last = events.at(-1);
  if (last !== undefined) await views.commit(audit.schema.name, null, last.position, { documents });
  const personal = personalData(log, randomness);
  const call = caller(
    auditRoutes({
      ...{ views, log, personal, evidence: await evidenceOf(log) },
      namesOf: async () => NAMES,
      titlesOf: async () => new Map([["evt_1", "order.paid"]]),
    }),
  );
  const get = (query: Call["query"]) => call("GET", "/v1/audit", { principal: PRINCIPAL, query });
  const all = async (query: Call["query"]): Promise<readonly Listed[]> => {
    const found: Listed[] = [];
    for (let cursor: unknown; ; ) {
      const { body } = await get({ ...query, ...(cursor === undefined ? {} : { cursor }) });
      found.push(...(body.data as readonly Listed[]));
      if (body.next_cursor === null) return found;
      cursor = body.next_cursor;
    }
  };
  return { get, all };
};

const sample = () => {
  const log = history();
  const member = { actor: { kind: "member", id: "mem_1" } } as const;
  log.add("account-acc_1", { type: "AccountOpened", data: {} }, member);
  log.add("account-acc_2", { type: "AccountOpened", data: {} }, { account: "acc_2" });
  log.add("source-src_1", { type: "SourceRegistered", data: { secret: "ciphertext" } }, member);
  log.add("payload-evt_1", { type: "PayloadKept", data: {} });
  log.add("delivery-evt_1", { type: "EventAdmitted", data: {} });
  log.add("delivery-evt_1", { type: "AttemptStarted", data: {} });
  log.add("endpoint-end_1", { type: "EndpointDisabled", data: {} }, member);
  return log.events;
};

test("records come newest first, each with what was recorded, the hash of its leaf, and what covers it", async () => {
  const events = sample();
  const { get } = await world(events);
  const { body } = await get({});
  const records = body.data as readonly Listed[];
  assert.equal(
    records.map(({ index, stream }) => [index, stream]),
    [
      [4, "endpoint-end_1"],
      [3, "delivery-evt_1"],
      [2, "delivery-evt_1"],
      [1, "source-src_1"],
      [0, "account-acc_1"],
    ],
  );
  const registered = events[2];
  assert.ok(registered);
  const opened = new Set(events[0] === undefined ? [] : keysOfRecord(events[0]));
  const link = (key: string): KeyLink => (opened.has(key) ? [1, 0] : [0, null]);
  const keys = Object.fromEntries(keysOfRecord(registered).map((key) => [key, link(key)]));
  const leaf = leafOf(sha256, registered, { index: 1, keys });
  assert.is(records[3]?.leaf_hash, toHex(leafHash(sha256, leafBytes(leaf))));
  assert.equal(
    records.map(({ sealed, witnessed }) => [sealed, witnessed]),
    [
      [false, false],
      [false, false],
      [true, false],
      [true, false],
      [true, true],
    ],
  );
  assert.equal(records[3]?.data, { secret: "[sealed]" });
  const { actor, subject_name } = records[3] as unknown as { actor: unknown; subject_name: unknown };
  assert.equal([actor, subject_name], [{ kind: "member", id: "mem_1", name: "ana@a.example" }, null]);
  assert.is((records[1] as unknown as { subject_name: unknown }).subject_name, "order.paid");
});

test("nothing is known of the leaves on a node that folds none, or while they are folded anew", async () => {
  const damaged = async (): Promise<never> => {
    throw new EvidenceDamaged("a tile is too short");
  };
  for (const evidence of [
    null,
    { folded: damaged, links: damaged, covered: damaged, damaged: async () => undefined },
  ]) {
    const { all } = await world(sample(), async () => evidence);
    const states = (await all({})).map(({ leaf_hash, sealed, witnessed }) => [leaf_hash, sealed, witnessed]);
    assert.equal(states, Array(5).fill([null, false, false]));
  }
});

test("each filter, alone and together, in both orders and over pages", async () => {
  const { all } = await world(sample());
  const indexes = async (query: Call["query"]) => (await all(query)).map(({ index }) => index);
  assert.equal(await indexes({ order: "asc", limit: 2 }), [0, 1, 2, 3, 4]);
  assert.equal(await indexes({ type: "EventAdmitted" }), [2]);
  assert.equal(await indexes({ actor: "mem_1", limit: 1 }), [4, 1, 0]);
  assert.equal(await indexes({ subject: "evt_1" }), [3, 2]);
  assert.equal(await indexes({ stream: "evt_1", order: "asc" }), [2, 3]);
  assert.equal(await indexes({ stream: "delivery-evt_1", type: "AttemptStarted" }), [3]);
  assert.equal(await indexes({ stream: "source-evt_1" }), []);
  assert.equal(await indexes({ actor: "mem_1", type: "SourceRegistered" }), [1]);
  assert.equal(await indexes({ from: at(3), to: at(6), order: "asc" }), [1, 2]);
});

test("a subject's records are found in all its streams, over many chunks, from both ends and within bounds", async () => {
  const log = history();
  for (let i = 0; i < 700; i += 1) {
    const stream = i % 3 === 0 ? "account-acc_1" : i % 3 === 1 ? "ledger-acc_1" : "source-src_1";
    log.add(stream, { type: i % 2 === 0 ? "Even" : "Odd", data: {} }, { at: at(i) });
    if (i % 7 === 0) log.add("account-acc_2", { type: "Even", data: {} }, { account: "acc_2", at: at(i) });
  }
  const { all } = await world(log.events);
  const expected = Array.from({ length: 700 }, (_, i) => i).filter((i) => i % 3 !== 2);
  const indexes = async (query: Call["query"]) => (await all({ subject: "acc_1", ...query })).map(({ index }) => index);
  assert.equal(await indexes({ order: "asc" }), expected);
  assert.equal(await indexes({ limit: 37 }), expected.toReversed());
  const within = { from: at(101), to: at(333), type: "Odd" };
  const odd = expected.filter((i) => i >= 101 && i < 333 && i % 2 === 1);
  assert.equal(await indexes({ ...within, order: "asc", limit: 9 }), odd);
  assert.equal(await indexes(within), odd.toReversed());
});

test("what cannot be the name of a stream has no records", async () => {
  const { get } = await world(sample());
  for (const query of [
    { stream: "delivery-" },
    { subject: "a\nb" },
    { stream: "x".repeat(512) },
    { subject: "\ud800" },
  ])
    assert.equal((await get(query)).body.data, [], JSON.stringify(query));
});

test("another account's records are never found, whatever is asked for", async () => {
  const { all } = await world(sample());
  for (const query of [{ subject: "acc_2" }, { stream: "account-acc_2" }, {}])
    assert.not.ok((await all(query)).some(({ stream }) => stream === "account-acc_2"));
});

test("an account without records has an empty list; what cannot be read is refused", async () => {
  const { get } = await world([]);
  assert.equal((await get({})).body, { data: [], next_cursor: null });
  for (const query of [{ from: "yesterday" }, { to: "2026-01-01" }, { cursor: "x" }, { limit: 0 }, { limit: 101 }])
    assert.is((await get(query)).outcome, "invalid-request", JSON.stringify(query));
});

test("a cursor that is of no record of the list is followed by none, and by no mistake of the program", async () => {
  const { get } = await world(sample());
  for (const value of [2.5, 5e-324, 1e300, "2"])
    for (const order of ["asc", "desc"])
      for (const query of [{}, { subject: "evt_1" }, { type: "EventAdmitted", from: at(1) }]) {
        const { outcome, body } = await get({ ...query, order, cursor: encodeCursor({ value, id: "x" }) });
        assert.equal([outcome, body.data], [200, []], `${value} ${order} ${JSON.stringify(query)}`);
      }
});

test("until the end of time is until then, also where clocks differed: behind it a year has five digits", async () => {
  const log = history();
  for (const second of [5, 3, 7]) log.add("account-acc_1", { type: "X", data: {} }, { at: at(second) });
  const { all } = await world(log.events);
  const indexes = async (query: Call["query"]) => (await all(query)).map(({ index }) => index);
  for (const to of ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59-23:59"])
    assert.equal(await indexes({ to, order: "asc" }), [0, 1, 2], to);
  for (const from of ["0000-01-01T00:00:00Z", "0000-01-01T00:00:00+23:59"])
    assert.equal(await indexes({ from, order: "asc" }), [0, 1, 2], from);
});

test("a range of time finds exactly its records, however the clocks ran", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 30 }),
      fc.integer({ min: 0, max: 40 }),
      fc.integer({ min: 0, max: 40 }),
      fc.constantFrom("asc", "desc"),
      fc.constantFrom({}, { type: "X" }),
      async (seconds, from, to, order, more) => {
        const log = history();
        for (const second of seconds) log.add("account-acc_1", { type: "X", data: {} }, { at: at(second) });
        const { all } = await world(log.events);
        const found = await all({ from: at(from), to: at(to), order, limit: 7, ...more });
        const expected = seconds.flatMap((second, index) => (second >= from && second < to ? [index] : []));
        assert.equal(
          found.map(({ index }) => index),
          order === "asc" ? expected : expected.reverse(),
        );
      },
    ),
    { numRuns: 60 },
  );
});

test.run();
