import { suite } from "uvu";
import * as assert from "uvu/assert";
import { filterKeyOf, KEY_FILTERS, whyNotProvedBy } from "../../../domain/evidence/filter-keys.ts";

const test = suite("filters of an export that are keys");

const idOf = (prefix: string): string => `${prefix}${"a2".repeat(16)}`;
const ACCOUNT = idOf("acc_");
const KINDS: Readonly<Record<string, string>> = {
  event_id: "evt_",
  source_id: "src_",
  agent_id: "agt_",
  endpoint_id: "end_",
  policy_id: "pol_",
  approval_id: "apr_",
  bundle_id: "bun_",
  member_id: "mem_",
};

const isKey = (name: string, value: string): boolean => "key" in filterKeyOf(name, value, ACCOUNT);

test("each filter by a kind of id takes ids of this kind alone", () => {
  assert.equal([...KEY_FILTERS].sort(), [...Object.keys(KINDS), "action"].sort());
  for (const [name, prefix] of Object.entries(KINDS)) {
    assert.equal(filterKeyOf(name, idOf(prefix), ACCOUNT), { key: idOf(prefix) });
    for (const other of [...Object.values(KINDS).filter((it) => it !== prefix), "acc_", "key_"])
      assert.not.ok(isKey(name, idOf(other)), `${name}=${idOf(other)}`);
    const found = filterKeyOf(name, "run-7", ACCOUNT);
    assert.match("must" in found ? found.must : "", prefix);
  }
});

test("a mistyped id can be no key", () => {
  const id = idOf("agt_");
  const mistyped = [
    id.slice(0, -1),
    `${id}a`,
    `${id} `,
    ` ${id}`,
    `${id}\n`,
    id.toUpperCase(),
    id.replace("2", "1"),
    "",
  ];
  for (const value of mistyped)
    for (const name of ["agent_id", "actor", "subject"])
      assert.not.ok(isKey(name, value), JSON.stringify([name, value]));
});

test("actor and subject take an id of any kind, except the account's own", () => {
  for (const name of ["actor", "subject"]) {
    for (const prefix of [...Object.values(KINDS), "key_", "ses_"]) assert.ok(isKey(name, idOf(prefix)));
    assert.not.ok(isKey(name, ACCOUNT));
    for (const value of ["deliverer", "refund.create"]) assert.not.ok(isKey(name, value));
  }
});

test("an action is a key under its name", () => {
  assert.equal(filterKeyOf("action", "refund.create", ACCOUNT), { key: "action:refund.create" });
  for (const value of ["refund.create ", "Refund", "", ".", "refund..create", "a".repeat(101)])
    assert.not.ok(isKey("action", value), value);
});

test("a proof of one key answers no filter by another, by none, or by several", () => {
  const agent = idOf("agt_");
  assert.is(whyNotProvedBy({ agent_id: agent }, agent, ACCOUNT), null);
  assert.is(whyNotProvedBy({ subject: agent }, agent, ACCOUNT), null);
  for (const filter of [
    {},
    { agent_id: agent, subject: agent },
    { event_id: agent },
    { agent_id: idOf("agt_").replace("2", "3") },
    { type: agent },
    { stream: agent },
  ])
    assert.type(whyNotProvedBy(filter, agent, ACCOUNT), "string", JSON.stringify(filter));
});

test.run();
