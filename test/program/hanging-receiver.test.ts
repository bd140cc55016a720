import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type HookSource, hookSource, signUp } from "../support/client.ts";
import { sendOver } from "../support/flood.ts";
import { fieldOf, readWholeLog } from "../support/log-facts.ts";
import { killPrograms, removeFolder, startProgram, until } from "../support/program.ts";
import { receiver } from "../support/receiver.ts";

const HANGING = 10_000;
const SENDERS = 8;
const GAP_MS = 20;
/** Alone, so that there is something to compare with. */
const ALONE = 300;
/** A machine that does other things makes more of a few ms; whoever waited for the hanging one would wait for seconds. */
const FLOOR_MS = 250;

const test = suite("a receiver that hangs");
test.after.each(killPrograms);

const p95 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(0.95 * (values.length - 1))] ?? Number.POSITIVE_INFINITY;

/** At 50 a second until told to stop; the ids of the events. */
const steadily = (source: HookSource, name: string) => {
  const sent: Promise<string>[] = [];
  const timer = setInterval(() => {
    sent.push(source.send(`${name}-${sent.length}`).then(({ body }) => String(body.event_id)));
  }, GAP_MS);
  return {
    count: () => sent.length,
    async stop() {
      clearInterval(timer);
      return new Set(await Promise.all(sent));
    },
  };
};

test("10,000 events to it while another one gets 50 a second: that one's are delivered as soon as without it", async () => {
  const [program, app, hanging] = [await startProgram(), await receiver(), await receiver()];
  hanging.answer(() => undefined);
  const client = await signUp(program.url);
  const [fast, stuck] = await Promise.all(
    [app, hanging].map(async ({ url }) => {
      const endpoint = await client.make("/v1/endpoints", { name: "app", url, timeout_ms: 10_000 });
      return await hookSource(client, { endpoint_id: endpoint.id });
    }),
  );
  if (fast === undefined || stuck === undefined) throw new Error("two sources were made");

  const before = steadily(fast, "alone");
  await until("some were sent alone", () => before.count() >= ALONE);
  const alone = await before.stop();
  const bodies = Array.from({ length: HANGING }, (_, n) => [`stuck-${n}`, JSON.stringify({ n })] as const);
  const statuses = await sendOver(SENDERS, stuck.url, bodies);
  assert.is(statuses.filter((status) => status === 202).length, HANGING);
  // All of them wait now, or hang: what the other one's events take beside them is not what admitting them costs.
  const during = steadily(fast, "beside");
  await until("some were sent beside them", () => during.count() >= ALONE);
  const beside = await during.stop();
  await until("all of the other one are delivered", () => app.arrivals.length >= alone.size + beside.size);
  assert.ok(new Set(hanging.arrivals.map(({ id }) => id)).size <= 64, "few of them have been tried");
  assert.is(await program.stop(), 0);

  const took = (ids: ReadonlySet<string>, log: Awaited<ReturnType<typeof readWholeLog>>): number[] =>
    log
      .filter(({ type, data }) => type === "EventDelivered" && ids.has(String(data.event_id)))
      .map((event) => Date.parse(String(fieldOf(event, "at"))) - Date.parse(String(fieldOf(event, "admitted_at"))));
  const log = await readWholeLog(program.dir);
  const [without, with_] = [took(alone, log), took(beside, log)];
  assert.equal([without.length, with_.length], [alone.size, beside.size]);
  console.log(`p95 ${p95(without)} ms alone, ${p95(with_)} ms beside ${HANGING} events to a receiver that hangs`);
  assert.ok(p95(with_) <= 2 * Math.max(p95(without), FLOOR_MS), `${p95(with_)} ms, ${p95(without)} ms without`);
  await Promise.all([app.close(), hanging.close()]);
  removeFolder(program.dir);
});

test.run();
