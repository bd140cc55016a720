import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Client, signUp } from "../support/client.ts";
import { type EngineSet, type Engines, engineSets, locationsIn } from "../support/engine-sets.ts";
import { fieldOf, fullestWindow, ledgerOf, readLogAt } from "../support/log-facts.ts";
import {
  admittedAs,
  type Hook,
  hookOf,
  type PersistentSender,
  persistentSender,
} from "../support/persistent-sender.ts";
import {
  killPrograms,
  type Program,
  removeFolder,
  spawnProgram,
  startProgram,
  temporaryFolder,
  until,
} from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";
import { seededRandom } from "../support/seeded-random.ts";

/**
 * kill -9 under load, round after round. `CRASH_ROUNDS` says how many; `CRASH_SEED` repeats the moments of a failed run.
 */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 5);
const SEED = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);
/** A data directory lives for at most so many rounds; the bill of its one account is compared with the log. */
const ROUNDS_A_FOLDER_MAX = 12;
/** Webhooks under way at once. */
const LANES = 24;
const START_KILL_AFTER_MS = 1_200;
const RATE = 40;
const BUDGET = { budget_eur_day: 1, cost: { fixed_eur: 0.07 } };
/** floor(1 / 0.07) */
const AFFORDABLE = 14;
const MINUTE_MS = 60_000;
/** What the engines make of a process that died. */
type Course = {
  readonly rounds: number;
  /** After the first webhook of a round: by then the ceilings are being reached, or have been, and deliveries are under way. */
  readonly killAfterMs: number;
  /** What was in flight is delivered again within this of the start. */
  readonly redeliveredMs: number;
  /** The places of requests that died are free so long after the kill, at the latest. */
  readonly placesFreeMs: number;
  /** Until an attempt has failed. On a busy machine an answer may take seconds, and six failures would end the event. */
  readonly timeoutMs: number;
};
/** One process: whatever it held is nobody's when the next one starts. */
const ALONE: Course = { rounds: ROUNDS, killAfterMs: 700, redeliveredMs: 30_000, placesFreeMs: 0, timeoutMs: 10_000 };
/** A tenth of the rounds, as each is mostly waiting. */
const AMONG_NODES: Course = {
  rounds: Math.max(2, Math.round(ROUNDS / 10)),
  killAfterMs: 4_000,
  redeliveredMs: 60_000,
  placesFreeMs: 31_000,
  // What was in flight waits for the end of its lease, 15 s later.
  timeoutMs: 3_000,
};

const random = seededRandom(SEED);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

type Hooks = { readonly plain: Hook; readonly rated: Hook; readonly thrifty: Hook };
type Ceilings = {
  readonly rated: string;
  readonly thrifty: string;
  /** Ledgers of these policies were full after the kill, which is when places of dead requests are searched for. */
  readonly full: Set<string>;
};

/** One data directory and its engines, its program and its account, and all that was ever sent to it. */
type World = {
  readonly course: Course;
  readonly engines: Engines;
  readonly dir: string;
  program: Program;
  client: Client;
  readonly target: Receiver;
  readonly endpointId: string;
  readonly plain: Hook;
  readonly sender: PersistentSender;
  readonly ceilings: Ceilings[];
  /** Of each arrival, whether its answer went out: webhook-ids whose last call was cut off. */
  readonly cutOff: Set<string>;
};

/** Killed before it is ready, at a moment of which nobody knows what it was doing. */
const killWhileStarting = async ({ env }: Engines, dir: string): Promise<void> => {
  const child = spawnProgram(env, dir);
  const ended = new Promise((resolve) => child.once("close", resolve));
  await pause(random.below(START_KILL_AFTER_MS));
  child.kill("SIGKILL");
  await ended;
};

/** Answers after up to 30 ms; one call in thirty is never answered, so that it is under way when the program dies. */
const answerUnevenly = ({ target, cutOff }: Pick<World, "target" | "cutOff">, hangs: boolean): void =>
  target.answer(({ id }, response) => {
    cutOff.add(id);
    response.on("finish", () => cutOff.delete(id));
    if (hangs && random.below(30) === 0) return;
    setTimeout(() => response.end("ok"), random.below(30));
  });

const world = async (engines: Engines, course: Course): Promise<World> => {
  const dir = temporaryFolder();
  if (random.below(2) === 0) await killWhileStarting(engines, dir);
  const [program, target] = await Promise.all([startProgram(engines.env, dir), receiver()]);
  const client = await signUp(program.url);
  const settings = { timeout_ms: course.timeoutMs, concurrency: 50, retry_schedule_s: [1, 1, 1, 1, 1] };
  const endpoint = { name: "app", url: target.url, ...settings };
  const { id: endpointId } = await client.make("/v1/endpoints", endpoint);
  const plain = await hookOf(client, "plain", { endpoint_id: endpointId });
  const sender = persistentSender();
  const about = { course, engines, dir, program, client, target };
  return { ...about, endpointId, plain, sender, ceilings: [], cutOff: new Set() };
};

/** Ceilings of the round's own, so that the kill comes while they are being reached. */
const freshCeilings = async ({ client, plain, endpointId, ceilings }: World): Promise<Hooks> => {
  const { id: rated } = await client.make("/v1/policies", { name: "rated", rate_per_minute: RATE });
  const { id: thrifty } = await client.make("/v1/policies", { name: "thrifty", ...BUDGET });
  ceilings.push({ rated, thrifty, full: new Set([thrifty]) });
  const to = { endpoint_id: endpointId };
  return {
    plain,
    rated: await hookOf(client, `rated-${ceilings.length}`, { policy_id: rated, ...to }),
    thrifty: await hookOf(client, `thrifty-${ceilings.length}`, { policy_id: thrifty, ...to }),
  };
};

const loadUntilKilled = async ({ course, program, sender }: World, hooks: Hooks): Promise<void> => {
  const kinds = [hooks.plain, hooks.plain, hooks.rated, hooks.thrifty];
  const lane = async (index: number): Promise<void> => {
    for (;;) {
      const sending = sender.next(kinds[index % kinds.length] ?? hooks.plain);
      // Every fifth is sent three times at once, as impatient senders do.
      const times = random.below(5) === 0 ? 3 : 1;
      const answered = await Promise.all(Array.from({ length: times }, () => sender.send(program.url, sending)));
      if (answered.includes(false)) return;
    }
  };
  const lanes = Promise.all(Array.from({ length: LANES }, (_, index) => lane(index)));
  // More of the kills come early, while the ceilings are not yet reached.
  await pause(course.killAfterMs * random.next() ** 2);
  await program.kill();
  await lanes;
};

const retryUnanswered = async ({ program, sender }: World): Promise<void> => {
  await until("everything is answered", async () => {
    await Promise.all(sender.unanswered().map((sending) => sender.send(program.url, sending)));
    return sender.unanswered().length === 0;
  });
};

const admitted = (sender: PersistentSender, hook?: Hook): string[] => {
  const of = hook === undefined ? sender.sendings : sender.sendings.filter((sending) => sending.hook === hook);
  return of.map(admittedAs).filter((id) => id !== null);
};

/** Tries to go above a ceiling after the crash: the places of requests that died are free, and no more than that. */
const topUp = async ({ program, sender }: World, hook: Hook, ceiling: number): Promise<void> => {
  const more = Array.from({ length: ceiling + 3 }, () => sender.next(hook));
  await Promise.all(more.map((sending) => sender.send(program.url, sending)));
  await until("all is answered", async () => {
    const left = more.filter(({ answers }) => answers.length === 0);
    await Promise.all(left.map((sending) => sender.send(program.url, sending)));
    return left.length === 0;
  });
};

const checkAnswers = ({ sender }: World): void => {
  for (const { id, answers } of sender.sendings) {
    const odd = answers.find(
      ({ status, code }) => status !== 202 && status !== 200 && !(status === 429 && code !== ""),
    );
    assert.is(odd, undefined, `${id} was answered ${JSON.stringify(odd)}`);
    const events = new Set(answers.map(({ eventId }) => eventId));
    assert.is(events.size, 1, `${id} is one event`);
  }
  const events = new Set(sender.sendings.map(({ answers }) => answers[0]?.eventId));
  assert.is(events.size, sender.sendings.length, "no event stands for two delivery ids");
};

/** One `webhook-id` a delivery id and one delivery id a `webhook-id`, over all that ever arrived. */
const checkArrivals = ({ target, sender }: World): void => {
  const eventOf = new Map(sender.sendings.map((sending) => [sending.id, sending.answers[0]?.eventId]));
  for (const { id, body } of target.arrivals) {
    assert.is(eventOf.get(JSON.parse(body).id), id, `${body} arrived as ${id}`);
  }
};

const round = async (it: World): Promise<{ cutOff: number; killed: number }> => {
  const startedAt = Date.now();
  const hooks = await freshCeilings(it);
  answerUnevenly(it, true);
  const before = it.sender.sendings.length;
  await loadUntilKilled(it, hooks);
  const freeAt = Date.now() + it.course.placesFreeMs;
  const killed = it.sender.sendings.slice(before).filter(({ answers }) => answers.length === 0).length;
  answerUnevenly(it, false);
  const cutOff = [...it.cutOff];
  const arrivedBefore = it.target.arrivals.length;
  if (random.below(5) === 0) await killWhileStarting(it.engines, it.dir);
  const promised = admitted(it.sender);

  it.program = await startProgram(it.engines.env, it.dir);
  it.client = it.client.at(it.program.url);
  await until(
    "what was in flight, and all else that was answered 2xx, is delivered after the start",
    () => {
      const again = new Set(it.target.arrivals.slice(arrivedBefore).map(({ id }) => id));
      const counts = it.target.counts();
      return cutOff.every((id) => again.has(id)) && promised.every((id) => counts.has(id));
    },
    it.course.redeliveredMs,
  );
  await retryUnanswered(it);
  await pause(freeAt - Date.now());
  await topUp(it, hooks.rated, RATE);
  await topUp(it, hooks.thrifty, AFFORDABLE);
  checkAnswers(it);
  assert.is(admitted(it.sender, hooks.thrifty).length, AFFORDABLE, "the budget, to the last event");
  const isOneMinute = Date.now() - startedAt < MINUTE_MS;
  if (isOneMinute) {
    assert.is(admitted(it.sender, hooks.rated).length, RATE, "the rate, to the last event");
    const last = it.ceilings.at(-1);
    last?.full.add(last.rated);
  }
  await until("every admitted event has arrived", () => {
    const counts = it.target.counts();
    return admitted(it.sender).every((id) => counts.has(id));
  });
  checkArrivals(it);
  await until("the bill counts every admitted event, once", async () => {
    const { body } = await it.client.call("GET", "/v1/billing/summary");
    return body.usage.events === admitted(it.sender).length;
  });
  // On a busy machine an attempt that has arrived may have timed out: it is made again.
  await until("no admitted event waits for another attempt", async () => {
    const waiting = ["queued", "delivering", "retrying"].map(async (status) => {
      const { body } = await it.client.call("GET", `/v1/events?status=${status}&limit=1`);
      return body.data.length === 0;
    });
    return (await Promise.all(waiting)).every(Boolean);
  });
  return { cutOff: cutOff.length, killed };
};

/** What the log says once the program has ended in peace, against what senders and receiver have seen. */
const checkLog = async ({ engines, dir, client, sender, target, ceilings }: World): Promise<void> => {
  // The log of a server may hold more than this account.
  const whole = await readLogAt(locationsIn(engines, dir).log);
  const events = whole.filter(({ meta }) => meta.account === client.account);
  const counts = (type: string): Map<string, number> => {
    const found = new Map<string, number>();
    for (const event of events) {
      if (event.type !== type) continue;
      const id = String(fieldOf(event, "event_id"));
      found.set(id, (found.get(id) ?? 0) + 1);
    }
    return found;
  };
  const admissions = counts("EventAdmitted");
  const deliveries = counts("EventDelivered");
  const expected = admitted(sender).sort();
  assert.equal([...admissions.keys()].sort(), expected, "admitted is what was answered 2xx, and nothing else");
  assert.equal([...deliveries.keys()].sort(), expected, "every one of them is delivered");
  for (const [id, count] of [...admissions, ...deliveries]) assert.is(count, 1, `${id} is admitted and delivered once`);
  for (const id of target.counts().keys()) assert.ok(admissions.has(id), `${id} was sent without a verdict`);

  for (const policy of ceilings) {
    for (const id of [policy.rated, policy.thrifty]) {
      const { ledger, places } = ledgerOf(events, id);
      const holders = events
        .filter((event) => event.type === "EventAdmitted" && fieldOf(event, "verdict", "policy", "id") === id)
        .map((event) => String(fieldOf(event, "event_id")));
      if (!policy.full.has(id)) continue;
      assert.is(ledger.open.size, 0, "no place is left to a dead request");
      assert.equal([...places.keys()].sort(), holders.sort(), "the admitted hold the places, and nobody else");
    }
    assert.ok(fullestWindow(ledgerOf(events, policy.rated).places.values(), MINUTE_MS) <= RATE);
    const spent = ledgerOf(events, policy.thrifty).ledger.settled;
    assert.is(spent, AFFORDABLE * 70_000, "micro-euros spent of 1,000,000");
  }
};

const killedUnderLoad = ({ name, open }: EngineSet, course: Course): void => {
  const test = suite(`kill -9 under load: ${name}`);

  test(`${course.rounds} rounds: nothing answered 2xx is lost, one webhook-id an event, ceilings exact (CRASH_SEED=${SEED})`, async () => {
    console.log(`CRASH_SEED=${SEED} CRASH_ROUNDS=${ROUNDS}`);
    const sum = { events: 0, cutOff: 0, killed: 0 };
    for (let done = 0; done < course.rounds; ) {
      const engines = await open();
      const it = await world(engines, course);
      const rounds = Math.min(course.rounds - done, 1 + random.below(ROUNDS_A_FOLDER_MAX));
      try {
        for (let n = 0; n < rounds; n += 1, done += 1) {
          const { cutOff, killed } = await round(it);
          sum.cutOff += cutOff;
          sum.killed += killed;
        }
        assert.is(await it.program.stop(), 0);
        await checkLog(it);
      } catch (error) {
        console.log(`round ${done} of CRASH_SEED=${SEED} in ${it.dir}\n${it.program.output()}`);
        throw error;
      }
      sum.events += admitted(it.sender).length;
      await it.target.close();
      removeFolder(it.dir);
      await engines.close();
    }
    console.log(
      `${sum.events} events; killed with ${sum.killed} webhooks unanswered and ${sum.cutOff} deliveries under way`,
    );
    assert.ok(sum.killed > 0, "the kills came under load");
  });

  test.after(killPrograms);
  test.run();
};

for (const engines of engineSets()) killedUnderLoad(engines, engines.name === "embedded" ? ALONE : AMONG_NODES);
