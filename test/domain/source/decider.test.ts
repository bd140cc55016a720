import { suite } from "uvu";
import * as assert from "uvu/assert";
import { fold } from "../../../domain/decider.ts";
import { activeMakers, activeSecrets, SECRETS_MAX, source } from "../../../domain/source/decider.ts";
import type { SourceEvent, SourceSettings } from "../../../domain/source/events.ts";
import { specFor } from "../../support/given.ts";

const test = suite("source");
const given = specFor(source);

const at = "2026-03-01T12:00:00.000Z";
const later = "2026-03-01T13:00:00.000Z";
const until = "2026-03-02T12:00:00.000Z";
const account = "acc_1";
const settings: SourceSettings = { name: "shop", policy_id: "pol_1", endpoint_id: "end_1", status: "active" };
const register = {
  type: "RegisterSource",
  sourceId: "src_1",
  account,
  provider: "stripe",
  auth: null,
  dedupe: null,
  settings,
  secret: "sealed-1",
  madeBy: "mem_1",
  at,
} as const;
const registered: SourceEvent = {
  type: "SourceRegistered",
  data: {
    ...settings,
    source_id: "src_1",
    account,
    type: "stripe",
    auth: null,
    dedupe: null,
    secret: "sealed-1",
    made_by: "mem_1",
    at,
  },
};
const rotated = (secret: string, when: string, previous_until: string): SourceEvent => ({
  type: "SourceSecretRotated",
  data: { source_id: "src_1", secret, made_by: "mem_2", previous_until, at: when },
});
const deleted: SourceEvent = { type: "SourceDeleted", data: { source_id: "src_1", at } };

test("a source is registered once; the same account's repeat changes nothing", () => {
  given().when(register).then(registered);
  given(registered).when(register).thenNothing();
  given(registered)
    .when({ ...register, account: "acc_2" })
    .rejects("conflict");
  given(registered, deleted).when(register).rejects("conflict");
});

test("only what differs is recorded as changed", () => {
  given(registered)
    .when({ type: "ChangeSource", account, changes: { name: "shop", policy_id: null, status: "paused" }, at: later })
    .then({
      type: "SourceChanged",
      data: { source_id: "src_1", changes: { policy_id: null, status: "paused" }, at: later },
    });
  given(registered)
    .when({ type: "ChangeSource", account, changes: { ...settings }, at: later })
    .thenNothing();
  given(registered).when({ type: "ChangeSource", account, changes: {}, at: later }).thenNothing();
});

test("a source of another account is not found, and neither is a deleted one", () => {
  for (const state of [[], [registered, deleted], [registered]] as const) {
    const asker = state.length === 1 ? "acc_2" : account;
    const change = { type: "ChangeSource", account: asker, changes: { name: "x" }, at } as const;
    const rotate = {
      type: "RotateSourceSecret",
      account: asker,
      secret: "s",
      madeBy: "mem_2",
      previousUntil: until,
      at,
    } as const;
    given(...state)
      .when(change)
      .rejects("not-found");
    given(...state)
      .when(rotate)
      .rejects("not-found");
    given(...state)
      .when({ type: "DeleteSource", account: asker, at })
      .rejects("not-found");
  }
  given(registered).when({ type: "DeleteSource", account, at }).then(deleted);
});

const secretsAt = (when: string, ...events: SourceEvent[]): readonly string[] => {
  const state = fold(source, events);
  return state.phase === "present" ? activeSecrets(state, when) : [];
};

test("after a rotation both secrets are valid until the first one ends, the newest first", () => {
  given(registered)
    .when({ type: "RotateSourceSecret", account, secret: "sealed-2", madeBy: "mem_2", previousUntil: until, at })
    .then(rotated("sealed-2", at, until));
  const events = [registered, rotated("sealed-2", at, until)];
  assert.equal(secretsAt(later, ...events), ["sealed-2", "sealed-1"]);
  assert.equal(secretsAt("2026-03-02T11:59:59.999Z", ...events), ["sealed-2", "sealed-1"]);
  assert.equal(secretsAt(until, ...events), ["sealed-2"]);
});

test("the makers of all valid secrets could have sent a request", () => {
  const state = fold(source, [registered, rotated("sealed-2", at, until)]);
  assert.ok(state.phase === "present");
  assert.equal(activeMakers(state, later), ["mem_2", "mem_1"]);
  assert.equal(activeMakers(state, until), ["mem_2"]);
});

test("a second rotation does not cut off a sender that still has the first secret", () => {
  const end = "2026-03-02T13:00:00.000Z";
  const events = [registered, rotated("sealed-2", at, until), rotated("sealed-3", later, end)];
  assert.equal(secretsAt(later, ...events), ["sealed-3", "sealed-2", "sealed-1"]);
  assert.equal(secretsAt(until, ...events), ["sealed-3", "sealed-2"]);
  assert.equal(secretsAt(end, ...events), ["sealed-3"]);
});

test("the number of valid secrets is bounded", () => {
  const events: SourceEvent[] = [registered];
  for (let index = 2; index <= SECRETS_MAX; index += 1) events.push(rotated(`sealed-${index}`, at, until));
  const rotate = {
    type: "RotateSourceSecret",
    account,
    secret: "one more",
    madeBy: "mem_2",
    previousUntil: until,
  } as const;
  given(...events)
    .when({ ...rotate, at: later })
    .rejects("too-many-secrets");
  given(...events)
    .when({ ...rotate, at: until })
    .then(rotated("one more", until, until));
});

test("counted rejects change no state, also after a deletion", () => {
  const counted: SourceEvent = {
    type: "SourceRejectsCounted",
    data: {
      source_id: "src_1",
      minute: at,
      counts: { missing: 2 },
      clients: {},
      at,
    },
  };
  assert.is(fold(source, [registered, counted]).phase, "present");
  assert.equal(fold(source, [registered, deleted, counted]), { phase: "deleted", account });
});

test.run();
