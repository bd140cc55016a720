import { suite } from "uvu";
import * as assert from "uvu/assert";
import { randomness } from "../../infra/crypto/randomness.ts";
import { openLog } from "../../src/engine/open-engines.ts";
import { NO_TRACE, toEvents } from "../../src/streams/envelope.ts";
import { payloads } from "../../src/streams/payloads.ts";
import { signUp } from "../support/client.ts";
import { type EngineSet, type Engines, engineSets, locationsIn } from "../support/engine-sets.ts";
import { deliveryFacts } from "../support/history.ts";
import { type Program, removeFolder, startProgram, until } from "../support/program.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const agoOf = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();
const eventOf = (letter: string): string => `evt_${letter.repeat(32)}`;

/** The durable job in the whole program: it has no clock of the test's, so the log is given an old past. */
const retention = ({ name, open }: EngineSet): void => {
  const test = suite(`retention in the program: ${name}`);
  let engines: Engines;
  let program: Program;
  test.before(async () => {
    engines = await open();
    program = await startProgram({ ...engines.env, SIGNUP_PLAN: "free" });
  });
  test.after(async () => {
    await program.stop();
    removeFolder(program.dir);
    await engines.close();
  });

  const restart = async (): Promise<void> => {
    await program.kill();
    program = await startProgram({ ...engines.env, SIGNUP_PLAN: "free" }, program.dir);
  };

  test("after a crash it erases payloads older than the plan's days, and events are shown without them", async () => {
    const client = await signUp(program.url);
    await program.stop();
    const log = await openLog(locationsIn(engines, program.dir).log);
    const envelope = (days: number, commandId: string) => ({
      commandId,
      account: client.account,
      actor: { kind: "source", id: "src_1" } as const,
      trace: NO_TRACE,
      at: agoOf(days),
    });
    const answered = "payload-idem_old";
    const claim = { digest: "", command_id: "cmd_1", node: "node_1", at: agoOf(8) };
    await log.append(answered, "absent", toEvents([{ type: "RequestClaimed", data: claim }], envelope(8, "claim")));
    const events = [
      [eventOf("a"), 4],
      [eventOf("b"), 2],
    ] as const;
    for (const [id, days] of events) {
      const incoming = { body: Buffer.from("{}"), contentType: "application/json", contentEncoding: "", headers: {} };
      await payloads(log, randomness).keepAgain(id, incoming, envelope(days, `keep ${id}`));
      const blocked = deliveryFacts(id).blocked({ at: agoOf(days), received_at: agoOf(days) });
      await log.append(`delivery-${id}`, "absent", toEvents([blocked], envelope(days, `block ${id}`)));
    }
    await log.close();

    await restart();
    const shown = async (id: string) => (await client.at(program.url).call("GET", `/v1/events/${id}`)).body;
    // Each by itself: that the event is shown does not say that what may go is known.
    await until("the views are there", async () => {
      const { projections } = (await client.at(program.url).call("GET", "/runtime")).body;
      return projections?.every(({ lag_events }: { readonly lag_events: number }) => lag_events === 0);
    });
    assert.is((await shown(eventOf("b"))).status, "blocked");
    // It looks at its start: with the views at hand, at once.
    await restart();
    const old = await until("the payload is erased", async () => {
      const event = await shown(eventOf("a"));
      return event.payload?.erased_at === null ? null : event;
    });
    assert.equal([old.status, old.payload.sha256, old.payload.size], ["blocked", "00", 2]);
    assert.is((await client.at(program.url).call("GET", `/v1/events/${eventOf("a")}/payload`)).status, 404);
    assert.is((await shown(eventOf("b"))).payload.erased_at, null);
    const audit = await until("it is in the audit", async () => {
      const { body } = await client.at(program.url).session("GET", "/v1/audit?type=PayloadErased");
      return body.data.length === 1 ? body.data[0] : null;
    });
    assert.equal(audit.actor, { kind: "system", id: "retention", name: null });
    assert.is(audit.data.reason, "retention: 3 days of the free plan");
    // It is recorded first, and a log that is busy is asked again by whoever follows.
    await until("what was kept is gone", async () => {
      const reading = await openLog(locationsIn(engines, program.dir).log, { readOnly: true });
      const left = await reading.read(`payload-${eventOf("a")}`, null, 1);
      await reading.close();
      return left.length === 0;
    });
    await program.stop();
    const after = await openLog(locationsIn(engines, program.dir).log, { readOnly: true });
    assert.equal(await after.read(`payload-${eventOf("a")}`, null, 10), []);
    assert.is((await after.read(`payload-${eventOf("b")}`, null, 10)).length, 1);
    assert.is(await after.last(answered), null);
    await after.close();
  });

  test.run();
};

for (const set of engineSets()) retention(set);
