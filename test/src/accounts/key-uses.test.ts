import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { accountTerms } from "../../../src/accounts/account-terms.ts";
import { recordingKeyUses } from "../../../src/accounts/key-uses.ts";
import { accountsWorld } from "../../support/accounts-world.ts";
import { failingLog } from "../../support/failing-log.ts";

const test = suite("uses of API keys");

type World = ReturnType<typeof accountsWorld>;
type Node = Pick<World, "aggregates" | "authenticate">;

const using = ({ world }: World, { aggregates, authenticate }: Node, onError: (error: unknown) => void) => {
  const clock = { now: () => world.now };
  return recordingKeyUses(authenticate, {
    ...{ aggregates, clock, onError },
    timeZoneOf: accountTerms(aggregates, clock).timeZoneOf,
  });
};

/** An account with a key, and two nodes that record its uses; `failures` counts the uses that could not be recorded. */
const withKey = async (settings: Parameters<typeof accountsWorld>[0] = {}) => {
  const all = accountsWorld(settings);
  const owner = await all.openAccount("ana@shop.example");
  const made = await all.call("POST", "/v1/api-keys", { principal: owner, body: { name: "ci" } });
  const presented = { kind: "bearer", token: String(made.body.key) } as const;
  let failures = 0;
  const onError = (): void => {
    failures += 1;
  };
  const nodes = [all, all.another()].map((node) => using(all, node, onError));
  const use = (nth = 0) => nodes[nth]?.(presented);
  const uses = async () => (await all.log.readAll(null, 500)).filter(({ type }) => type === "ApiKeyUsed");
  const lastUse = async () => {
    await all.project();
    const { body } = await all.call("GET", "/v1/api-keys", { principal: owner });
    return (body.data as { last_used_at: string | null }[])[0]?.last_used_at;
  };
  return { ...all, id: made.body.id, account: owner.account, use, uses, lastUse, failures: () => failures, using };
};

const DAY_MS = 86_400_000;

test("a key says on which day it was last used: the first call of each day is recorded, and no other", async () => {
  const { use, uses, lastUse, world, id, account } = await withKey();
  assert.is(await lastUse(), null);
  assert.equal(await use(), { kind: "key", account, id, role: "admin" });
  world.now += 60_000;
  await use();
  assert.is(await lastUse(), "2026-03-01T12:00:00.000Z");
  world.now += DAY_MS;
  await use();
  await use();
  assert.is(await lastUse(), "2026-03-02T12:01:00.000Z");
  const records = await uses();
  assert.equal(
    records.map(({ data }) => data.day),
    ["2026-03-01", "2026-03-02"],
  );
  for (const { meta } of records) assert.equal([meta.account, meta.actor], [account, { kind: "key", id }]);
});

test("calls at once on two nodes are one record", async () => {
  const { use, uses } = await withKey();
  await Promise.all([use(0), use(1), use(0), use(1)]);
  assert.is((await uses()).length, 1);
});

test("a call is answered although its use cannot be recorded, and the next minute's tries again", async () => {
  const log = memoryEventLog();
  let isFull = false;
  const { use, uses, failures, world } = await withKey({
    log: failingLog(log, (stream) => isFull && stream.startsWith("apikey-")),
  });
  isFull = true;
  assert.ok(await use());
  assert.ok(await use());
  assert.is(failures(), 1);
  isFull = false;
  world.now += 60_000;
  assert.ok(await use());
  assert.is((await uses()).length, 1);
});

test("a key that opens nothing, and a session, leave no such record", async () => {
  const all = accountsWorld();
  const token = all.cookieOf(await all.signUp("ana@shop.example"));
  const authenticate = using(all, all, () => assert.unreachable());
  assert.is(await authenticate({ kind: "bearer", token: `csk_${"0".repeat(36)}` }), null);
  assert.ok(await authenticate({ kind: "session", token }));
  assert.not.ok((await all.types()).includes("ApiKeyUsed"));
});

test.run();
