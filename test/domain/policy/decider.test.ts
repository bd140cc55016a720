import { suite } from "uvu";
import type { PolicyCommand } from "../../../domain/policy/commands.ts";
import { policy } from "../../../domain/policy/decider.ts";
import type { PolicyDefinition } from "../../../domain/policy/definition.ts";
import type { PolicyEvent } from "../../../domain/policy/events.ts";
import { specFor } from "../../support/given.ts";

const given = specFor(policy);
const at = "2026-03-01T12:00:00.000Z";

const published = (version: number, definition: PolicyDefinition): PolicyEvent => ({
  type: "PolicyPublished",
  data: { policy_id: "pol_1", account: "acc_1", version, definition, created_by: "mem_1", at },
});
const publish = (type: PolicyCommand["type"], definition: PolicyDefinition, account = "acc_1"): PolicyCommand => ({
  type,
  policyId: "pol_1",
  account,
  definition,
  by: "mem_1",
  at,
});

const first: PolicyDefinition = { name: "payments", rate_per_minute: 60, cost: { fixed_eur: 1 }, deny: [] };
const second: PolicyDefinition = { ...first, rate_per_minute: 61 };

const test = suite("policy");

test("the first publication is version 1", () =>
  given().when(publish("PublishPolicy", first)).then(published(1, first)));

test("publishing again makes the next version and leaves the one before", () => {
  given(published(1, first)).when(publish("PublishPolicyVersion", second)).then(published(2, second));
  given(published(1, first), published(2, second))
    .when(publish("PublishPolicyVersion", first))
    .then(published(3, first));
});

test("the definition in force is not published again, whatever the order of its fields", () => {
  const reordered: PolicyDefinition = { deny: [], cost: { fixed_eur: 1 }, rate_per_minute: 60, name: "payments" };
  given(published(1, first)).when(publish("PublishPolicyVersion", reordered)).thenNothing();
});

test("a list and an object with the same members are not the same", () => {
  const list: PolicyDefinition = { name: "p", schema: { enum: [[1]] } };
  const object: PolicyDefinition = { name: "p", schema: { enum: [{ "0": 1 }] } };
  given(published(1, list)).when(publish("PublishPolicyVersion", object)).then(published(2, object));
});

test("a repeat of the call that made a policy changes nothing", () =>
  given(published(1, first), published(2, second)).when(publish("PublishPolicy", first)).thenNothing());

test("a policy that is unknown or of another account gets no version", () => {
  given().when(publish("PublishPolicyVersion", first)).rejects("not-found");
  given(published(1, first))
    .when(publish("PublishPolicyVersion", second, "acc_2"))
    .rejects("not-found");
  given(published(1, first))
    .when(publish("PublishPolicy", second, "acc_2"))
    .rejects("not-found");
});

test.run();
