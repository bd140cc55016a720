import { randomUUID } from "node:crypto";
import * as assert from "uvu/assert";
import type { EventLog, GroupedAppend, NewEvent } from "../../domain/ports/event-log.ts";
import { APPEND_BYTES_MAX, GROUP_APPENDS_MAX, GROUP_BYTES_MAX } from "../../infra/event-log-arguments.ts";
import { until } from "../support/until.ts";
import type { ContractCase } from "./contract-case.ts";
import { event, events, idsOf, newStream, readOn, rejection } from "./event-log-events.ts";

const RACERS = 20;
/** Far more than a wake takes. */
const WAKE_MAX_MS = 2_000;

const one = (
  stream: string,
  expected: GroupedAppend["expected"],
  batch: readonly NewEvent[] = [event()],
  follows: readonly number[] = [],
): GroupedAppend => ({ stream, expected, events: batch, follows });

const outcomesOf = async (log: EventLog, group: readonly GroupedAppend[]): Promise<readonly string[]> =>
  (await log.appendGroup(group)).map(({ outcome }) => outcome);

const stored = async (log: EventLog, stream: string): Promise<readonly string[]> =>
  idsOf(await log.read(stream, null, 1_000));

const writesNothing = async (log: EventLog, group: readonly GroupedAppend[], name: string): Promise<void> => {
  const before = await log.head();
  assert.is((await rejection(() => log.appendGroup(group))).name, name);
  assert.equal(await readOn(log, before), []);
};

/** Of so many bytes that a group of them, each in a stream of its own, reaches the limit of a group. */
const PARTS = 10;
const part = (bytes: number): NewEvent => {
  const empty = event({ text: "" }, "T");
  const besides = 1 + Buffer.byteLength(JSON.stringify(empty.data)) + Buffer.byteLength(JSON.stringify(empty.meta));
  return { ...empty, data: { text: "x".repeat(bytes - besides) } };
};

const deciding: readonly ContractCase[] = [
  {
    name: "a group of one append is answered as the append is",
    run: async (log) => {
      const stream = newStream();
      const answers = await log.appendGroup([one(stream, "absent", events(2))]);
      assert.equal(answers, [
        { outcome: "appended", revision: 1, position: (await log.read(stream, null, 10)).at(-1)?.position },
      ]);
      assert.equal(await log.appendGroup([one(stream, 0)]), [{ outcome: "conflict", actual: 1 }]);
      assert.equal(await log.appendGroup([one(newStream(), 3)]), [{ outcome: "conflict", actual: "absent" }]);
    },
  },
  {
    name: "a group writes to several streams and answers each of its appends",
    run: async (log) => {
      const [ledger, payload, claim] = [newStream("ledger"), newStream("payload"), newStream()];
      await log.append(ledger, "absent", events(3));
      const group = [one(payload, "absent"), one(ledger, 2, events(2)), one(claim, "absent", events(3), [0, 1])];
      const answers = await log.appendGroup(group);
      for (const [index, { stream, events: batch }] of group.entries()) {
        const written = await log.read(stream, null, 10);
        assert.equal(idsOf(written).slice(-batch.length), idsOf(batch));
        const last = written.at(-1);
        assert.equal(answers[index], { outcome: "appended", revision: last?.revision, position: last?.position });
      }
      const [, reserved, claimed] = answers;
      if (reserved?.outcome !== "appended" || claimed?.outcome !== "appended") assert.unreachable("not appended");
      else assert.ok(claimed.position > reserved.position, "an append comes after those that it follows");
    },
  },
  {
    name: "two appends of a group to one stream are decided one after the other",
    run: async (log) => {
      const stream = newStream();
      const [first, second, third] = [events(2), events(1), events(1)];
      const answers = await log.appendGroup([
        one(stream, "absent", first),
        one(stream, 1, second),
        one(stream, 1, events(1)),
        one(stream, "absent", events(1)),
        one(stream, 2, third),
      ]);
      assert.equal(
        answers.map(({ outcome, ...rest }) => (outcome === "conflict" ? { outcome, ...rest } : outcome)),
        ["appended", "appended", { outcome: "conflict", actual: 2 }, { outcome: "conflict", actual: 2 }, "appended"],
      );
      assert.equal(await stored(log, stream), idsOf([...first, ...second, ...third]));
    },
  },
  {
    name: "an append is refused if one that it follows conflicts or is refused, and no other is",
    run: async (log) => {
      const taken = newStream();
      await log.append(taken, "absent", events(1));
      const [alone, afterConflict, afterRefused, afterBoth, afterAlone] = Array.from({ length: 5 }, () => newStream());
      const group = [
        one(alone ?? "", "absent"),
        one(taken, "absent"),
        one(afterConflict ?? "", "absent", events(2), [1]),
        one(afterRefused ?? "", "absent", events(1), [2]),
        one(afterBoth ?? "", "absent", events(1), [0, 1]),
        one(afterAlone ?? "", "absent", events(1), [0]),
      ];
      const expected = ["appended", "conflict", "refused", "refused", "refused", "appended"];
      assert.equal(await outcomesOf(log, group), expected);
      for (const stream of [afterConflict, afterRefused, afterBoth])
        assert.equal(await log.read(stream ?? "", null, 10), []);
      assert.equal(await outcomesOf(log, group), expected, "the same group again");
    },
  },
  {
    name: "of racing groups that expect one revision, one is written whole and the others not at all",
    run: async (log) => {
      const ledger = newStream("ledger");
      await log.append(ledger, "absent", events(1));
      const groups = Array.from({ length: RACERS }, () => [one(ledger, 0), one(newStream(), "absent", events(1), [0])]);
      const answers = await Promise.all(groups.map((group) => outcomesOf(log, group)));
      const won = groups.filter((_, index) => answers[index]?.join() === "appended,appended");
      assert.is(answers.filter((outcomes) => outcomes.join() === "conflict,refused").length, RACERS - 1);
      const claims = groups.map(([, claim]) => claim?.stream ?? "");
      const written = (await Promise.all(claims.map((claim) => stored(log, claim)))).filter((ids) => ids.length > 0);
      assert.equal(
        written,
        won.map(([, claim]) => idsOf(claim?.events ?? [])),
      );
      assert.is((await log.read(ledger, null, 10)).length, 2);
    },
  },
  {
    name: "a group tells that something was appended",
    run: async (log) => {
      let isWoken = false;
      const stop = log.onAppended(() => {
        isWoken = true;
      });
      await log.appendGroup([one(newStream(), "absent")]);
      await until("the listener is woken", () => isWoken, WAKE_MAX_MS);
      stop();
    },
  },
];

const repeating: readonly ContractCase[] = [
  {
    name: "a group sent again is answered like the first and writes nothing",
    run: async (log) => {
      const [ledger, claim] = [newStream("ledger"), newStream()];
      const group = [one(ledger, "absent", events(2)), one(ledger, 1), one(claim, "absent", events(2), [0, 1])];
      const first = await log.appendGroup(group);
      await log.append(ledger, 2, events(1));
      const before = await log.head();
      assert.equal(await log.appendGroup(group), first);
      assert.equal(await readOn(log, before), []);
    },
  },
  {
    name: "a group of which a part is written already is completed",
    run: async (log) => {
      const [ledger, claim] = [newStream("ledger"), newStream()];
      const [places, decided] = [events(2), events(2)];
      const written = await log.append(ledger, "absent", places);
      const [reserved, claimed] = await log.appendGroup([
        one(ledger, "absent", places),
        one(claim, "absent", decided, [0]),
      ]);
      assert.equal(reserved, written);
      assert.is(claimed?.outcome, "appended");
      assert.equal([await stored(log, ledger), await stored(log, claim)], [idsOf(places), idsOf(decided)]);
    },
  },
  {
    name: "a group whose append comes after an erasure conflicts, and what follows it is refused",
    run: async (log) => {
      const [payload, late, next] = [newStream("payload"), newStream(), newStream()];
      await log.appendGroup([one(payload, "absent", events(2))]);
      await log.erase(payload);
      const group = [one(payload, 1), one(late, "absent", events(1), [0])];
      assert.equal(await outcomesOf(log, group), ["conflict", "refused"]);
      const again = [one(payload, 2), one(next, "absent", events(1), [0])];
      assert.equal(await outcomesOf(log, again), ["appended", "appended"]);
      assert.is((await log.read(payload, null, 10)).length, 1);
    },
  },
];

const limits: readonly ContractCase[] = [
  {
    name: "a group takes as many appends and bytes as its limits allow",
    run: async (log) => {
      const many = Array.from({ length: GROUP_APPENDS_MAX }, () => one(newStream(), "absent"));
      assert.equal(new Set(await outcomesOf(log, many)), new Set(["appended"]));
      const large = Array.from({ length: PARTS }, () => one(newStream(), "absent", [part(GROUP_BYTES_MAX / PARTS)]));
      assert.equal(new Set(await outcomesOf(log, large)), new Set(["appended"]));
    },
  },
  {
    name: "a group of one byte more than the limit, or with an append that is too large, writes nothing",
    run: async (log) => {
      const sizes = Array.from({ length: PARTS }, (_, index) => GROUP_BYTES_MAX / PARTS + (index === 0 ? 1 : 0));
      const large = sizes.map((bytes) => one(newStream(), "absent", [part(bytes)]));
      await writesNothing(log, large, "AppendTooLarge");
      const largeAppend = one(newStream(), "absent", [part(APPEND_BYTES_MAX + 1)]);
      await writesNothing(log, [one(newStream(), "absent"), largeAppend], "AppendTooLarge");
    },
  },
  {
    name: "no append, too many, one that follows no earlier one, or one that is a bug alone, are bugs of a group",
    run: async (log) => {
      const twice = event();
      const good = one(newStream(), "absent");
      const bugs: readonly (readonly GroupedAppend[])[] = [
        [],
        Array.from({ length: GROUP_APPENDS_MAX + 1 }, () => one(newStream(), "absent")),
        ...[0, 1, -1, 0.5, Number.NaN].map((follows) => [one(newStream(), "absent", events(1), [follows])]),
        [good, one(newStream(), "absent", events(1), [0, 1])],
        [good, one(newStream(), "absent", [])],
        [good, one(newStream(), "absent", [twice, twice])],
        [good, one("no-stream\u0000", "absent")],
        [good, one(newStream(), -1)],
        // What a caller without types could pass.
        [good, { ...one(newStream(), 0), expected: "any" as unknown as number }],
      ];
      for (const bug of bugs) await writesNothing(log, bug, "TypeError");
    },
  },
  {
    name: "a closed log refuses a group",
    run: async (log) => {
      await log.close();
      const refusal = await rejection(() => log.appendGroup([one(`delivery-${randomUUID()}`, "absent")]));
      assert.is(refusal.name, "LogUnavailable");
    },
  },
];

/** A group is decided append by append, and an append has no effect without those that it follows. */
export const groupCases: readonly ContractCase[] = [...deciding, ...repeating, ...limits];
