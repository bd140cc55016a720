import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Client, hookSource, signUp } from "../support/client.ts";
import { type Engines, locationsIn, sharedEngines } from "../support/engine-sets.ts";
import { fieldOf, readLogAt } from "../support/log-facts.ts";
import { admittedAs, type Hook, hookOf, persistentSender } from "../support/persistent-sender.ts";
import { killPrograms, type Program, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";
import { viewsAreTheLog } from "../support/views-facts.ts";

/** The lease of an attempt lasts 15 s longer. Long enough that what is under way still is when its node dies. */
const TIMEOUT_MS = 3_000;
/** The lease, and some looks. */
const TAKEN_OVER_MS = 40_000;
const KILLS = 3;
const LANES = 16;
/** Where the log of shared engines is does not depend on the data directory. */
const NOWHERE = "";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const nodesThatEnd = (open: () => Promise<Engines>): void => {
  const test = suite("two nodes, of which one dies");
  let engines: Engines;
  let target: Receiver;
  let dirs: readonly string[];
  let sender: ReturnType<typeof persistentSender>;

  test.before.each(async () => {
    dirs = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    sender = persistentSender();
    [engines, target] = await Promise.all([open(), receiver()]);
  });
  test.after.each(async () => {
    killPrograms();
    await target.close();
    await engines.close();
    for (const dir of dirs) removeFolder(dir);
  });

  const start = (which: number, env: Record<string, string> = {}): Promise<Program> =>
    startProgram({ ...engines.env, ...env }, dirs[which]);
  const recordsOf = async (client: Client) =>
    (await readLogAt(locationsIn(engines, NOWHERE).log)).filter(({ meta }) => meta.account === client.account);

  const deliveringHook = async (client: Client): Promise<Hook> => {
    const app = { name: "app", url: target.url, timeout_ms: TIMEOUT_MS, concurrency: 50, retry_schedule_s: [1, 1, 1] };
    const { id } = await client.make("/v1/endpoints", app);
    return hookOf(client, "hook", { endpoint_id: id });
  };

  /** Sends to both at once until one of them is gone, or the time is over. */
  const load = async (hook: Hook, programs: readonly Program[], whenMs: number, end: () => Promise<unknown>) => {
    let isOver = false;
    const lane = async (base: string): Promise<void> => {
      while (!isOver && (await sender.send(base, sender.next(hook))));
    };
    const lanes = Array.from({ length: LANES }, (_, n) => lane(programs[n % programs.length]?.url ?? ""));
    await pause(whenMs);
    await end();
    isOver = true;
    await Promise.all(lanes);
  };

  const answerRest = (base: string): Promise<boolean> =>
    until("everything is answered", async () => {
      await Promise.all(sender.unanswered().map((sending) => sender.send(base, sending)));
      return sender.unanswered().length === 0;
    });

  /** What was answered 2xx is what was admitted, once each; and all of it arrives. */
  const nothingIsLost = async (client: Client): Promise<void> => {
    const promised = sender.sendings.map(admittedAs).sort();
    assert.ok(promised.length > 0);
    await until(
      "everything has arrived",
      () => {
        const counts = target.counts();
        return promised.every((id) => id !== null && counts.has(id));
      },
      TAKEN_OVER_MS,
    );
    const admitted = (await recordsOf(client)).filter(({ type }) => type === "EventAdmitted");
    assert.equal(admitted.map((event) => String(fieldOf(event, "event_id"))).sort(), promised);
  };

  /** Each attempt that began where the one before it had no end: by another node, when the lease had run out. */
  const takeovers = async (client: Client): Promise<number> => {
    const attempts = (await recordsOf(client)).filter(({ type }) => /^Attempt(Started|Failed)$/.test(type));
    const lasts = new Map<unknown, (typeof attempts)[number]>();
    let count = 0;
    for (const event of attempts) {
      const last = lasts.get(fieldOf(event, "event_id"));
      lasts.set(fieldOf(event, "event_id"), event);
      if (last?.type !== "AttemptStarted" || event.type !== "AttemptStarted") continue;
      count += 1;
      assert.is.not(fieldOf(last, "node"), fieldOf(event, "node"));
      assert.ok(String(fieldOf(event, "at")) >= String(fieldOf(last, "lease_until")));
    }
    return count;
  };

  test("what a killed and a suspended node had under way is sent by the third when the leases have run out, under the same id", async () => {
    const [third, killed, suspended] = [await start(0), await start(1), await start(2)];
    const client = await signUp(third.url);
    const hook = await deliveringHook(client);
    target.answer(() => undefined);
    const sendings = Array.from({ length: 10 }, () => sender.next(hook));
    const bases = [killed.url, suspended.url];
    await Promise.all(sendings.map((sending, n) => sender.send(bases[n % 2] ?? "", sending)));
    await until("all are under way", () => target.counts().size === sendings.length);
    process.kill(suspended.pid, "SIGSTOP");
    await killed.kill();
    target.answer((_arrival, response) => response.end("ok"));
    const delivered = async () => (await recordsOf(client)).filter(({ type }) => type === "EventDelivered");
    await until("all are delivered", async () => (await delivered()).length === sendings.length, TAKEN_OVER_MS);
    assert.ok((await takeovers(client)) > 0);
    // It finds that others have done its work, and goes on.
    process.kill(suspended.pid, "SIGCONT");
    const next = sender.next(hook);
    await until("it answers again", () => sender.send(suspended.url, next));
    await nothingIsLost(client);
    assert.is(await suspended.stop(), 0);
    await takeovers(client);
    const ids = (await delivered()).map((event) => String(fieldOf(event, "event_id")));
    assert.equal(ids.sort(), sender.sendings.map(admittedAs).sort());
    assert.is(await third.stop(), 0);
  });

  test(`${KILLS} times kill -9 of one of two that project: every document is what the log says, and nothing is lost`, async () => {
    const survivor = await start(0);
    const client = await signUp(survivor.url);
    const hook = await deliveringHook(client);
    for (let round = 0; round < KILLS; round += 1) {
      const victim = await start(1);
      await load(hook, [survivor, victim], 300 + 300 * Math.random(), () => victim.kill());
      await answerRest(survivor.url);
      await viewsAreTheLog(locationsIn(engines, NOWHERE));
    }
    await nothingIsLost(client);
    await viewsAreTheLog(locationsIn(engines, NOWHERE));
    assert.is(await survivor.stop(), 0);
  });

  test("SIGTERM to both under load: both end with 0, and nothing that was answered is lost", async () => {
    const both = [await start(0), await start(1)];
    const [first] = both;
    const client = await signUp(first?.url ?? "");
    const hook = await deliveringHook(client);
    let codes: readonly (number | null)[] = [];
    await load(hook, both, 500, async () => {
      codes = await Promise.all(both.map((program) => program.stop()));
    });
    assert.equal(codes, [0, 0], both.map((program) => program.output()).join());
    const again = await start(2);
    await answerRest(again.url);
    await nothingIsLost(client);
    assert.is(await again.stop(), 0);
  });

  test("one process takes webhooks, another delivers them and a third shows them", async () => {
    const [api, projector, deliverer] = await Promise.all(
      ["api", "projector", "deliverer"].map((ROLES, which) => start(which, { ROLES })),
    );
    const client = await signUp(api?.url ?? "");
    const app = await client.make("/v1/endpoints", { name: "app", url: target.url });
    const source = await hookSource(client, { endpoint_id: app.id });
    const sent = await source.send("divided");
    assert.is(sent.status, 202);
    await until("the views say that it was delivered", async () => {
      const { body } = await client.call("GET", `/v1/events/${sent.body.event_id}`);
      return body.status === "delivered";
    });
    assert.equal([...target.counts()], [[sent.body.event_id, 1]]);
    for (const program of [deliverer, projector, api]) assert.is(await program?.stop(), 0, program?.output());
  });

  test.run();
};

const shared = sharedEngines("what is left when one of two nodes dies");
if (shared !== null) nodesThatEnd(shared.open);
