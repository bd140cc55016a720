import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryViewStore } from "../../../infra/memory/view-store.ts";
import { events as eventsView } from "../../../projections/events.ts";
import { SUSPENSIONS_REACTOR, stoppedRequests } from "../../../src/execute/reactions.ts";
import { Reactor } from "../../../src/following/reactor.ts";
import { aggregates } from "../../../src/streams/aggregates.ts";
import { toEvents } from "../../../src/streams/envelope.ts";
import { inlineProjector } from "../../../src/views/view-progress.ts";
import { ACCOUNT, AGENT_ID, type AgentsWorld, agentsWorld, ENDPOINT_ID, TRACE } from "../../support/execute-world.ts";
import { deliveryFacts } from "../../support/history.ts";
import { words } from "../../support/personal-words.ts";
import { until } from "../../support/until.ts";

const test = suite("what a suspended agent has asked for");
/** More than the two pages that follow one another. */
const REQUESTS = 250;

const fail = (error: unknown): never => {
  throw error;
};

const asked = async ({ log, now }: AgentsWorld): Promise<void> => {
  const origin = { kind: "agent", id: AGENT_ID, name: "helper", type: "agent" } as const;
  for (let n = 0; n < REQUESTS; n += 1) {
    const id = `evt_${n}`;
    const admitted = deliveryFacts(id, ENDPOINT_ID).admitted({ origin, received_at: now(), at: now() });
    const actor = { kind: "agent", id: AGENT_ID } as const;
    const envelope = { commandId: id, account: ACCOUNT, actor, trace: TRACE, at: now() };
    await log.append(`delivery-${id}`, "absent", toEvents([admitted], envelope));
  }
};

/** An agent that was suspended after it had asked for all of them, and the view that lists them. */
const suspended = async () => {
  const world = await agentsWorld();
  const { log, clock } = world;
  await asked(world);
  await world.tell({ type: "AgentSuspended", data: { agent_id: AGENT_ID, reason: words("enough"), at: world.now() } });
  const views = memoryViewStore([eventsView.schema]);
  const progress = await inlineProjector({ log, views, projections: [eventsView], clock, onError: fail });
  return { world, log, clock, views, progress };
};

test("a stopping process cancels at most one page of requests, and another one cancels the rest", async () => {
  const { world, log, clock, views, progress } = await suspended();
  const deliver = { isSending: () => false };
  const about = { log, aggregates: aggregates(log, clock), views, progress, deliver, clock };
  const reacting = (changed: () => void) =>
    new Reactor(
      { log, clock, onError: fail },
      stoppedRequests({ ...about, outcomes: { changed } }),
      SUSPENSIONS_REACTOR,
    );
  const cancelled = async (): Promise<number> => (await world.ofType("EventCancelled")).length;

  let stopped: Promise<void> | null = null;
  const first = reacting(() => {
    stopped ??= first.stop();
  });
  first.start();
  await until("it is told to stop", () => stopped !== null);
  await stopped;
  const before = await cancelled();

  const second = reacting(() => undefined);
  second.start();
  await until("all is cancelled", async () => (await cancelled()) === REQUESTS);
  await second.stop();
  await progress.stop();
  assert.ok(before > 0 && before < REQUESTS / 2, `${before} by the first`);
});

test("requests are cancelled as soon as a view under rebuild lists them", async () => {
  const { world, log, clock, views, progress } = await suspended();
  const head = await log.head("records");
  assert.ok(head !== null && (await progress.waitFor(["events.v3"], head, 20_000)));
  let isBehind = true;
  const waits: unknown[] = [];
  const rebuilt = {
    page: async (...of: Parameters<typeof views.page>) => {
      const found = await views.page(...of);
      return isBehind ? found.slice(0, 10) : found;
    },
  };
  const reactions = stoppedRequests({
    ...{ log, aggregates: aggregates(log, clock), views: rebuilt, clock },
    outcomes: { changed: () => undefined },
    deliver: { isSending: () => false },
    progress: { waitFor: async () => !isBehind },
  });
  const [cause] = await world.ofType("AgentSuspended");
  const react = async (): Promise<number> => {
    for (const { on, run } of reactions)
      if (cause !== undefined && on === cause.type) waits.push((await run(cause)) !== undefined);
    return (await world.ofType("EventCancelled")).length;
  };
  assert.is(await react(), 10);
  assert.is(await react(), 10);
  isBehind = false;
  assert.is(await react(), REQUESTS);
  assert.equal(waits, [true, true, false], "it is repeated until the view is whole");
  await progress.stop();
});

test.run();
