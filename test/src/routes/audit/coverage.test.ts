import { suite } from "uvu";
import * as assert from "uvu/assert";
import { accountOf, appendRecord } from "../../../support/evidence-log.ts";
import { evidenceService } from "../../../support/evidence-service.ts";

const test = suite("GET /v1/audit/coverage");
const [A, B] = [accountOf(0), accountOf(1)];

test("it counts the records of one account, and those that the newest checkpoint covers", async () => {
  const world = await evidenceService();
  try {
    const coverage = async (account: string) => (await world.get(account, "/v1/audit/coverage")).body;
    assert.equal(await coverage(A), { records: 0, sealed: 0, witnessed: 0, newest_sealed_at: null });
    for (let n = 0; n < 5; n += 1) await appendRecord(world.log, A, n);
    await world.seal();
    const { newest_sealed_at: at, ...counts } = (await coverage(A)) as Record<string, unknown>;
    assert.equal(counts, { records: 5, sealed: 5, witnessed: 0 });
    const [newest] = (await world.log.readAll(null, 100, "records")).filter(({ meta }) => meta.account === A).slice(-1);
    assert.is(at, newest?.meta.recorded_at);
    assert.is(((await coverage(B)) as { records: unknown }).records, 0);
  } finally {
    await world.stop();
  }
});

test.run();
