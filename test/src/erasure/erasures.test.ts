import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PLANS } from "../../../domain/account/plans.ts";
import type { EventLog, Position } from "../../../domain/ports/event-log.ts";
import { derivedId } from "../../../infra/crypto/ids.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { memoryViewStore } from "../../../infra/memory/view-store.ts";
import { retention as retained } from "../../../projections/retention.ts";
import { erasureReactions } from "../../../src/erasure/erasures.ts";
import { personalData } from "../../../src/erasure/personal-data.ts";
import { isProblem } from "../../../src/http/route.ts";
import { retention } from "../../../src/retention/retention.ts";
import { eraseBundlePayload } from "../../../src/routes/bundles/bundle-payload.ts";
import { erasePayload } from "../../../src/routes/events/event-payload.ts";
import { NO_TRACE, toEvents } from "../../../src/streams/envelope.ts";
import { payloadStream, payloads } from "../../../src/streams/payloads.ts";
import { callOf } from "../../support/call.ts";
import { dyingAfter, survived } from "../../support/dying-log.ts";
import { foldInto } from "../../support/fold-into.ts";
import { at, bundleFacts, bundleStep, deliveryFacts, START } from "../../support/history.ts";
import { LOGS_WITH_BYTES } from "../../support/logs-with-bytes.ts";
import { addressed } from "../../support/personal-words.ts";

/** An erasure whose process dies at any of its writes. The next process completes it, and no byte is left. */

const DAY_S = 24 * 60 * 60;
/** Long after the plan has kept what is told here. */
const LATER_S = 30 * DAY_S;

let scenes = 0;

/** Events and bundles of one case, in a log that other cases share. */
const sceneOf = async (log: EventLog) => {
  scenes += 1;
  const number = scenes;
  const start = await log.head();
  const [secret, anew] = [`«secret ${number}»`, `«anew ${number}»`];
  const envelope = () => ({
    commandId: `cmd_${number}_${randomness.number()}`,
    account: "acc_1",
    actor: { kind: "system", id: "test" } as const,
    trace: NO_TRACE,
    at: at(0),
  });
  const write = (stream: string, ...facts: readonly { readonly type: string; readonly data: object }[]) =>
    log.append(stream, "any", toEvents(facts, envelope()));
  const keeper = payloads(log, randomness);
  const incoming = (body: string) => ({
    body: Buffer.from(body),
    contentType: "text/plain",
    contentEncoding: "",
    headers: { "x-note": body },
  });
  return {
    log,
    secret,
    anew,
    write,
    id: (prefix: string, name: string): string => derivedId(prefix, "test", `${number}`, name),
    keep: (id: string) => keeper.keepFirst(id, incoming(secret), envelope()),
    keepAnew: (id: string) => keeper.keepAgain(id, incoming(anew), envelope()),
    answered: (id: string, attempt: number) => ({
      type: "ResponseKept",
      data: { event_id: id, number: attempt, headers: {}, encoding: "text", body: secret, truncated: false },
    }),
    /** Of this scene alone. */
    records: (what: "everything" | "records" = "records") => log.readAll(start, 10_000, what),
    /** What the reactor and retention do in a process that has just started. */
    async restart(by: EventLog = log): Promise<void> {
      const reactions = erasureReactions(by);
      const types = reactions.map(({ on }) => on);
      for (let after: Position | null = start; ; ) {
        const { events, upTo } = await by.readTypes(types, after, 100);
        for (const event of events)
          for (const reaction of reactions) if (reaction.on === event.type) await reaction.run(event);
        if (upTo === null) return;
        after = upTo;
      }
    },
    async look(by: EventLog): Promise<void> {
      const views = memoryViewStore([retained.schema]);
      await foldInto({ ...log, readAll: (after, limit) => log.readAll(after ?? start, limit, "records") }, views, [
        retained,
      ]);
      const { look } = retention({
        log: by,
        views,
        sweeps: [],
        termsOf: async () => [{ plan: PLANS.free, after: null, upTo: null }],
        clock: { now: () => START + LATER_S * 1_000 },
        randomness,
        onError: (error) => assert.unreachable(String(error)),
      });
      await look();
    },
  };
};

type Scene = Awaited<ReturnType<typeof sceneOf>>;

type Story = {
  readonly name: string;
  /** Writes what is to be erased. What it returns erases that: a call that its caller repeats, or a sweep. */
  told(it: Scene): Promise<(log: EventLog) => Promise<unknown>>;
  /** Happens after the crash, before the next process has started, if the erasure was recorded by then. */
  meanwhile?(it: Scene): Promise<void>;
};

const depsOf = (log: EventLog) => ({ log, personal: personalData(log, randomness) });

const asked = (id: string) =>
  callOf({
    principal: {
      kind: "member",
      account: "acc_1",
      id: "mem_1",
      ...addressed("a@a.example"),
      role: "admin",
      session: "s",
    },
    params: { id },
    body: { reason: "asked for" },
    envelope: {
      commandId: `erase ${id}`,
      account: "acc_1",
      actor: { kind: "member", id: "mem_1" },
      trace: NO_TRACE,
      at: at(LATER_S),
    },
  });

/** Failed, replayed and delivered, with an answer to each attempt. */
const replayed = async (
  it: Scene,
  id: string,
  over: Parameters<ReturnType<typeof deliveryFacts>["admitted"]>[0] = {},
) => {
  const is = deliveryFacts(id);
  await it.keep(id);
  await it.write(payloadStream(id), it.answered(id, 1), it.answered(id, 2));
  await it.write(
    `delivery-${id}`,
    ...[is.admitted(over), is.started(1, 1), is.attemptFailed(1, 2, null), is.failed(2)],
    ...[is.replayed(3), is.started(2, 4, "replay"), is.succeeded(2, 5), is.delivered(5)],
  );
};

const stepEnded = (event_id: string, bundle_id: string, second: number) => ({
  type: "BundleStepEnded",
  data: {
    event_id,
    bundle: { id: bundle_id, index: 0, undo: false },
    outcome: "succeeded",
    cost: null,
    at: at(second),
  },
});

/** Rolled back: a step and its undo, and a second step whose process died before it was started. */
const rolledBack = async (it: Scene, id: string): Promise<void> => {
  const is = bundleFacts(id);
  const [first, second] = [bundleStep(0, {}, id), bundleStep(1, {}, id)];
  const delivered = async (event_id: string, end: number): Promise<void> => {
    const delivery = deliveryFacts(event_id);
    await it.keep(event_id);
    await it.write(payloadStream(event_id), it.answered(event_id, 1));
    await it.write(
      `delivery-${event_id}`,
      ...[delivery.admitted(), delivery.started(1, end - 1), delivery.succeeded(1, end), delivery.delivered(end)],
      stepEnded(event_id, id, end),
    );
  };
  await Promise.all([
    it.keep(id),
    it.keep(second.event_id),
    // By the clock of another node the undo has ended after its bundle.
    delivered(first.event_id, 3),
    delivered(first.undo_event_id, 60),
    it.write(
      `bundle-${id}`,
      ...[is.admitted({ steps: [first, second] }), is.started(0, 1), is.ended(0, 3, "succeeded"), is.rollback(4)],
      ...[is.undoing(0, 5), is.undone(0, 8, "compensated"), is.rolledBack(8)],
    ),
  ]);
};

const STORIES: readonly Story[] = [
  {
    name: "a replayed event that is erased by request is gone after a crash at any write",
    async told(it) {
      const id = it.id("evt_", "event");
      await replayed(it, id);
      return async (log) => assert.not(isProblem(await erasePayload(depsOf(log), id, asked(id))));
    },
  },
  {
    name: "a notification whose days have passed is gone after a crash at any write",
    async told(it) {
      const type = "endpoint.degraded";
      await replayed(it, it.id("evt_", "event"), {
        origin: { kind: "system", id: type, name: type, type: "notification" },
      });
      return it.look;
    },
  },
  {
    name: "a bundle that is erased by request is gone with its steps and undos after a crash at any write",
    async told(it) {
      const id = it.id("bun_", "bundle");
      await rolledBack(it, id);
      return async (log) => {
        const answer = await eraseBundlePayload(depsOf(log), asked(id));
        const last = (await it.records()).findLast(({ type }) => type === "PayloadErased");
        // A read at this position finds that the steps' payloads are erased.
        assert.is(isProblem(answer) ? answer.detail : answer.position, last?.position);
      };
    },
  },
  {
    name: "a bundle whose days have passed is gone with its steps and undos after a crash at any write",
    async told(it) {
      await rolledBack(it, it.id("bun_", "bundle"));
      return it.look;
    },
  },
  {
    name: "a blocked event whose days have passed is gone after a crash at any write, and stays if it comes again",
    async told(it) {
      const id = it.id("evt_", "event");
      await it.keep(id);
      await it.write(`delivery-${id}`, deliveryFacts(id).blocked());
      return it.look;
    },
    async meanwhile(it) {
      const id = it.id("evt_", "event");
      await it.keepAnew(id);
      await it.write(`delivery-${id}`, deliveryFacts(id).admitted());
    },
  },
  {
    name: "a blocked bundle that is erased by request is gone after a crash at any write, and stays if it comes again",
    async told(it) {
      const id = it.id("bun_", "bundle");
      await it.keep(id);
      await it.write(`bundle-${id}`, bundleFacts(id).blocked());
      return (log) => eraseBundlePayload(depsOf(log), asked(id));
    },
    async meanwhile(it) {
      const id = it.id("bun_", "bundle");
      const is = bundleFacts(id);
      const step = bundleStep(0, {}, id);
      await it.keepAnew(id);
      await it.keepAnew(step.event_id);
      await it.write(`bundle-${id}`, is.admitted({ steps: [step] }), is.started(0, 1));
      await it.write(`delivery-${step.event_id}`, deliveryFacts(step.event_id).admitted());
    },
  },
];

const isRecorded = async (it: Scene): Promise<boolean> =>
  (await it.records()).some(({ type }) => type === "PayloadErased" || type === "BundlePayloadErased");

/** What the next process finds once `writes` of the erasure are done; whether the process died at all. */
const toldOn = async (
  it: Scene,
  { told, meanwhile, name }: Story,
  writes: number,
  nextWrites: number | null,
): Promise<{ readonly died: boolean; readonly nextDied: boolean }> => {
  const erase = await told(it);
  const first = dyingAfter(it.log, writes);
  await survived(erase(first.log));
  let nextDied = false;
  if (await isRecorded(it)) await meanwhile?.(it);
  // Nothing was promised yet: the caller repeats the call, and a sweep looks again.
  else await erase(it.log);
  if (nextWrites !== null) {
    const next = dyingAfter(it.log, nextWrites);
    nextDied = !(await survived(it.restart(next.log)));
  }
  await it.restart();
  await it.look(it.log);
  const where = `${name}, dead after ${writes} writes, the next one after ${nextWrites}`;
  const text = JSON.stringify(await it.records("everything"));
  assert.not(text.includes(it.secret), where);
  return { died: first.isDead(), nextDied };
};

for (const [engine, open] of Object.entries(LOGS_WITH_BYTES)) {
  const test = suite(`erasures: ${engine}`);

  for (const story of STORIES) {
    test(story.name, async () => {
      const { log, close, holds, remove } = await open();
      const gone: string[] = [];
      const kept: string[] = [];
      const run = async (writes: number, nextWrites: number | null) => {
        const it = await sceneOf(log);
        const ran = await toldOn(it, story, writes, nextWrites);
        gone.push(it.secret);
        if (story.meanwhile !== undefined && (await it.records()).some(({ type }) => type.endsWith("Admitted")))
          kept.push(it.anew);
        return ran;
      };
      try {
        for (let writes = 0, died = true; died; writes += 1) {
          ({ died } = await run(writes, null));
          // The second crash is for the engine that costs the least: the calls are the same on each.
          for (let next = 0, nextDied = died && engine === "memory"; nextDied; next += 1)
            ({ nextDied } = await run(writes, next));
        }
        await close();
        assert.equal(gone.filter(holds), []);
        assert.equal(kept.filter(holds), kept);
        assert.is(kept.length > 0, story.meanwhile !== undefined);
      } finally {
        await close();
        remove?.();
      }
    });
  }

  test("an erasure requested at two nodes leaves the payload of a request that comes between them", async () => {
    const { log, close, remove } = await open();
    try {
      const it = await sceneOf(log);
      const id = it.id("evt_", "event");
      await it.keep(id);
      await it.write(`delivery-${id}`, deliveryFacts(id).blocked());
      let isFirst = true;
      const late: EventLog = {
        ...log,
        async last(stream) {
          if (isFirst) {
            isFirst = false;
            await erasePayload(depsOf(log), id, asked(id));
            await it.keepAnew(id);
          }
          return log.last(stream);
        },
      };
      await erasePayload(depsOf(late), id, asked(id));
      const text = JSON.stringify(await it.records("everything"));
      assert.equal([text.includes(it.secret), text.includes(it.anew)], [false, true]);
    } finally {
      await close();
      remove?.();
    }
  });

  test.run();
}
