import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  type Configuration,
  EMPTY,
  type PartChange,
  type Parts,
  type PolicyPart,
  withPart,
} from "../../../domain/change-control/configuration.ts";
import { controls } from "../../../domain/change-control/decider.ts";
import { weakenings } from "../../../domain/change-control/weakening.ts";

const test = suite("what weakens a control");

const P: PolicyPart = { name: "two", schema: null, approval: { min_approvals: 2, expires_after_s: 60 } };
const OPEN: PolicyPart = { name: "open", schema: null };
const agent = (policy_id: string | null, ...actions: string[]): Parts["agent"] => ({
  ...{ name: "helper", policy_id },
  scope: { actions: actions.length === 0 ? ["*"] : actions },
});
const action = (more: Partial<Parts["action"]> = {}): Parts["action"] => ({
  ...{ endpoint_id: "end_1", policy_id: null, compensation: null, cost: null },
  ...more,
});
const source = (policy_id: string | null, endpoint_id: string | null): Parts["source"] => ({
  ...{ name: "shop", type: "hmac", policy_id, endpoint_id },
});

const set = (from: Configuration, ...changes: readonly PartChange[]): Configuration => changes.reduce(withPart, from);

const part = <K extends PartChange["kind"]>(kind: K, id: string, it: Parts[K] | null): PartChange =>
  ({ kind, id, part: it }) as PartChange; // The kind says which part it is.

/** Two actions on two endpoints, and two policies. */
const BASE = set(
  EMPTY,
  part("policy", "pol_2", P),
  part("policy", "pol_0", OPEN),
  part("endpoint", "end_1", { policy_id: null }),
  part("endpoint", "end_2", { policy_id: null }),
  part("action", "refund", action()),
  part("action", "note", action({ endpoint_id: "end_2" })),
);
/** Agent 1 needs two approvals for whatever it asks for; agent 2 may only write notes. */
const OWN = set(BASE, part("agent", "agt_1", agent("pol_2", "refund")), part("agent", "agt_2", agent(null, "note")));
/** The same by a policy on the action. */
const FLOOR = set(
  BASE,
  part("action", "refund", action({ policy_id: "pol_2" })),
  part("agent", "agt_1", agent(null, "refund")),
);
const ON_ENDPOINT = set(FLOOR, part("endpoint", "end_1", { policy_id: "pol_2" }));

const changed = (from: Configuration, ...changes: readonly PartChange[]): number =>
  weakenings(from, set(from, ...changes)).length;
const weakens = (from: Configuration, ...changes: readonly PartChange[]): void =>
  assert.ok(changed(from, ...changes) > 0, "it weakens");
const isHarmless = (from: Configuration, ...changes: readonly PartChange[]): void =>
  assert.equal(weakenings(from, set(from, ...changes)), []);

test("without approval rules no change weakens a control", () => {
  const none = set(OWN, part("policy", "pol_2", { ...P, approval: undefined } as unknown as PolicyPart));
  isHarmless(none, part("agent", "agt_1", agent(null)), part("agent", "agt_9", agent(null)));
  isHarmless(BASE, part("agent", "agt_9", agent(null)), part("source", "src_1", source(null, "end_1")));
});

test("detaching a policy, replacing it by a looser one or deleting its agent can weaken", () => {
  weakens(OWN, part("agent", "agt_1", agent(null, "refund")));
  weakens(OWN, part("agent", "agt_1", agent("pol_0", "refund")));
  weakens(OWN, part("agent", "agt_1", null));
  weakens(OWN, part("agent", "agt_1", agent("pol_2", "note")));
  weakens(FLOOR, part("action", "refund", action()));
  weakens(FLOOR, part("action", "refund", null));
  const onlyEndpoint = set(ON_ENDPOINT, part("action", "refund", action()));
  weakens(onlyEndpoint, part("endpoint", "end_1", { policy_id: null }));
  // The policy of the action still guards the endpoint against further actions.
  isHarmless(ON_ENDPOINT, part("endpoint", "end_1", { policy_id: null }));
  isHarmless(OWN, part("agent", "agt_2", null));
  isHarmless(set(OWN, part("agent", "agt_3", agent("pol_2", "refund"))), part("agent", "agt_1", null));
});

test("loosening any gate of a policy weakens", () => {
  const full: PolicyPart = {
    ...P,
    ...{ budget_eur_day: 10, rate_per_minute: 5, require_fields: ["a"], schema: "00" },
    deny: [{ name: "d", when: "payload.a > 1" }],
    loop: { max_identical: 2, window_s: 60, max_per_run: 3, max_depth: 1 },
    approval: { when: "cost_eur > 5.0", min_approvals: 2, exclude_requester: true, expires_after_s: 60 },
    cost: { fixed_eur: 1 },
  };
  const from = set(OWN, part("policy", "pol_2", full));
  const { approval, loop } = full;
  if (approval === undefined || loop === undefined) throw new Error("both are there");
  const looser: readonly Partial<PolicyPart>[] = [
    { approval: { ...approval, min_approvals: 1 } },
    { approval: { ...approval, exclude_requester: false } },
    { approval: { ...approval, when: "cost_eur > 50.0" } },
    { budget_eur_day: 11 },
    { rate_per_minute: 6 },
    { require_fields: [] },
    { schema: null },
    { schema: "11" },
    { deny: [] },
    { loop: { ...loop, max_identical: 3 } },
    { loop: { ...loop, window_s: 30 } },
    { loop: { ...loop, max_per_run: 4 } },
    { loop: { ...loop, max_depth: 2 } },
    { cost: { fixed_eur: 0 } },
    { block_on_violation: false },
  ];
  for (const it of looser) weakens(from, part("policy", "pol_2", { ...full, ...it }));
  const { when: _, ...always } = approval;
  const stricter: readonly Partial<PolicyPart>[] = [
    { name: "another name" },
    { approval: { ...always, min_approvals: 3 } },
    { budget_eur_day: 9, rate_per_minute: 1, require_fields: ["a", "b"] },
    { deny: [...(full.deny ?? []), { name: "e", when: "payload.a < 0" }] },
    { loop: { ...loop, max_identical: 1, window_s: 90 } },
  ];
  for (const it of stricter) isHarmless(from, part("policy", "pol_2", { ...full, ...it }));
});

test("a new agent weakens if it reaches without approvals what others need approvals for", () => {
  weakens(OWN, part("agent", "agt_9", agent(null, "refund")));
  weakens(OWN, part("agent", "agt_9", agent("pol_0", "*")));
  isHarmless(OWN, part("agent", "agt_9", agent("pol_2", "*")));
  isHarmless(OWN, part("agent", "agt_9", agent(null, "note")));
});

test("under a policy on the action or the endpoint, making agents weakens nothing", () => {
  isHarmless(FLOOR, part("agent", "agt_9", agent(null, "*")));
  isHarmless(ON_ENDPOINT, part("agent", "agt_9", agent(null, "*")));
  assert.equal(weakenings(FLOOR, FLOOR, { kind: "agent", id: "agt_1" }), []);
});

test("an unguarded action that already led to the endpoint is no new way to what another action guards", () => {
  const beside = set(FLOOR, part("action", "note", action()));
  isHarmless(beside, part("agent", "agt_9", agent(null, "*")));
  weakens(set(OWN, part("action", "note", action())), part("agent", "agt_9", agent(null, "note")));
});

test("hiding more of a request from those who approve it weakens", () => {
  const hiding = (...redact: string[]): PolicyPart => ({ ...P, redact });
  const dark = set(OWN, part("policy", "pol_4", hiding("card", "customer.name")));
  weakens(OWN, part("policy", "pol_2", hiding("card")));
  weakens(dark, part("agent", "agt_1", agent("pol_4", "refund")));
  weakens(dark, part("agent", "agt_9", agent("pol_4", "refund")));
  weakens(dark, part("action", "refund", action({ policy_id: "pol_4" })));
  weakens(dark, part("endpoint", "end_1", { policy_id: "pol_4" }));
  weakens(FLOOR, part("policy", "pol_2", hiding("card")));
  weakens(set(BASE, part("endpoint", "end_1", { policy_id: "pol_2" })), part("policy", "pol_2", hiding("card")));
  const floor = set(ON_ENDPOINT, part("policy", "pol_4", hiding("card")));
  weakens(floor, part("action", "again", action({ policy_id: "pol_4" })));
  weakens(floor, part("agent", "agt_1", agent("pol_4", "refund")));

  const hidden = set(ON_ENDPOINT, part("policy", "pol_2", hiding("card", "customer.name")));
  isHarmless(hidden, part("policy", "pol_2", hiding("/card")));
  isHarmless(hidden, part("policy", "pol_2", hiding("card.number", "customer.name.first")));
  weakens(hidden, part("policy", "pol_2", hiding("card", "customer")));
  isHarmless(hidden, part("agent", "agt_9", agent(null, "refund")));
  isHarmless(hidden, part("action", "again", action()));
  isHarmless(dark, part("agent", "agt_9", agent("pol_4", "note")));
  isHarmless(BASE, part("policy", "pol_2", hiding("card")));
});

test("taking the right to reveal hidden fields from those who approve weakens", () => {
  const rule = { min_approvals: 2, expires_after_s: 60 };
  const revealing = { ...P, redact: ["card"], approval: { ...rule, reveal: ["approver"] } } as const;
  const from = set(ON_ENDPOINT, part("policy", "pol_2", revealing));
  weakens(from, part("policy", "pol_2", { ...revealing, approval: rule }));
  weakens(from, part("policy", "pol_2", { ...revealing, approval: { ...rule, reveal: [] } }));
  isHarmless(from, part("policy", "pol_2", { ...revealing, approval: { ...rule, reveal: ["viewer"] } }));
  isHarmless(from, part("policy", "pol_2", { ...revealing, redact: [], approval: rule }));
});

test("a policy with an agent's name in its conditions does not cover an agent of another name", () => {
  const approval = { when: 'agent.name != "trusted"', expires_after_s: 60 };
  const from = set(FLOOR, part("policy", "pol_2", { ...P, approval }));
  weakens(from, part("agent", "agt_9", { ...agent(null), name: "trusted" }));
  weakens(from, part("agent", "agt_1", { ...agent(null, "refund"), name: "trusted" }));
  isHarmless(FLOOR, part("agent", "agt_1", { ...agent(null, "refund"), name: "trusted" }));
});

test("a condition over fields of one kind of sender does not cover new senders of another kind", () => {
  const rule = { min_approvals: 2, expires_after_s: 60 };
  const asks = (when: string) => set(ON_ENDPOINT, part("policy", "pol_2", { ...P, approval: { ...rule, when } }));
  const fromSource = part("source", "src_1", source(null, "end_1"));
  const fromAgent = part("agent", "agt_9", agent(null, "refund"));
  weakens(asks('agent.name == "bot"'), fromSource);
  weakens(asks('action == "refund"'), fromSource);
  weakens(asks('source.name == "shop"'), fromAgent);
  weakens(asks('headers["x-topic"] == "refund"'), fromAgent);
  isHarmless(asks('action == "refund"'), fromAgent);
  isHarmless(asks("payload.amount > 5"), fromSource, fromAgent);
  isHarmless(asks("cost_eur > 5.0"), fromSource);
  const priced = set(asks("cost_eur > 5.0"), part("action", "refund", action({ cost: { fixed_eur: 9 } })));
  weakens(priced, fromSource);
  isHarmless(priced, fromAgent);
});

test("a wider scope, a new source and a second action on the endpoint are new ways to it", () => {
  weakens(OWN, part("agent", "agt_2", agent(null, "note", "refund")));
  weakens(OWN, part("source", "src_1", source(null, "end_1")));
  isHarmless(OWN, part("source", "src_1", source("pol_2", "end_1")));
  isHarmless(OWN, part("source", "src_1", source(null, "end_2")));
  // Nobody may ask for it yet, and the next agent could.
  weakens(FLOOR, part("action", "refund.again", action()));
  isHarmless(FLOOR, part("action", "refund.again", action({ policy_id: "pol_2" })));
  const wide = set(FLOOR, part("agent", "agt_1", agent(null)));
  weakens(wide, part("action", "refund.again", action()));
  isHarmless(set(wide, part("endpoint", "end_1", { policy_id: "pol_2" })), part("action", "refund.again", action()));
});

test("an undo is a way to the action that it sends", () => {
  const both = set(FLOOR, part("agent", "agt_2", agent(null, "note")));
  weakens(both, part("action", "note", action({ endpoint_id: "end_2", compensation: "refund" })));
});

test("an action that is deleted with its endpoint or leads to another no longer guards it", () => {
  weakens(FLOOR, part("action", "refund", action({ endpoint_id: "end_2", policy_id: "pol_2" })));
  weakens(FLOOR, part("endpoint", "end_1", null));
});

test("a lower cost of an action widens a condition over the cost", () => {
  const approval = { when: "cost_eur >= 100.0", expires_after_s: 60 };
  const costly = set(
    FLOOR,
    part("policy", "pol_2", { ...P, approval }),
    part("action", "refund", action({ policy_id: "pol_2", cost: { pointer: "amount" } })),
  );
  weakens(costly, part("action", "refund", action({ policy_id: "pol_2", cost: { fixed_eur: 0 } })));
  isHarmless(FLOOR, part("action", "refund", action({ policy_id: "pol_2", cost: { fixed_eur: 0 } })));
});

test("a renewed key is measured by the policies that apply to every sender", () => {
  assert.ok(weakenings(OWN, OWN, { kind: "agent", id: "agt_1" }).length > 0);
  assert.equal(weakenings(OWN, OWN, { kind: "agent", id: "agt_2" }), []);
});

test("a further person who can approve weakens every approval, and one who cannot weakens none", () => {
  const known = set(OWN, part("member", "mem_1", { role: "approver" }), part("member", "mem_2", { role: "viewer" }));
  weakens(known, part("member", "mem_3", { role: "admin" }));
  weakens(known, part("member", "mem_2", { role: "approver" }));
  isHarmless(known, part("member", "mem_3", { role: "auditor" }));
  isHarmless(known, part("member", "mem_1", { role: "admin" }));
  isHarmless(BASE, part("member", "mem_3", { role: "owner" }));
});

test("a part that the stream of controls does not have yet is compared with its own state", () => {
  const base = part("member", "mem_1", { role: "approver" });
  const change = part("member", "mem_1", { role: "admin" });
  const about = { type: "ChangeControls", account: "acc_1", issues: false, asker: "person", at: "t" } as const;
  const done = controls.decide({ ...about, change, base, by: "mem_9" }, OWN);
  assert.equal(done.ok && done.events.map(({ type }) => type), ["ControlsChanged"]);
});

test("weakening a protected policy takes that policy's approval and no other", () => {
  const from = set(
    ON_ENDPOINT,
    part("policy", "pol_3", { ...P, protected: true }),
    part("endpoint", "end_1", { policy_id: "pol_3" }),
    part("action", "refund", action()),
  );
  const change = part("endpoint", "end_1", { policy_id: null });
  const about = { type: "ChangeControls", account: "acc_1", issues: false, by: "mem_1", at: "2026-01-01" } as const;
  const command = { ...about, change, base: change, asker: "person" } as const;
  const needed = { ok: false, rejection: "approval-required" };
  assert.equal(controls.decide(command, from), needed);
  const approved = { policies: ["pol_3"], approvals: 2, excludesRequester: false };
  assert.equal(controls.decide({ ...command, approved: { ...approved, policies: ["pol_2"] } }, from), needed);
  assert.equal(controls.decide({ ...command, approved: { ...approved, approvals: 1 } }, from), needed);
  assert.ok(controls.decide({ ...command, approved }, from).ok);
  const rule = { min_approvals: 2, expires_after_s: 60, exclude_requester: true };
  const stricter = set(from, part("policy", "pol_3", { ...P, protected: true, approval: rule }));
  assert.equal(controls.decide({ ...command, approved }, stricter), needed);
  assert.ok(controls.decide({ ...command, approved: { ...approved, excludesRequester: true } }, stricter).ok);
  const asked = controls.decide({ type: "LiftProtection", account: "acc_1", policyId: "pol_3", at: command.at }, from);
  const lifting = asked.ok ? asked.events.reduce(controls.evolve, from) : from;
  assert.equal(controls.decide({ ...command, at: "2026-01-01T23:00:00.000Z" }, lifting), needed);
  assert.ok(controls.decide({ ...command, at: "2026-01-02T00:00:00.000Z" }, lifting).ok);
  const publish = (state: Configuration, it: PolicyPart): Configuration => {
    const version = part("policy", "pol_3", it);
    const later = { ...command, at: "2026-01-02T00:00:00.000Z" };
    const done = controls.decide({ ...later, change: version, base: version }, state);
    return done.ok ? done.events.reduce(controls.evolve, state) : state;
  };
  const later = { ...command, at: "2026-02-01" };
  const again = publish(lifting, { ...P, protected: true, name: "again" });
  assert.ok(controls.decide(later, again).ok, "a version that is protected still cancels no lift");
  const anew = publish(publish(lifting, P), { ...P, protected: true });
  assert.equal(controls.decide(later, anew), needed, "protected anew after it was not");
});

test("an equally strict policy without protection cannot replace a protected one, not even in two steps", () => {
  const isKept = { ...P, protected: true };
  const weakensKept = (from: Configuration, ...changes: readonly PartChange[]): void =>
    assert.ok(weakenings(from, set(from, ...changes)).some(({ policyId }) => policyId === "pol_3"));
  const base = set(BASE, part("policy", "pol_3", isKept));
  weakensKept(
    set(base, part("endpoint", "end_1", { policy_id: "pol_3" })),
    part("endpoint", "end_1", { policy_id: "pol_2" }),
  );
  const own = set(base, part("agent", "agt_1", agent("pol_3", "refund")));
  const second = part("agent", "agt_9", agent("pol_2", "refund"));
  isHarmless(own, second);
  weakensKept(set(own, second), part("policy", "pol_2", OPEN));
  weakensKept(set(own, second), part("agent", "agt_9", agent(null, "refund")));
});

test("a change of one action does not go through every action for every agent", () => {
  let looks = 0;
  const counted = (id: string): Parts["agent"] => ({
    ...{ name: id, policy_id: "pol_2" },
    scope: {
      get actions() {
        looks += 1;
        return ["*", id];
      },
    },
  });
  const names = Array.from({ length: 100 }, (_, index) => `a.${index}`);
  const from = set(
    BASE,
    ...names.map((name) => part("action", name, action())),
    ...names.map((id) => part("agent", id, counted(id))),
  );
  weakens(from, part("action", "a.1", action({ endpoint_id: "end_2" })));
  assert.ok(looks <= 10 * names.length, `${looks}`);
});

test("a key cannot weaken, and a person's change is recorded as a weakening", () => {
  const change = part("agent", "agt_1", agent(null, "refund"));
  const about = { type: "ChangeControls", account: "acc_1", issues: false, by: "mem_1", at: "t" } as const;
  const command = { ...about, change, base: part("agent", "agt_1", null) };
  assert.equal(controls.decide({ ...command, asker: "key" }, OWN), { ok: false, rejection: "person-required" });
  const done = controls.decide({ ...command, asker: "person" }, OWN);
  assert.equal(done.ok && done.events.map(({ type }) => type), ["ControlsWeakened"]);
  const stronger = { ...command, change: part("agent", "agt_2", agent("pol_2", "note")), asker: "key" } as const;
  const made = controls.decide(stronger, OWN);
  assert.equal(made.ok && made.events.map(({ type }) => type), ["ControlsChanged"]);
  const same = { ...command, change: part("agent", "agt_2", agent(null, "note")), asker: "key" } as const;
  assert.equal(controls.decide(same, OWN), { ok: true, events: [] });
});

test.run();
