import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Json } from "../../../domain/json.ts";
import type { EventLog, Position, RecordedEvent } from "../../../domain/ports/event-log.ts";
import { sqliteEventLog } from "../../../infra/sqlite/event-log.ts";
import { PROJECTIONS } from "../../../projections/all.ts";
import { openLog } from "../../../src/engine/open-engines.ts";
import { copyLog } from "../../../src/log-copy/copy.ts";
import { chainOf } from "../../../src/log-copy/records.ts";
import { broadHistory } from "../../support/broad-history.ts";
import { startEventStoreDouble } from "../../support/eventstore-double/server.ts";
import { deliveryFacts, type History } from "../../support/history.ts";
import { type Projected, projected } from "../../support/projected.ts";

/** The number that is promised takes some minutes: CI copies it. */
const EVENTS = process.env.CI === undefined && process.env.CRASH_ROUNDS === undefined ? 2_000 : 100_000;
/** Appends of one turn, which SQLite's writer puts into one transaction: as it copies. */
const TOGETHER = 500;
const PAGE = 500;

const test = suite<{ directory: string }>("moving to EventStoreDB and back");

test.before.each((context) => {
  context.directory = mkdtempSync(join(tmpdir(), "moving-"));
});
test.after.each(({ directory }) => rmSync(directory, { recursive: true, force: true }));

/** What a service records about one event, most often delivered at once. */
const deliver = (log: History, n: number): void => {
  const id = `evt_many_${n}`;
  const facts = deliveryFacts(id, `end_${(n % 3) + 1}`);
  const payload = { event_id: id, salt: "", content_type: "text/plain", encoding: "text", headers: {} };
  log.add(`payload-${id}`, { type: "PayloadKept", data: { ...payload, body: `é\u0000 "${n}"` } });
  log.add("ledger-pol_1-2026-03-01", { type: "Reserved", data: { entries: [{ event: id, cost: 20_000, at: n }] } });
  log.add(`delivery-${id}`, facts.admitted());
  log.add(`delivery-${id}`, facts.started(1, 1));
  if (n % 7 === 0) log.add(`delivery-${id}`, facts.attemptFailed(1, 2, null));
  else log.add(`delivery-${id}`, facts.succeeded(1, 2));
  log.add(`delivery-${id}`, n % 7 === 0 ? facts.failed(2) : facts.delivered(2));
};

const appendAll = async (log: EventLog, events: readonly RecordedEvent[]): Promise<void> => {
  for (let from = 0; from < events.length; from += TOGETHER) {
    await Promise.all(
      events
        .slice(from, from + TOGETHER)
        .map(({ stream, revision, id, type, data, meta }) =>
          log.append(stream, revision === 0 ? "absent" : revision - 1, [{ id, type, data, meta }]),
        ),
    );
  }
};

/** An embedded log of at least so many events; of some the payload is erased, and of some of these an answer was kept since. */
const written = async (log: EventLog, events: number): Promise<void> => {
  const history = broadHistory();
  let many = 0;
  for (; history.events.length < events; many += 1) deliver(history, many);
  await appendAll(log, history.events);
  const added = history.events.length;
  for (let n = 0; n < many; n += 50) {
    const id = `evt_many_${n}`;
    history.add(`delivery-${id}`, deliveryFacts(id).erased(3));
    await log.erase(`payload-${id}`);
    if (n % 100 === 0) history.add(`payload-${id}`, { type: "ResponseKept", data: { event_id: id } });
  }
  await appendAll(log, history.events.slice(added));
};

/** Positions are the engine's own: in their place stands which record of the log it is. */
const numbered = (value: Json, numbers: ReadonlyMap<string, number>): Json => {
  if (typeof value === "string") return numbers.get(value) ?? value;
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((item) => numbered(item, numbers));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, numbered(member, numbers)]));
};

/** Every document of every view, folded from the log. */
const viewsOf = async (log: EventLog): Promise<Readonly<Record<string, Json>>> => {
  const views = new Map<string, Projected>(PROJECTIONS.map((it) => [it.schema.name, projected(it)]));
  const numbers = new Map<string, number>();
  for (let after: Position | null = null; ; ) {
    const page: readonly RecordedEvent[] = await log.readAll(after, PAGE, "records");
    for (const { position } of page) {
      numbers.set(position, numbers.size);
      after = position;
    }
    if (page.length === 0) break;
    for (const view of views.values()) view.apply(page);
  }
  return Object.fromEntries([...views].map(([name, view]) => [name, numbered(view.all(), numbers)]));
};

test(`${EVENTS} events are the same in EventStoreDB and back again, and fold to the same documents`, async ({
  directory,
}) => {
  const double = await startEventStoreDouble();
  const source = await sqliteEventLog({ path: join(directory, "from.db") });
  await written(source, EVENTS);
  const server = await openLog({ engine: "eventstoredb", url: double.url });
  const back = await sqliteEventLog({ path: join(directory, "back.db") });

  const there = await copyLog(source, server, { inFlight: TOGETHER });
  const again = await copyLog(server, back, { inFlight: TOGETHER });
  assert.ok(there.copied >= EVENTS * 0.98, `${there.copied} copied`);
  assert.is(again.copied, there.copied);
  const chain = await chainOf(source);
  assert.equal([await chainOf(server), await chainOf(back)], [chain, chain]);

  const views = await viewsOf(source);
  const [onServer, backAgain] = [await viewsOf(server), await viewsOf(back)];
  for (const [name, documents] of Object.entries(views)) {
    assert.ok(Object.keys(documents as object).length > 0, name);
    assert.equal(onServer[name], documents, name);
    assert.equal(backAgain[name], documents, name);
  }
  // Erased without a trace: a repeat must not bring it back.
  const kept = { id: "00000000-0000-8000-a000-ffffffffffff", type: "PayloadKept", data: {} };
  const [first] = await source.readAll(null, 1);
  assert.ok(first !== undefined);
  for (const log of [server, back]) {
    const appended = await log.append("payload-evt_many_50", "absent", [{ ...kept, meta: first.meta }]);
    assert.is(appended.outcome, "conflict");
  }
  await Promise.all([source.close(), back.close(), server.close()]);
  await double.stop();
});

test.run();
