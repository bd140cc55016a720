import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parseNote } from "../../../domain/evidence/signed-note.ts";
import { HOURLY_STREAM, WITNESSED_STREAM } from "../../../domain/evidence/witness-events.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { systemEnvelope, toEvents } from "../../../src/streams/envelope.ts";
import { ROUND_MS } from "../../../src/witnessing/witness-rounds.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";
import { signedTree } from "../../support/signed-tree.ts";
import { type Call, configOf, INSTANCE, LOG, nodeTree, witnessedNode, witnesses } from "../../support/witness-world.ts";

const test = suite("rounds of witnesses");

const folder = temporaryFolder();
test.after(() => removeFolder(folder));

const clockAt = (ms: number) => {
  const clock = { ms, now: () => clock.ms };
  return clock;
};

const world = (names = ["w1", "w2", "w3"], quorum = "group q 2 w1 w2 w3\nquorum q") => {
  const clock = clockAt(Date.parse("2026-03-01T10:00:00Z"));
  const all = witnesses(folder, names, clock);
  const config = configOf([...all.lines, ...quorum.split("\n")]);
  return { clock, all, config };
};

const fork = signedTree(INSTANCE, LOG.signer, (index) => `fork ${index}`);

test("a checkpoint is witnessed when the quorum has cosigned it, and every node reads so from the log", async () => {
  const { clock, all, config } = world();
  const one = witnessedNode({ config, call: all.call, clock });
  const other = witnessedNode({ log: one.log, config, call: all.call, clock });
  assert.is(await one.newest(), null);
  await one.rounds.run();
  assert.is(await one.newest(), null, "nothing is sealed yet");
  one.node.size = 5;
  await one.rounds.run();
  const found = await one.newest();
  assert.is(found?.size, 5);
  assert.is(parseNote(found?.note ?? "")?.signatures.length, 4);
  assert.is(await other.newest(), null, "the other node has not folded that tree yet");
  other.node.size = 6;
  assert.is((await other.newest())?.size, 5);
  assert.equal([one.failures, one.contradictions], [[], []]);
  assert.ok(one.rounds.healthy());
  all.close();
});

test("nothing is asked while nothing grows, or shortly after a record of another node", async () => {
  const { clock, all, config } = world();
  let calls = 0;
  const call: Call = (it) => {
    calls += 1;
    return all.call(it);
  };
  const one = witnessedNode({ config, call, clock });
  one.node.size = 5;
  await one.rounds.run();
  const first = calls;
  clock.ms += 60_000;
  await one.rounds.run();
  assert.is(calls, first);
  one.node.size = 9;
  await one.rounds.run();
  assert.is(calls, first + 3);
  const other = witnessedNode({ log: one.log, config, call, clock });
  other.node.size = 9;
  await other.rounds.run();
  const second = calls;
  assert.ok(second > first + 3, "the first round of a process compares what the witnesses know");
  other.node.size = 10;
  await other.rounds.run();
  assert.is(calls, second);
  clock.ms += ROUND_MS;
  await other.rounds.run();
  assert.is((await other.newest())?.size, 10);
  all.close();
});

test("one record an hour is kept for exports", async () => {
  const { clock, all, config } = world();
  const one = witnessedNode({ config, call: all.call, clock });
  for (let minute = 0; minute < 150; minute += 10) {
    one.node.size += 3;
    await one.rounds.run();
    clock.ms += 600_000;
  }
  const sizes: number[] = [];
  for await (const { size } of one.reader().hourly()) sizes.push(size);
  assert.equal(sizes, [3, 21, 39]);
  assert.is((await one.log.read(WITNESSED_STREAM, null, 100)).length, 15);
  all.close();
});

test("witnesses that fail, hang or lie are named once, and the others make the quorum", async () => {
  const told: Readonly<Record<string, readonly [Awaited<ReturnType<Call>>, RegExp]>> = {
    unreachable: [{ ok: false, problem: "cannot be reached: refused" }, /w1 cannot be reached/],
    broken: [{ ok: true, status: 500, body: "" }, /w1 refuses the checkpoint with the status 500/],
    empty: [{ ok: true, status: 200, body: "" }, /w1 has not signed with the key/],
    garbage: [{ ok: true, status: 200, body: "<html>" }, /w1 answers with something else than signatures/],
    "unknown size": [{ ok: true, status: 409, body: "many\n" }, /w1 answers that it knows another size/],
    "own size": [{ ok: true, status: 409, body: "0\n" }, /w1 answers that it knows another size/],
    "larger size": [
      { ok: true, status: 409, body: "900\n" },
      /w1 says that it knows this log with 900 leaves.*refuses|shows/,
    ],
    "another history": [{ ok: true, status: 422, body: "" }, /w1 says that it knows another history.*shows no proof/],
  };
  for (const [name, [answer, sentence]] of Object.entries(told)) {
    const { clock, all, config } = world(["w1", "w2", "w3"], "quorum none");
    const call: Call = (it) => (it.url.startsWith("http://w1") ? Promise.resolve(answer) : all.call(it));
    const one = witnessedNode({ config, call, clock });
    one.node.size = 20;
    for (let round = 0; round < 3; round += 1) {
      one.node.size += 1;
      clock.ms += ROUND_MS;
      await one.rounds.run();
    }
    assert.is(one.failures.length, 1, `${name}: ${one.failures.join()}`);
    assert.match(one.failures[0] ?? "", sentence);
    assert.equal(one.contradictions, [], name);
    assert.is((await one.newest())?.size, 23, name);
    assert.ok(one.outcomes.includes("example.com/w1 failed") && one.outcomes.includes("example.com/w2 cosigned"));
    all.close();
  }
});

test("a witness that never answers delays no record, and is not asked again meanwhile", async () => {
  const { clock, all, config } = world();
  let hanging = 0;
  const call: Call = (it) => {
    if (!it.url.startsWith("http://w1")) return all.call(it);
    hanging += 1;
    return new Promise(() => undefined);
  };
  const one = witnessedNode({ config, call, clock });
  for (const size of [5, 6, 7]) {
    one.node.size = size;
    clock.ms += ROUND_MS;
    await one.rounds.run();
    assert.is((await one.newest())?.size, size);
  }
  assert.is(hanging, 1);
  all.close();
});

test("a signature of another key, of another checkpoint or of a time to come is no cosignature", async () => {
  const { clock, all, config } = world(["w1", "w2"], "quorum w1");
  const other = witnesses(folder, ["w1"], clock);
  const cases: readonly [Call, RegExp][] = [
    [other.call, /has not signed with the key that is configured/],
    [
      async (it) => {
        const answer = await all.call(it);
        return answer.ok ? { ...answer, body: answer.body.replace(/.{8}=*\n$/, "AAAAAAA=\n") } : answer;
      },
      /wrong signature|something else than signatures/,
    ],
    [
      async (it) => {
        clock.ms += 3_600_000;
        const answer = await all.call(it);
        clock.ms -= 3_600_000;
        return answer;
      },
      /has signed a time that has not come yet/,
    ],
  ];
  for (const [call, sentence] of cases) {
    const one = witnessedNode({ config: { ...config, witnesses: config.witnesses.slice(0, 1) }, call, clock });
    one.node.size = 50;
    await one.rounds.run();
    assert.match(one.failures[0] ?? "", sentence);
    assert.is(await one.newest(), null);
    assert.not(one.rounds.healthy());
  }
  all.close();
  other.close();
});

test("without its quorum nothing is recorded", async () => {
  const { clock, all, config } = world();
  const call: Call = (it) =>
    it.url.startsWith("http://w3") ? all.call(it) : Promise.resolve({ ok: false, problem: "x" });
  const one = witnessedNode({ config, call, clock });
  one.node.size = 5;
  await one.rounds.run();
  assert.is(await one.log.last(WITNESSED_STREAM), null);
  assert.is(one.failures.length, 2);
  all.close();
});

test("a rolled back log is found at the start, by a checkpoint that it has signed itself", async () => {
  const { clock, all, config } = world();
  const before = witnessedNode({ config, call: all.call, clock });
  before.node.size = 40;
  await before.rounds.run();
  const after = witnessedNode({ config, call: all.call, clock });
  after.node.size = 30;
  for (let round = 0; round < 5; round += 1) await after.rounds.run();
  assert.equal(after.contradictions, [], "another node may have sealed what this one has not folded yet");
  await after.rounds.run();
  assert.match(after.contradictions[0] ?? "", /rolled back or changed: .* with 40 leaves, and the log has 30\./);
  assert.is(await after.newest(), null);
  all.close();
});

test("a node that still folds takes no larger tree for a rolled back log", async () => {
  const { clock, all, config } = world();
  const before = witnessedNode({ config, call: all.call, clock });
  before.node.size = 40;
  await before.rounds.run();
  const after = witnessedNode({ config, call: all.call, clock });
  Object.assign(after.node, { size: 30, isCurrent: false });
  for (let round = 0; round < 20; round += 1) await after.rounds.run();
  assert.equal(after.contradictions, []);
  all.close();
});

test("a log that was changed below what a witness knows is found in the first round", async () => {
  const { clock, all, config } = world();
  const before = witnessedNode({ config, call: all.call, clock });
  before.node.size = 40;
  await before.rounds.run();
  const after = witnessedNode({ node: nodeTree(fork), config, call: all.call, clock });
  after.node.size = 50;
  await after.rounds.run();
  assert.match(after.contradictions[0] ?? "", /with another root at 40 leaves than the log has now/);
  all.close();
});

test("a log that was rolled back and goes on is found when it has as many leaves again", async () => {
  const { clock, all, config } = world();
  const before = witnessedNode({ config, call: all.call, clock });
  before.node.size = 40;
  await before.rounds.run();
  const after = witnessedNode({ node: nodeTree(fork), config, call: all.call, clock });
  after.node.size = 30;
  await after.rounds.run();
  assert.equal(after.contradictions, []);
  after.node.size = 45;
  await after.rounds.run();
  assert.is(after.contradictions.length, 3);
  await after.rounds.run();
  assert.is(after.contradictions.length, 3, "each is told once");
  all.close();
});

test("a record that is not this log's, not cosigned or not of this tree is not believed", async () => {
  const { clock, all, config } = world();
  const one = witnessedNode({ config, call: all.call, clock });
  one.node.size = 5;
  await one.rounds.run();
  const genuine = await one.newest();
  assert.is(genuine?.size, 5);
  const [, ...cosignatures] = (genuine?.note ?? "").split("\n\n")[1]?.split("\n").slice(0, -1) ?? [];
  const lines = `${cosignatures.join("\n")}\n`;
  const own = signedTree(INSTANCE, LOG.signer);
  const notes = [
    own.checkpoint(7),
    own.checkpoint(7) + lines,
    fork.checkpoint(5) + lines,
    own.checkpoint(5).replace(/— .*\n/, lines),
    "no note",
  ];
  one.node.size = 9;
  for (const [index, note] of notes.entries()) {
    const at = new Date(clock.ms).toISOString();
    const facts = [{ type: "CheckpointCosigned", data: { note } }];
    const events = toEvents(facts, systemEnvelope({ commandId: `forged/${index}`, at, actor: "witnesses" }));
    await one.log.append(WITNESSED_STREAM, "any", events);
    assert.is((await one.newest())?.note, genuine?.note, `note ${index}`);
  }
  all.close();
});

test("two nodes that race record one checkpoint, and sizes only grow", async () => {
  const { clock, all, config } = world();
  const log = memoryEventLog();
  const nodes = [1, 2].map(() => witnessedNode({ log, config, call: all.call, clock }));
  for (let size = 3; size < 40; size += 3) {
    clock.ms += ROUND_MS;
    await Promise.all(
      nodes.map(({ node, rounds }, index) => {
        node.size = size - index;
        return rounds.run();
      }),
    );
  }
  const records = await log.read(WITNESSED_STREAM, null, 100);
  const sizes = records.map(({ data }) => Number(String(data.note).split("\n")[1]));
  assert.equal(
    sizes,
    [...sizes].sort((a, b) => a - b),
  );
  assert.ok(sizes.length >= 12);
  assert.equal(
    nodes.flatMap(({ contradictions }) => contradictions),
    [],
  );
  assert.is((await log.read(HOURLY_STREAM, null, 100)).length, 1);
  all.close();
});

test.run();
