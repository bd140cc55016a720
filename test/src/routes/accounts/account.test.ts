import { suite } from "uvu";
import * as assert from "uvu/assert";
import { accountsWorld } from "../../../support/accounts-world.ts";

const test = suite("the account's name and time zone");

const withOwner = async () => {
  const it = accountsWorld();
  const owner = await it.openAccount("ana@shop.example");
  const change = (body: object) => it.call("PATCH", "/v1/account", { principal: owner, body });
  const me = async () => (await it.call("GET", "/v1/auth/me", { principal: owner })).body.account;
  return { ...it, owner, change, me };
};

test("both can be changed, together or alone, and each change is a record of its maker", async () => {
  const { change, me, log, owner } = await withOwner();
  const changed = await change({ name: " Shop Two ", time_zone: "europe/berlin" });
  assert.is(changed.outcome, 200);
  const { id, plan } = changed.body;
  assert.equal(changed.body, { id, name: "Shop Two", plan, time_zone: "Europe/Berlin" });
  assert.equal(await me(), changed.body);
  assert.is((await change({ time_zone: "Asia/Tokyo" })).body.name, "Shop Two");
  // What is as it was is no change.
  assert.is((await change({ name: "Shop Two" })).outcome, 200);
  const records = (await log.readAll(null, 100)).filter(({ type }) => type === "AccountChanged");
  assert.equal(
    records.map(({ data }) => data.changes),
    [{ name: "Shop Two", time_zone: "Europe/Berlin" }, { time_zone: "Asia/Tokyo" }],
  );
  for (const { meta } of records) assert.equal(meta.actor, { kind: "member", id: owner.id });
});

test("an unknown zone, and an offset, which knows no summer time, is refused", async () => {
  const { change, me } = await withOwner();
  for (const time_zone of ["Mars/Olympus", "+01:00"]) {
    const refused = await change({ name: "Shop Two", time_zone });
    assert.is(refused.outcome, "invalid-request");
  }
  assert.is.not(((await me()) as { name: string }).name, "Shop Two");
});

test("only an owner or an admin with a session may", async () => {
  const { routes } = await withOwner();
  const found = routes.find(({ method, path }) => method === "PATCH" && path === "/v1/account");
  assert.equal(found?.who, { session: "admin" });
});

test.run();
