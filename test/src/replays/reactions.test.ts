import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Job } from "../../../src/delivery/job.ts";
import { replayReactions } from "../../../src/replays/reactions.ts";
import { replayStream } from "../../../src/replays/stream.ts";
import { ACCOUNT, ENDPOINT_ID, replayIdOf, replayNode, replayWorld } from "../../support/replay-world.ts";

const test = suite("what follows from a replay");

test("a singly replayed event is offered to the deliverer at once; the events of a bulk replay are not", async () => {
  const world = await replayWorld();
  const [alone, ofMany] = [await world.failed(1), await world.failed(2)];
  const node = await replayNode(world);
  try {
    await node.replay(alone, 1);
    await world.add(replayStream(replayIdOf(2)), "ReplayStarted", { replay_id: replayIdOf(2), account: ACCOUNT });
    await node.replay(ofMany, 2, { upTo: (await world.log.head()) ?? "" });
    const offered: Job[] = [];
    const [reaction] = replayReactions({
      aggregates: node.streams,
      deliver: { offer: (job) => void offered.push(job) },
    });
    const records = await world.ofType("EventReplayed");
    assert.equal(
      records.map(({ data }) => data.event_id),
      [alone, ofMany],
    );
    assert.is(reaction?.on, "EventReplayed");
    for (const record of records) await reaction?.run(record);
    assert.equal(offered, [{ eventId: alone, account: ACCOUNT, endpointId: ENDPOINT_ID, kind: "replay" }]);
  } finally {
    await node.stop();
  }
});

test.run();
