import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { secretBox } from "../../../infra/crypto/secret-box.ts";
import { openLog } from "../../../src/engine/open-engines.ts";
import { Idempotency } from "../../../src/http/idempotency.ts";
import type { SentAnswer } from "../../../src/http/sent-answer.ts";
import { copyLog } from "../../../src/log-copy/copy.ts";
import { expiredAnswers } from "../../../src/retention/expired-answers.ts";
import { type EngineSet, type Engines, engineSets, locationsIn } from "../../support/engine-sets.ts";
import { START } from "../../support/history.ts";
import { testClock } from "../../support/http-app.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const go = () => false;
const fail = (error: unknown): void => assert.unreachable(String(error));

const answersOf = ({ name, open }: EngineSet): void => {
  const test = suite(`answers kept for repeats: ${name}`);
  let engines: Engines;
  let dir: string;
  let log: EventLog;
  // The set's log is one for all of its tests: each begins where the time of the one before ended.
  const clock = testClock(START);
  test.before(async () => {
    engines = await open();
    dir = temporaryFolder();
    log = await openLog(locationsIn(engines, dir).log);
  });
  test.after(async () => {
    await log.close();
    await engines.close();
    removeFolder(dir);
  });

  let runs = 0;
  const call = async (key: string, on = log, clockOfNode = clock): Promise<unknown> => {
    const answers = new Idempotency({
      log: on,
      box: secretBox(Buffer.alloc(32, 7), randomness),
      clock: clockOfNode,
      randomness,
      digestKey: Buffer.alloc(32, 8),
      node: "node_1",
      othersAreGone: false,
      onLost: (error) => assert.unreachable(String(error)),
    });
    const envelope = {
      commandId: "",
      account: "acc_a",
      actor: { kind: "key", id: "key_1" },
      trace: { trace_id: "1".repeat(32), span_id: "2".repeat(16) },
      at: new Date(clockOfNode.now()).toISOString(),
    } as const;
    const work = async (): Promise<SentAnswer> => {
      runs += 1;
      return { status: 201, headers: {}, body: `run ${runs}` };
    };
    const allow = async () => "counted" as const;
    const answered = await answers.run({ key, method: "POST", url: "/", body: {}, envelope }, allow, work);
    if (answered === null) return null;
    return "body" in answered ? answered.body : answered.problem;
  };
  const idemStreams = async (): Promise<number> => {
    const events = await log.readAll(null, 1_000);
    return new Set(events.filter(({ stream }) => stream.startsWith("payload-idem_")).map(({ stream }) => stream)).size;
  };

  test("a key that is claimed again while its old answer is erased keeps its claim: the call runs once", async () => {
    await call("raced");
    clock.advance(7 * DAY_MS);
    let claimed: unknown;
    const racing: EventLog = {
      ...log,
      async erase(stream, upTo) {
        claimed ??= await call("raced");
        await log.erase(stream, upTo);
      },
    };
    assert.ok((await expiredAnswers(racing, clock, fail).sweep(go)) > 0);
    assert.type(claimed, "string");
    assert.is(await call("raced"), claimed);
    clock.advance(7 * DAY_MS);
    await expiredAnswers(log, clock, fail).sweep(go);
  });

  test("answers are erased after seven days, and their keys can be used anew", async () => {
    const first = await call("a");
    clock.advance(4 * DAY_MS);
    const second = await call("b");
    clock.advance(3 * DAY_MS - 1);
    const sweeper = expiredAnswers(log, clock, fail);
    assert.is(await sweeper.sweep(go), 0);
    assert.equal([await call("a"), await call("b")], [first, second]);
    clock.advance(1);
    assert.is(await sweeper.sweep(go), 1);
    assert.is(await idemStreams(), 1);
    assert.is(await call("b"), second);
    const again = await call("a");
    assert.not.equal(again, first);
    assert.is(await call("a"), again, "and is kept anew");
  });

  test("a key that was claimed again stays for its own seven days", async () => {
    clock.advance(30 * DAY_MS);
    await expiredAnswers(log, clock, fail).sweep(go);
    assert.is(await idemStreams(), 0);
    await call("c");
    clock.advance(7 * DAY_MS);
    const again = await call("c");
    assert.is(await expiredAnswers(log, clock, fail).sweep(go), 0);
    assert.is(await call("c"), again);
    clock.advance(7 * DAY_MS);
    assert.is(await expiredAnswers(log, clock, fail).sweep(go), 1);
  });

  test("an answer of a node whose clock was years ahead keeps no later one, and is erased with those of its time", async () => {
    clock.advance(30 * DAY_MS);
    await expiredAnswers(log, clock, fail).sweep(go);
    const ahead = testClock(clock.now() + 3_650 * DAY_MS);
    for (let n = 0; n < 130; n += 1) await call(`ahead ${n}`, log, ahead);
    const sweeper = expiredAnswers(log, clock, fail);
    clock.advance(7 * DAY_MS);
    assert.is(await sweeper.sweep(go), 0, "when they were written nobody can tell");
    await call("right");
    clock.advance(7 * DAY_MS - 1);
    assert.is(await sweeper.sweep(go), 0);
    await call("later");
    clock.advance(1);
    assert.is(await sweeper.sweep(go), 131);
    assert.is(await idemStreams(), 1, "the later one stays");
    clock.advance(7 * DAY_MS);
    assert.is(await sweeper.sweep(go), 1);
  });

  test("a sweep of more answers than a page continues after a restart, in a copied log as well", async () => {
    for (let n = 0; n < 130; n += 1) await call(`many ${n}`);
    clock.advance(7 * DAY_MS);
    assert.is(await expiredAnswers(log, clock, fail).sweep(go), 130);
    assert.is((await log.last("checkpoint-idempotency"))?.data.log, await log.identity());
    await call("last");
    const copy = await openLog({ engine: "sqlite", path: `${dir}/copy.db` });
    await copyLog(log, copy, { inFlight: 1 });
    clock.advance(7 * DAY_MS);
    assert.is(await expiredAnswers(log, clock, fail).sweep(go), 1);
    assert.is(await expiredAnswers(copy, clock, fail).sweep(go), 1);
    const there = await call("last", copy);
    assert.is(await call("last", copy), there);
    await copy.close();
  });

  test.run();
};

for (const set of engineSets()) answersOf(set);
