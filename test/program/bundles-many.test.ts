import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import { type HookSource, hookSource } from "../support/client.ts";
import { fieldOf, readWholeLog } from "../support/log-facts.ts";
import { create, type Orders, orders, ordersWorld } from "../support/orders.ts";
import { killPrograms, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";

const test = suite("many bundles at once");
/** In full where everything has to hold. */
const BUNDLES = process.env.CI === undefined && process.env.CRASH_ROUNDS === undefined ? 200 : 1_000;
const STEPS = 5;
/** Agents that ask at the same time. */
const ASKING = 50;
/** Between two ordinary events. */
const PACE_MS = 20;
const BEFORE = 100;
const ENDED_MS = 120_000;
/** Of the time that all bundles take: half of what waited its turn behind them would need half of it, some nearly all. */
const SHARE_MAX = 0.2;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends one ordinary event after the other until told otherwise; answers how many. */
const sending = async (source: HookSource, name: string, goesOn: (sent: number) => boolean): Promise<number> => {
  const replies: Promise<number>[] = [];
  while (goesOn(replies.length)) {
    replies.push(source.send(`${name}-${replies.length}`).then(({ status }) => status));
    await pause(PACE_MS);
  }
  assert.equal([...new Set(await Promise.all(replies))], [202]);
  return replies.length;
};

const timeOf = (event: RecordedEvent | undefined): number => Date.parse(String(event && fieldOf(event, "at")));

/** Admitted → delivered, in ms, of the ordinary events whose delivery ids begin so; the shortest first. */
const tookOf = (log: readonly RecordedEvent[], name: string): readonly number[] => {
  const delivered = new Map(
    log.filter(({ type }) => type === "EventDelivered").map((event) => [fieldOf(event, "event_id"), event]),
  );
  return log
    .filter((event) => event.type === "EventAdmitted" && String(fieldOf(event, "delivery_key")).includes(`${name}-`))
    .map((event) => timeOf(delivered.get(fieldOf(event, "event_id"))) - timeOf(event))
    .sort((a, b) => a - b);
};

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

let dir: string;
let shop: Orders;
let app: Receiver;

test.before(async () => {
  dir = temporaryFolder();
  [shop, app] = await Promise.all([orders(), receiver()]);
});
test.after(async () => {
  killPrograms();
  await Promise.all([shop.target.close(), app.close()]);
  removeFolder(dir);
});

test(`${BUNDLES} bundles of ${STEPS} steps at once all come to their end, and ordinary events do not wait for them`, async () => {
  const program = await startProgram({}, dir);
  const { client, agent } = await ordersWorld(program.url, shop.target, { endpoint: { timeout_ms: 30_000 } });
  const { id: endpointId } = await client.make("/v1/endpoints", { name: "ordinary", url: app.url });
  const source = await hookSource(client, { endpoint_id: endpointId });
  const before = await sending(source, "before", (sent) => sent < BEFORE);

  // The first step hangs until all are asked for, so that all of them run at once.
  const ask = async (n: number): Promise<void> => {
    const steps = Array.from({ length: STEPS }, (_, s) => create(`${n}/${s}`, s === 0 ? { do: "hang" } : {}));
    const { status, body } = await agent.bundle(`key ${n}`, steps, { wait_ms: 0 });
    assert.equal([status, body.status], [202, "running"]);
  };
  const left = Array.from({ length: BUNDLES }, (_, n) => n);
  const lane = async (): Promise<void> => {
    for (let n = left.shift(); n !== undefined; n = left.shift()) await ask(n);
  };
  await Promise.all(Array.from({ length: ASKING }, lane));
  const letGo = setInterval(shop.letGo, 1);
  let isOver = false;
  const [during] = await Promise.all([
    sending(source, "during", () => !isOver),
    until("all are done", () => shop.effects.size === BUNDLES * STEPS, ENDED_MS).finally(() => {
      isOver = true;
    }),
  ]);
  clearInterval(letGo);
  await until("the last one is written down", async () => {
    const { body } = await client.call("GET", "/v1/bundles?status=running&limit=1");
    return body.data.length === 0;
  });
  await until("all others are delivered", () => app.arrivals.length === before + during);
  assert.is(await program.stop(), 0, program.output());

  const log = await readWholeLog(dir);
  assert.is(log.filter(({ type }) => type === "BundleCommitted").length, BUNDLES);
  assert.is(shop.target.arrivals.length, BUNDLES * STEPS);
  const admitted = log.filter(({ type }) => type === "BundleAdmitted");
  const committed = log.filter(({ type }) => type === "BundleCommitted");
  assert.ok(timeOf(admitted.at(-1)) <= timeOf(committed[0]), "all of them ran at once");
  const tookMs = timeOf(committed.at(-1)) - timeOf(admitted.at(-1));
  const [alone, beside] = [tookOf(log, "before"), tookOf(log, "during")];
  assert.equal([alone.length, beside.length], [before, during]);
  console.log(
    `all bundles ${tookMs} ms; ordinary events alone ${at(alone, 0.5)} and ${at(alone, 0.95)} ms (median, 95 %), ` +
      `beside the bundles ${at(beside, 0.5)} and ${at(beside, 0.95)} ms`,
  );
  assert.ok(at(beside, 0.5) < tookMs * SHARE_MAX, "most of them");
  assert.ok(at(beside, 0.95) < tookMs * 3 * SHARE_MAX, "nearly all of them");
});

test.run();
