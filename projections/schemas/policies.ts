import type { LoopRule } from "../../domain/ledger/loop.ts";
import type { ApprovalRule, CostRule, DenyRule, PolicyDefinition } from "../../domain/policy/definition.ts";
import type { NewestPolicyDocument, PolicyDocument } from "../policies.ts";
import { amount, closed, count, flag, type JsonSchema, list, optional, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT, words } from "./words.ts";

type Fixed = Extract<CostRule, { readonly fixed_eur: number }>;
type Read = Extract<CostRule, { readonly pointer: string }>;

export const COST: JsonSchema = {
  description: "The cost of an event. Missing: no cost that a budget could count.",
  oneOf: [
    closed<Fixed>("The same for every event.", { fixed_eur: amount("Euros.") }),
    closed<Read>("Read from the payload.", {
      pointer: text("A JSON Pointer to a number in the payload."),
      scale: optional(amount("Euros for each unit of that number. Missing: 1.")),
      default_eur: optional(amount("Euros if the amount is absent or null. Missing: a budget then refuses the event.")),
      numeric_text: optional(flag("True: numbers written as text are amounts. Missing: false.")),
    }),
  ],
};

const DENY = closed<DenyRule>("A rule that refuses.", {
  name: text("The rule's name."),
  when: text("A CEL expression; if it is true the event is refused."),
});

const LOOP = closed<LoopRule>("Limits that stop loops.", {
  max_identical: optional(count("The most requests with the same digest in window_s seconds. Missing: no limit.")),
  window_s: optional(count("Seconds; required with max_identical.")),
  max_per_run: optional(count("The most requests of one run. Missing: no limit.")),
  max_depth: optional(count("How deep agents may call agents; 1: not at all. Missing: no limit.")),
});

const APPROVAL = closed<ApprovalRule>("When people have to approve an event.", {
  when: optional(text("A CEL expression; if it is true the event is held. Missing: every event is held.")),
  min_approvals: optional(count("The number of people who have to approve. Missing: 1.")),
  exclude_requester: optional(flag("True: its requesters may not approve it. Missing: false.")),
  reveal: optional(
    list({ type: "string" }, "Roles below admin that may reveal redacted fields to decide. Missing: none."),
  ),
  expires_after_s: count("Seconds after which an undecided event is refused."),
});

const DEFINITION = closed<PolicyDefinition>("The policy's definition. Money in euros.", {
  name: text("The policy's name."),
  budget_eur_day: optional(amount("Euros a day, in the account's time zone. Missing: no limit.")),
  rate_per_minute: optional(count("The most events admitted in any 60 seconds. Missing: no limit.")),
  require_fields: optional(list({ type: "string" }, "Fields that a payload must have: dotted, or JSON Pointers.")),
  block_on_violation: optional(flag("False: a violation is recorded, but the event is admitted. Missing: true.")),
  cost: optional(COST),
  schema: optional({ type: ["object", "boolean"], description: "A JSON Schema that payloads have to satisfy." }),
  deny: optional(list(DENY, "Rules about the payload's content.")),
  redact: optional(list({ type: "string" }, "Fields of the payload that only admins see.")),
  loop: optional(LOOP),
  protected: optional(flag("True: weakening the policy needs its own approvals.")),
  approval: optional(APPROVAL),
});

const VERSION = {
  account: ACCOUNT,
  policy_id: text("The policy's id, pol_…."),
  version: count("1, 2, 3 … A version never changes."),
  definition: DEFINITION,
  created_by: text("The id of the member or the key that published it."),
  created_at: time("When this version was published."),
  reason: optional(words("Why this version was published, as its publisher wrote it. Missing: nobody wrote it.")),
};

export const policiesView: PublishedView = {
  view: "policies.v1",
  description: "The newest version of each policy, which is in force.",
  id: "The policy's id, pol_….",
  documents: [
    closed<NewestPolicyDocument>("A policy.", { ...VERSION, first_at: time("When its first version was published.") }),
  ],
};

export const policyVersionsView: PublishedView = {
  view: "policy-versions.v1",
  description: "Every version of every policy, for verdicts that name one.",
  id: "<policy>/<version>.",
  documents: [closed<PolicyDocument>("A version of a policy.", VERSION)],
};
