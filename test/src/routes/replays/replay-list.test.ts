import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ViewStore } from "../../../../domain/ports/view-store.ts";
import type { Principal } from "../../../../src/http/route.ts";
import { inEachViewStore } from "../../../support/each-view-store.ts";
import {
  ACCOUNT,
  ADMIN,
  BY,
  REPLAY_SCHEMAS,
  replayIdOf,
  replayNode,
  replayWorld,
} from "../../../support/replay-world.ts";

const test = suite("the list of replays by status");
const STRANGER: Principal = { kind: "key", account: "acc_b", id: "key_b", role: "admin" };
const MINUTE_MS = 60_000;

/** Five replays, a minute after each other: the first and the fourth have ended, the third is cancelled. */
const listsRightly = async (store: ViewStore): Promise<void> => {
  const world = await replayWorld();
  const at = (number: number): string =>
    new Date(Date.parse("2026-03-01T12:00:00.000Z") + number * MINUTE_MS).toISOString();
  const started = (number: number, account: string) =>
    world.add(`replay-${replayIdOf(number)}`, "ReplayStarted", {
      ...{ replay_id: replayIdOf(number), account, filter: { status: "failed" }, total: 1, rate_per_second: 10 },
      ...{ by: BY, reason: null, up_to: null, log: "log", at: at(number) },
    });
  for (const number of [0, 1, 2, 3, 4]) await started(number, ACCOUNT);
  await started(5, "acc_c");
  for (const number of [0, 3]) {
    const about = { replay_id: replayIdOf(number), at: at(number + 1) };
    await world.add(`replay-${replayIdOf(number)}`, "ReplayFinished", about);
  }
  const cancelled = { replay_id: replayIdOf(2), by: BY, reason: null, at: at(3) };
  await world.add(`replay-${replayIdOf(2)}`, "ReplayCancelled", cancelled);
  const node = await replayNode(world, { store });
  await node.shown();
  const list = (query: object, principal = ADMIN) =>
    node.call("GET", "/v1/replays", { principal, query: { ...query } });
  const listed = async (query: object, principal = ADMIN) => {
    const { data, total } = (await list(query, principal)).body;
    return [(data as { id: string }[]).map(({ id }) => [0, 1, 2, 3, 4, 5].find((it) => replayIdOf(it) === id)), total];
  };
  assert.equal(await listed({ total: "true" }), [[4, 3, 2, 1, 0], 5]);
  assert.equal(await listed({ status: "running", total: "true" }), [[4, 1], 2]);
  assert.equal(await listed({ status: "done" }), [[3, 0], undefined]);
  assert.equal(await listed({ status: "cancelled,done", total: "true" }), [[3, 2, 0], 3]);
  const some = { status: "running,done", limit: 3 };
  const { data, next_cursor: cursor } = (await list(some)).body;
  assert.is((data as readonly unknown[]).length, 3);
  assert.equal(await listed({ ...some, cursor }), [[0], undefined], "the next page goes on where the first ended");
  assert.equal(await listed({ status: "running,done,cancelled", total: "true" }, STRANGER), [[], 0]);
  assert.equal(await listed({ status: "running", cursor }, STRANGER), [[], undefined]);
  await node.stop();
};

inEachViewStore(test, "lists of replays", REPLAY_SCHEMAS, listsRightly);

test.run();
