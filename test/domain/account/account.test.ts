import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { AccountCommand } from "../../../domain/account/commands.ts";
import { API_KEYS_MAX, account, MEMBERS_MAX } from "../../../domain/account/decider.ts";
import type { AccountEvent, Role } from "../../../domain/account/events.ts";
import { fold } from "../../../domain/decider.ts";
import { specFor } from "../../support/given.ts";

const given = specFor(account);
const at = "2026-03-01T12:00:00.000Z";
const of = { account: "acc_1" };

const opened: AccountEvent = {
  type: "AccountOpened",
  data: { ...of, name: "shop", plan: "free", time_zone: "UTC", at },
};
const added = (member: string, role: Role): AccountEvent => ({
  type: "MemberAdded",
  data: { ...of, member, email: `${member}@a.example`, role, at },
});
const removed = (member: string): AccountEvent => ({
  type: "MemberRemoved",
  data: { ...of, member, email: `${member}@a.example`, at },
});
const open = {
  type: "OpenAccount",
  ...of,
  name: "shop",
  plan: "free",
  time_zone: "UTC",
  member: "ana",
  email: "ana@a.example",
  role: "owner",
  at,
} as const;
const add = (member: string): AccountCommand => ({
  type: "AddMember",
  member,
  email: `${member}@a.example`,
  role: "viewer",
  at,
});
const remove = (member: string): AccountCommand => ({ type: "RemoveMember", member, at });

const key = (id: string, expires_at: string | null = null) =>
  ({ key_id: id, name: "ci", role: "admin", digest: `digest of ${id}`, last4: "abcd", expires_at, at }) as const;
const create = (id: string, expires_at: string | null = null): AccountCommand => ({
  type: "CreateApiKey",
  ...key(id, expires_at),
});
const created = (id: string, expires_at: string | null = null): AccountEvent => ({
  type: "ApiKeyCreated",
  data: { ...of, ...key(id, expires_at) },
});
const revoke = (id: string): AccountCommand => ({ type: "RevokeApiKey", key_id: id, at });
const revoked = (id: string): AccountEvent => ({ type: "ApiKeyRevoked", data: { ...of, key_id: id, at } });

const owned = [opened, added("ana", "owner")] as const;
const test = suite("account");

test("opening makes the account and its first member", () =>
  given()
    .when(open)
    .then(...owned));
test("opening an open account changes nothing", () =>
  given(...owned)
    .when(open)
    .thenNothing());
test("nobody joins an account that is not there", () => given().when(add("bo")).rejects("account-absent"));
test("a member is added once", () => {
  given(...owned)
    .when(add("bo"))
    .then(added("bo", "viewer"));
  given(...owned, added("bo", "viewer"))
    .when(add("bo"))
    .thenNothing();
});
test("an old command does not bring back a removed member", () =>
  given(...owned, added("bo", "viewer"), removed("bo"))
    .when(add("bo"))
    .thenNothing());
test("an account has a bounded number of members, and a removal makes room", () => {
  const full = Array.from({ length: MEMBERS_MAX - 1 }, (_, i) => added(`m${i}`, "viewer"));
  given(...owned, ...full)
    .when(add("bo"))
    .rejects("member-limit");
  given(...owned, ...full, removed("m0"))
    .when(add("bo"))
    .then(added("bo", "viewer"));
});
test("the last owner stays, one of two may go", () => {
  given(...owned, added("bo", "admin"))
    .when(remove("ana"))
    .rejects("last-owner");
  given(...owned, added("bo", "owner"))
    .when(remove("ana"))
    .then(removed("ana"));
});
test("a member that is not there, or no longer, cannot be removed", () => {
  given(...owned)
    .when(remove("constructor"))
    .rejects("member-absent");
  given(...owned, added("bo", "viewer"), removed("bo"))
    .when(remove("bo"))
    .rejects("member-absent");
});
test("a key is created once and never again after its end", () => {
  given(...owned)
    .when(create("k1"))
    .then(created("k1"));
  given(...owned, created("k1"))
    .when(create("k1"))
    .thenNothing();
  given(...owned, created("k1"), revoked("k1"))
    .when(create("k1"))
    .thenNothing();
});
test("a key that would be expired from the start is refused", () => {
  given(...owned)
    .when(create("k1", at))
    .rejects("expiry-past");
  given(...owned)
    .when(create("k1", "2026-03-01T12:00:00.001Z"))
    .then(created("k1", "2026-03-01T12:00:00.001Z"));
});
test("active keys are limited, expired and revoked ones are not counted", () => {
  const keys = Array.from({ length: API_KEYS_MAX }, (_, i) => created(`k${i}`));
  given(...owned, ...keys)
    .when(create("one more"))
    .rejects("key-limit");
  given(...owned, ...keys, revoked("k0"))
    .when(create("one more"))
    .then(created("one more"));
  given(...owned, ...keys.slice(1), created("k0", at))
    .when(create("one more"))
    .then(created("one more"));
});
test("a key is revoked once", () => {
  given(...owned, created("k1"))
    .when(revoke("k1"))
    .then(revoked("k1"));
  given(...owned, created("k1"), revoked("k1"))
    .when(revoke("k1"))
    .rejects("key-absent");
  given(...owned)
    .when(revoke("__proto__"))
    .rejects("key-absent");
});
test("what is remembered of the gone is bounded", () => {
  const churn = Array.from({ length: 1_500 }, (_, i) => [created(`k${i}`), revoked(`k${i}`)]).flat();
  const state = fold(account, [...owned, ...churn]);
  assert.ok(state.phase === "open" && state.gone.size === 1_000 && state.gone.has("k1499") && !state.gone.has("k0"));
});
test.run();
