import { suite } from "uvu";
import * as assert from "uvu/assert";
import { fold } from "../../../domain/decider.ts";
import { activeSecrets, endpoint, SECRETS_MAX } from "../../../domain/endpoint/decider.ts";
import type { EndpointEvent, EndpointSettings } from "../../../domain/endpoint/events.ts";
import { specFor } from "../../support/given.ts";

const given = specFor(endpoint);
const at = "2026-03-01T12:00:00.000Z";
const tomorrow = "2026-03-02T12:00:00.000Z";
const account = "acc_1";
const endpoint_id = "end_1";

const settings: EndpointSettings = {
  name: "shop",
  url: "https://example.com/hook",
  timeout_ms: 15_000,
  retry_schedule_s: [5, 30],
  concurrency: 16,
  rate_per_second: null,
  headers: { authorization: { sealed: "sealed", digest: "d1" } },
  notifications: [],
  policy_id: null,
};

const registered: EndpointEvent = {
  type: "EndpointRegistered",
  data: { ...settings, endpoint_id, account, secret: "s1", at },
};
const rotated = (secret: string, when: string, previous_until: string): EndpointEvent => ({
  type: "EndpointSecretRotated",
  data: { endpoint_id, secret, previous_until, at: when },
});
const disabled: EndpointEvent = { type: "EndpointDisabled", data: { endpoint_id, reason: "410 Gone", at } };
const enabled: EndpointEvent = { type: "EndpointEnabled", data: { endpoint_id, at } };
const deleted: EndpointEvent = { type: "EndpointDeleted", data: { endpoint_id, at } };

const register = { type: "RegisterEndpoint", endpointId: endpoint_id, account, settings, secret: "s1", at } as const;

const test = suite("endpoint");

test("an endpoint is registered with its settings and its first secret", () => given().when(register).then(registered));

test("the same registration again changes nothing", () => given(registered).when(register).thenNothing());

test("the id of a deleted endpoint or of one of another account is not used again", () => {
  given(registered, deleted).when(register).rejects("conflict");
  given(registered)
    .when({ ...register, account: "acc_2" })
    .rejects("conflict");
});

test("a change records what differs and nothing else", () => {
  const changes = {
    ...settings,
    url: "https://example.com/other",
    retry_schedule_s: [5, 30],
    headers: { ...settings.headers },
  };
  given(registered)
    .when({ type: "ChangeEndpoint", account, changes, at })
    .then({ type: "EndpointChanged", data: { endpoint_id, changes: { url: "https://example.com/other" }, at } });
});

test("a change to the current values changes nothing", () => {
  given(registered).when({ type: "ChangeEndpoint", account, changes: settings, at }).thenNothing();
  given(registered).when({ type: "ChangeEndpoint", account, changes: {}, at }).thenNothing();
});

test("a shorter list and a removed header are changes", () => {
  for (const changes of [{ retry_schedule_s: [5] }, { headers: {} }, { rate_per_second: 5 }])
    given(registered)
      .when({ type: "ChangeEndpoint", account, changes, at })
      .then({ type: "EndpointChanged", data: { endpoint_id, changes, at } });
});

test("both secrets sign until the overlap is over, newest first", () => {
  const state = fold(endpoint, [registered, rotated("s2", at, tomorrow)]);
  assert.ok(state.phase === "present");
  assert.equal(activeSecrets(state, at), ["s2", "s1"]);
  assert.equal(activeSecrets(state, "2026-03-02T11:59:59.999Z"), ["s2", "s1"]);
  assert.equal(activeSecrets(state, tomorrow), ["s2"]);
});

test("a second rotation does not shorten the validity of the first secret", () => {
  const later = "2026-03-01T18:00:00.000Z";
  const state = fold(endpoint, [
    registered,
    rotated("s2", at, tomorrow),
    rotated("s3", later, "2026-03-02T18:00:00.000Z"),
  ]);
  assert.ok(state.phase === "present");
  assert.equal(activeSecrets(state, later), ["s3", "s2", "s1"]);
  assert.equal(activeSecrets(state, tomorrow), ["s3", "s2"]);
});

test("no more secrets sign at once than the header has room for", () => {
  const rotations = Array.from({ length: SECRETS_MAX - 1 }, (_, n) => rotated(`r${n}`, at, tomorrow));
  const again = { type: "RotateEndpointSecret", account, secret: "one more", previousUntil: tomorrow } as const;
  given(registered, ...rotations)
    .when({ ...again, at })
    .rejects("too-many-secrets");
  given(registered, ...rotations)
    .when({ ...again, at: tomorrow })
    .then({
      type: "EndpointSecretRotated",
      data: { endpoint_id, secret: "one more", previous_until: tomorrow, at: tomorrow },
    });
});

test("an endpoint that is disabled twice keeps the first reason", () => {
  const disable = { type: "DisableEndpoint", account, reason: "410 Gone", startedAt: at, at } as const;
  given(registered).when(disable).then(disabled);
  given(registered, disabled).when(disable).thenNothing();
  const state = fold(endpoint, [registered, disabled]);
  assert.equal(state.phase === "present" && state.disabled, { reason: "410 Gone", at });
});

test("an attempt from before a change of the URL or an enabling does not disable the endpoint", () => {
  const by = (startedAt: string) =>
    ({ type: "DisableEndpoint", account, reason: "410 Gone", startedAt, at: tomorrow }) as const;
  const later: EndpointEvent = { type: "EndpointDisabled", data: { endpoint_id, reason: "410 Gone", at: tomorrow } };
  const changed = (changes: { url: string } | { name: string }): EndpointEvent => ({
    type: "EndpointChanged",
    data: { endpoint_id, changes, at: tomorrow },
  });
  const moved = changed({ url: "https://b.example/" });
  given(registered, moved).when(by(at)).thenNothing();
  given(registered, moved).when(by(tomorrow)).then(later);
  given(registered, changed({ name: "b" }))
    .when(by(at))
    .then(later);
  const again: EndpointEvent = { type: "EndpointEnabled", data: { endpoint_id, at: tomorrow } };
  given(registered, disabled, again).when(by(at)).thenNothing();
  given(registered, disabled, again).when(by(tomorrow)).then(later);
});

test("enabling is recorded even for an enabled endpoint, as it closes the circuit", () => {
  given(registered, disabled).when({ type: "EnableEndpoint", account, at }).then(enabled);
  given(registered).when({ type: "EnableEndpoint", account, at }).then(enabled);
  const state = fold(endpoint, [registered, disabled, enabled]);
  assert.is(state.phase === "present" && state.disabled, null);
});

const commands = [
  { type: "ChangeEndpoint", account, changes: { name: "x" }, at },
  { type: "RotateEndpointSecret", account, secret: "s2", previousUntil: tomorrow, at },
  { type: "DisableEndpoint", account, reason: "x", startedAt: at, at },
  { type: "EnableEndpoint", account, at },
  { type: "DeleteEndpoint", account, at },
] as const;

for (const command of commands) {
  test(`${command.type} finds nothing where there is no endpoint, a deleted one or another account's`, () => {
    given().when(command).rejects("not-found");
    given(registered, deleted).when(command).rejects("not-found");
    given(registered)
      .when({ ...command, account: "acc_2" })
      .rejects("not-found");
  });
}

test("nothing brings a deleted endpoint back", () => {
  given(registered).when({ type: "DeleteEndpoint", account, at }).then(deleted);
  const late: EndpointEvent = { type: "EndpointChanged", data: { endpoint_id, changes: { name: "x" }, at } };
  assert.equal(fold(endpoint, [registered, deleted, enabled, late]), { phase: "deleted", account });
});

test.run();
