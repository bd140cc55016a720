import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { AccountCommand } from "../../../domain/account/commands.ts";
import { API_KEYS_MAX, account } from "../../../domain/account/decider.ts";
import type { AccountEvent, LinkMaker, Role } from "../../../domain/account/events.ts";
import { PLANS } from "../../../domain/account/plans.ts";
import { fold } from "../../../domain/decider.ts";
import { specFor } from "../../support/given.ts";
import { CLIENT } from "../../support/members.ts";
import { addressed } from "../../support/personal-words.ts";

const given = specFor(account);
const at = "2026-03-01T12:00:00.000Z";
const of = { account: "acc_1" };

const by: LinkMaker = { kind: "member", id: "ana" };

const opened: AccountEvent = {
  type: "AccountOpened",
  data: { ...of, name: "shop", plan: "free", time_zone: "UTC", at },
};
const added = (member: string, role: Role): AccountEvent => ({
  type: "MemberAdded",
  data: {
    ...of,
    member,
    ...addressed(`${member}@a.example`),
    role,
    grant: `${role} ${member}`,
    password: `of ${member}`,
    client: CLIENT,
    invited_by: by,
    at,
  },
});
const founded: AccountEvent = {
  type: "MemberAdded",
  data: {
    ...of,
    member: "ana",
    ...addressed("ana@a.example"),
    role: "owner",
    grant: "owner ana",
    password: "of ana",
    client: CLIENT,
    invited_by: null,
    at,
  },
};
const changed = (changes: { name?: string; time_zone?: string }): AccountEvent => ({
  type: "AccountChanged",
  data: { ...of, changes, at },
});
const link = { mac: "its mac", expires_at: "2026-03-08T12:00:00.000Z", by };
const late = link.expires_at;
const invited = (member: string, role: Role = "viewer", more: Partial<typeof link> = {}): AccountEvent => ({
  type: "MemberInvited",
  data: { ...of, member, ...addressed(`${member}@a.example`), role, grant: `${role} ${member}`, ...link, ...more, at },
});
const withdrawn = (member: string): AccountEvent => ({ type: "InvitationWithdrawn", data: { ...of, member, at } });
const removed = (member: string): AccountEvent => ({
  type: "MemberRemoved",
  data: { ...of, member, address: addressed(`${member}@a.example`).address, at },
});
const open = {
  type: "OpenAccount",
  ...of,
  name: "shop",
  plan: "free",
  time_zone: "UTC",
  member: "ana",
  ...addressed("ana@a.example"),
  grant: "owner ana",
  password: "of ana",
  client: CLIENT,
  at,
} as const;
const invite = (member: string, role: Role = "viewer"): AccountCommand => ({
  type: "InviteMember",
  member,
  ...addressed(`${member}@a.example`),
  role,
  grant: `${role} ${member}`,
  ...link,
  at,
});
const acceptance = (member: string, when = at): AccountCommand => ({
  type: "AcceptInvitation",
  member,
  password: `of ${member}`,
  client: CLIENT,
  at: when,
});
const roleChanged = (member: string, previous_role: Role, role: Role): AccountEvent => ({
  type: "MemberRoleChanged",
  data: { ...of, member, role, grant: `${role} ${member}`, previous_role, at },
});
const remove = (member: string): AccountCommand => ({ type: "RemoveMember", member, by, at });

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

const owned = [opened, founded] as const;
const test = suite("account");

test("opening makes the account and its first member", () =>
  given()
    .when(open)
    .then(...owned));
test("opening an open account changes nothing", () =>
  given(...owned)
    .when(open)
    .thenNothing());
test("an account that does not exist invites nobody", () => given().when(invite("bo")).rejects("account-absent"));
test("an invitation makes a member once, and an old one does not bring back a removed member", () => {
  given(...owned)
    .when(invite("bo"))
    .then(invited("bo"));
  given(...owned, invited("bo"))
    .when(acceptance("bo"))
    .then(added("bo", "viewer"));
  given(...owned, invited("bo"), added("bo", "viewer"))
    .when(acceptance("bo"))
    .thenNothing();
  given(...owned, invited("bo"), added("bo", "viewer"), removed("bo"))
    .when(acceptance("bo"))
    .rejects("link-gone");
});
test("an invitation ends when it expires, is withdrawn, or its maker is no longer an owner", () => {
  given(...owned, invited("bo"))
    .when(acceptance("bo", late))
    .rejects("link-gone");
  given(...owned, invited("bo"))
    .when(remove("bo"))
    .then(withdrawn("bo"));
  given(...owned, invited("bo"), withdrawn("bo"))
    .when(acceptance("bo"))
    .rejects("link-gone");
  given(...owned, added("di", "owner"), invited("bo"), invited("cy", "admin", { by: { ...by, id: "di" } }))
    .when(remove("ana"))
    .then(removed("ana"), withdrawn("bo"));
});
test("a second invitation of an address replaces the first one, and a member's address is refused", () => {
  const again = { ...invite("bo2"), ...addressed("bo@a.example") } as AccountCommand;
  const data = { ...of, member: "bo2", ...addressed("bo@a.example"), role: "viewer", grant: "viewer bo2", ...link, at };
  given(...owned, invited("bo"))
    .when(again)
    .then(withdrawn("bo"), { type: "MemberInvited", data } as AccountEvent);
  given(...owned, added("bo", "viewer"))
    .when(again)
    .rejects("member-already");
});
test("members and open invitations are limited together; a removal or an expiry makes room", () => {
  const full = Array.from({ length: PLANS.free.counts.members - 2 }, (_, i) => added(`m${i}`, "viewer"));
  given(...owned, ...full, invited("cy"))
    .when(invite("bo"))
    .rejects("member-limit");
  given(...owned, ...full, invited("cy"), removed("m0"))
    .when(invite("bo"))
    .then(invited("bo"));
  given(...owned, ...full, invited("cy", "viewer", { expires_at: at }))
    .when(invite("bo"))
    .then(invited("bo"));
});
test("a role is changed once, and the last owner stays an owner", () => {
  const change = (member: string, role: Role): AccountCommand => ({
    type: "ChangeRole",
    member,
    role,
    grant: `${role} ${member}`,
    by,
    at,
  });
  given(...owned, added("bo", "viewer"))
    .when(change("bo", "approver"))
    .then(roleChanged("bo", "viewer", "approver"));
  given(...owned, added("bo", "viewer"))
    .when(change("bo", "viewer"))
    .thenNothing();
  given(...owned, added("bo", "viewer"))
    .when(change("ana", "admin"))
    .rejects("last-owner");
  given(...owned, invited("bo"))
    .when(change("bo", "owner"))
    .rejects("member-absent");
});
test("a former owner makes no link, changes no role and removes nobody", () => {
  const resetLink = { type: "MakeResetLink", member: "bo", ...link, at } as const;
  const role = { type: "ChangeRole", member: "ana", role: "owner", grant: "owner ana", by, at } as const;
  const withOthers = [...owned, added("di", "owner"), added("bo", "viewer"), invited("cy")] as const;
  for (const ended of [removed("ana"), roleChanged("ana", "owner", "viewer")]) {
    const after = given(...withOthers, ended);
    for (const command of [invite("ed", "owner"), resetLink, remove("di"), remove("bo"), { ...role, member: "bo" }])
      after.when(command).rejects("not-owner");
  }
  given(...withOthers, roleChanged("ana", "owner", "viewer"))
    .when(role)
    .rejects("not-owner");
});
test("a reset link is used once, and only while its maker is an owner", () => {
  const resetLink: AccountEvent = { type: "ResetLinkMade", data: { ...of, member: "bo", ...link, at } };
  const reset = { type: "ResetPassword", member: "bo", mac: link.mac, password: "new", client: CLIENT, at } as const;
  const changed: AccountEvent = {
    type: "PasswordChanged",
    data: { ...of, member: "bo", epoch: 1, password: "new", client: CLIENT, keeps: null, reset_by: by, at },
  };
  const before = [...owned, added("bo", "viewer"), resetLink] as const;
  given(...before)
    .when(reset)
    .then(changed);
  given(...before, changed)
    .when(reset)
    .rejects("link-gone");
  given(...before)
    .when({ ...reset, at: late })
    .rejects("link-gone");
  given(...before)
    .when({ ...reset, mac: "another mac" })
    .rejects("link-gone");
  given(...before, added("di", "owner"), removed("ana"))
    .when(reset)
    .rejects("link-gone");
  given(...owned)
    .when({ type: "MakeResetLink", member: "ana", ...link, at })
    .rejects("own-reset");
});
test("a password that changed since it was verified is not changed again, and a change voids the reset link", () => {
  const resetLink: AccountEvent = { type: "ResetLinkMade", data: { ...of, member: "bo", ...link, at } };
  const change = {
    type: "ChangePassword",
    member: "bo",
    verified: "of bo",
    password: "new",
    client: CLIENT,
    keeps: "ses_1",
    at,
  } as const;
  const changed: AccountEvent = {
    type: "PasswordChanged",
    data: { ...of, member: "bo", epoch: 1, password: "new", client: CLIENT, keeps: "ses_1", reset_by: null, at },
  };
  const before = [...owned, added("bo", "viewer"), resetLink] as const;
  given(...before)
    .when(change)
    .then(changed);
  given(...before, changed)
    .when(change)
    .rejects("password-changed");
  given(...before, changed)
    .when({ type: "ResetPassword", member: "bo", mac: link.mac, password: "newer", client: CLIENT, at })
    .rejects("link-gone");
});
test("the last owner cannot be removed, one of two can", () => {
  given(...owned, added("bo", "admin"))
    .when(remove("ana"))
    .rejects("last-owner");
  given(...owned, added("bo", "owner"))
    .when(remove("ana"))
    .then(removed("ana"));
});
test("an unknown or removed member cannot be removed", () => {
  given(...owned)
    .when(remove("constructor"))
    .rejects("member-absent");
  given(...owned, added("bo", "viewer"), removed("bo"))
    .when(remove("bo"))
    .rejects("member-absent");
});
test("a key is created once, and not again after it was revoked", () => {
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
test("the list of removed ids is bounded", () => {
  const churn = Array.from({ length: 1_500 }, (_, i) => [created(`k${i}`), revoked(`k${i}`)]).flat();
  const state = fold(account, [...owned, ...churn]);
  assert.ok(state.phase === "open" && state.gone.size === 1_000 && state.gone.has("k1499") && !state.gone.has("k0"));
});
test("the record of another name or time zone has what has changed, and a repeat is no record", () => {
  const change = (changes: { name?: string; time_zone?: string }) => ({ type: "ChangeAccount", changes, at }) as const;
  given(opened, founded)
    .when(change({ name: "Shop Two", time_zone: "Europe/Berlin" }))
    .then(changed({ name: "Shop Two", time_zone: "Europe/Berlin" }));
  given(opened, founded)
    .when(change({ name: "shop", time_zone: "Europe/Berlin" }))
    .then(changed({ time_zone: "Europe/Berlin" }));
  given(opened, founded, changed({ name: "Shop Two" }))
    .when(change({ name: "Shop Two" }))
    .thenNothing();
  given(opened, founded).when(change({})).thenNothing();
  given()
    .when(change({ name: "Shop Two" }))
    .rejects("account-absent");
});

test.run();
