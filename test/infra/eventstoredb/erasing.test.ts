import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { eventStoreLog } from "../../../infra/eventstoredb/event-log.ts";
import { event, idsOf, newStream } from "../../contract/event-log-events.ts";
import { type EventStoreDouble, startEventStoreDouble } from "../../support/eventstore-double/server.ts";

/** What is left on the server's disk of what was erased. */
const test = suite("erasing in EventStoreDB");

const SECRET = "a person's address";

const over = async (run: (log: EventLog, double: EventStoreDouble) => Promise<void>): Promise<void> => {
  const double = await startEventStoreDouble();
  const log = await eventStoreLog({ url: double.url });
  try {
    await run(log, double);
  } finally {
    await log.close();
    await double.stop();
  }
};

const isOnDisk = ({ state }: EventStoreDouble): boolean =>
  state.log.some(({ data }) => Buffer.from(data).includes(SECRET));

test("after a scavenge nothing of an erased payload is left, not even of the stream's last event", () =>
  over(async (log, double) => {
    const [stream, later] = [newStream("payload"), newStream()];
    await log.append(stream, "absent", [event({ body: SECRET }), event({ response: SECRET })]);
    const kept = event();
    await log.append(later, "absent", [kept]);
    assert.ok(isOnDisk(double));
    assert.is(log.bytesRemoved, "with-the-next-scavenge");
    await log.erase(stream);
    assert.equal(idsOf(await log.readAll(null, 10)), [kept.id], "hidden at once");
    assert.is(await log.head(), (await log.last(later))?.position);
    double.scavenge();
    assert.not(isOnDisk(double), "gone with the scavenge");
    assert.is((await log.append(stream, "absent", [event()])).outcome, "conflict");
    assert.equal(idsOf(await log.readAll(null, 10)), [kept.id]);
  }));

test("after a scavenge nothing is left of what was erased in front of something that stays", () =>
  over(async (log, double) => {
    const stream = newStream("payload");
    await log.append(stream, "absent", [event({ body: SECRET }), event({ response: SECRET })]);
    const kept = event();
    await log.append(stream, 1, [kept]);
    await log.erase(stream, 1);
    double.scavenge();
    assert.not(isOnDisk(double));
    assert.equal(idsOf(await log.read(stream, null, 10)), [kept.id]);
    assert.equal(idsOf(await log.readAll(null, 10)), [kept.id]);
    await log.erase(stream, 2);
    assert.equal(await log.read(stream, null, 10), []);
    assert.is((await log.append(stream, 2, [event()])).outcome, "conflict", "a blank stands behind it");
  }));

test("an erasure that was cut off between its two writes is finished by the next one", () =>
  over(async (log, double) => {
    const stream = newStream("payload");
    await log.append(stream, "absent", [event({ body: SECRET })]);
    // For all of the erasure's tries.
    const refused = double.misbehave(
      { how: "error", code: 7 },
      { method: "append", where: ({ stream: of }) => of?.startsWith("$$") === true, times: 1_000 },
    );
    await log.erase(stream).then(
      () => assert.unreachable("it is said to be erased"),
      () => undefined,
    );
    refused.stop();
    // Whoever looks whether anything is left to erase finds it.
    assert.is((await log.last(stream))?.revision, 0);
    await log.erase(stream);
    assert.is(await log.last(stream), null);
    double.scavenge();
    assert.not(isOnDisk(double));
    assert.equal(await log.read(stream, null, 10), []);
  }));

test.run();
