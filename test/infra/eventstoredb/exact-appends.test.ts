import { randomUUID } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { exactAppends } from "../../../infra/eventstoredb/appends.ts";
import {
  type AppendAnswer,
  type Connection,
  ConnectionFailure,
  type ProposedEvent,
  type StoredEvent,
} from "../../../infra/eventstoredb/connection.ts";
import { pages } from "../../../infra/eventstoredb/pages.ts";
import { positionOf } from "../../../infra/eventstoredb/positions.ts";
import { rejection } from "../../contract/event-log-events.ts";
import { SHORT } from "./log-world.ts";

/** A server that does not know a repeat, as none does when what was written is no longer in its index. */

const test = suite("EventStoreDB log: exact appends");

const STREAM = "delivery-1";

const proposed = (): ProposedEvent => ({ id: randomUUID(), type: "Tested", data: new Uint8Array(), meta: null });

const stored = ({ id, type }: ProposedEvent, revision: number): StoredEvent => {
  const at = { commit: BigInt(100 * revision), prepare: BigInt(100 * revision) };
  return { id, type, stream: STREAM, revision, at, writtenMs: null, data: {}, meta: {}, isDamaged: false };
};

/** Answers appends in turn, the last answer for ever, and holds these events. */
const connectionOf = (answers: readonly (AppendAnswer | ConnectionFailure)[], events: readonly StoredEvent[]) => {
  let calls = 0;
  const connection: Connection = {
    async append() {
      const answer = answers[Math.min(calls, answers.length - 1)];
      calls += 1;
      if (answer === undefined || answer instanceof ConnectionFailure) throw answer;
      return answer;
    },
    readStream: async (_stream, page) =>
      page.direction === "forwards" ? events.slice(page.from, page.from + page.count) : [...events].reverse(),
    readAll: async () => events,
    follow: () => () => undefined,
    close: async () => undefined,
  };
  return { calls: () => calls, append: exactAppends(connection, pages(connection), SHORT) };
};

const lost = new ConnectionFailure("unknown", "other", "the answer was lost");
const unsent = new ConnectionFailure("unsent", "not-reached", "nothing answers");
const refused = new ConnectionFailure("refused", "access", "no");
const conflictAt = (actual: number): AppendAnswer => ({ outcome: "conflict", actual });

test("a conflict after a lost answer is our own append if our events are stored there", async () => {
  const [before, a, b, behind] = [proposed(), proposed(), proposed(), proposed()];
  const { append } = connectionOf([lost, conflictAt(3)], [before, a, b, behind].map(stored));
  const appended = await append({ stream: STREAM, expected: 0, events: [a, b] });
  assert.equal(appended, {
    outcome: "appended",
    revision: 2,
    position: positionOf({ commit: 200n, prepare: 200n }),
  });
});

test("other events at those revisions, or only some of ours, are a conflict", async () => {
  const [before, a, b, other] = [proposed(), proposed(), proposed(), proposed()];
  for (const there of [
    [before, other, other],
    [before, b, a],
    [before, a, other],
    [before, a],
    [a, b, other],
  ]) {
    const conflict = conflictAt(there.length - 1);
    const { append } = connectionOf([lost, conflict], there.map(stored));
    assert.equal(await append({ stream: STREAM, expected: 0, events: [a, b] }), conflict);
  }
});

test("a conflict at the first try is a conflict, whichever events are stored", async () => {
  const one = proposed();
  const { append, calls } = connectionOf([conflictAt(0)], [stored(one, 0)]);
  assert.equal(await append({ stream: STREAM, expected: "absent", events: [one] }), conflictAt(0));
  assert.is(calls(), 1);
});

test("a conflict with an unreadable event is answered within a limit, and at once without any event", async () => {
  for (const [actual, leastMs] of [
    [3, SHORT.visibleMs / 2],
    ["absent", 0],
  ] as const) {
    const conflict: AppendAnswer = { outcome: "conflict", actual };
    const { append } = connectionOf([conflict], []);
    const began = performance.now();
    assert.equal(await append({ stream: STREAM, expected: 7, events: [proposed()] }), conflict);
    assert.ok(performance.now() - began >= leastMs);
  }
});

test("an unsent append is LogUnavailable, a sent one OutcomeUnknown, even if a later try is refused", async () => {
  const cases = [
    [[unsent], "LogUnavailable"],
    [[refused], "LogUnavailable"],
    [[lost], "OutcomeUnknown"],
    [[lost, unsent], "OutcomeUnknown"],
    [[unsent, lost, refused], "OutcomeUnknown"],
  ] as const;
  for (const [answers, name] of cases) {
    const { append } = connectionOf(answers, []);
    const failure = await rejection(() => append({ stream: STREAM, expected: "absent", events: [proposed()] }));
    assert.is(failure.name, name);
  }
});

test("a server's lower limit is reported, and nothing is tried again", async () => {
  const { append, calls } = connectionOf([{ outcome: "too-large", bytesMax: 5 }], []);
  const failure = await rejection(() => append({ stream: STREAM, expected: "absent", events: [proposed()] }));
  assert.is(failure.name, "AppendTooLarge");
  assert.match(failure.message, "at most 5");
  assert.is(calls(), 1);
});

test.run();
