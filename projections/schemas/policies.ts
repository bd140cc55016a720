import type { LoopRule } from "../../domain/ledger/loop.ts";
import type { ApprovalRule, CostRule, DenyRule, PolicyDefinition } from "../../domain/policy/definition.ts";
import type { NewestPolicyDocument, PolicyDocument } from "../policies.ts";
import { amount, closed, count, flag, type JsonSchema, list, optional, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT } from "./words.ts";

type Fixed = Extract<CostRule, { readonly fixed_eur: number }>;
type Read = Extract<CostRule, { readonly pointer: string }>;

export const COST: JsonSchema = {
  description: "What an event costs. Missing: nothing that a budget could count.",
  oneOf: [
    closed<Fixed>("The same for every event.", { fixed_eur: amount("Euros.") }),
    closed<Read>("Read from the payload.", {
      pointer: text("A JSON Pointer to a number in the payload."),
      scale: optional(amount("Euros for each unit of that number. Missing: 1.")),
      default_eur: optional(
        amount("Euros where the amount is absent or null. Missing: such an event is refused under a budget."),
      ),
      numeric_text: optional(flag("True: numbers written as text are amounts. Missing: false.")),
    }),
  ],
};

const DENY = closed<DenyRule>("A rule that refuses.", {
  name: text("What the refusal is called."),
  when: text("A CEL expression; where it is true the event is refused."),
});

const LOOP = closed<LoopRule>("What is stopped as a loop.", {
  max_identical: optional(count("Requests with the same digest in any window_s seconds at most. Missing: no ceiling.")),
  window_s: optional(count("Seconds; there with max_identical.")),
  max_per_run: optional(count("Requests of one run at most. Missing: no ceiling.")),
  max_depth: optional(count("How deep agents may call agents; 1: not at all. Missing: no ceiling.")),
});

const APPROVAL = closed<ApprovalRule>("When people have to say yes before anything is sent.", {
  when: optional(text("A CEL expression; where it is true the event is held. Missing: every event is.")),
  min_approvals: optional(count("How many people have to approve. Missing: 1.")),
  exclude_requester: optional(flag("True: who counts as the requester cannot approve it. Missing: false.")),
  reveal: optional(
    list(
      { type: "string" },
      "Roles below admin that may reveal the fields of redact while they decide. Missing: none.",
    ),
  ),
  expires_after_s: count("Seconds; what nobody has decided by then is refused."),
});

const DEFINITION = closed<PolicyDefinition>("What the policy says, as it was published. Money in euros.", {
  name: text("The policy's name."),
  budget_eur_day: optional(amount("Euros that may be spent a day of the account's time zone. Missing: no ceiling.")),
  rate_per_minute: optional(count("Events admitted in any 60 seconds at most. Missing: no ceiling.")),
  require_fields: optional(list({ type: "string" }, "Fields that a payload has to have: dotted, or JSON Pointers.")),
  block_on_violation: optional(
    flag("False: a violation is recorded, and the event admitted all the same. Missing: true."),
  ),
  cost: optional(COST),
  schema: optional({ type: ["object", "boolean"], description: "A JSON Schema that payloads have to satisfy." }),
  deny: optional(list(DENY, "Rules on what is in the payload.")),
  redact: optional(list({ type: "string" }, "Fields of the payload that only admins are shown.")),
  loop: optional(LOOP),
  protected: optional(flag("True: what weakens the policy needs the policy's own approvals.")),
  approval: optional(APPROVAL),
});

const VERSION = {
  account: ACCOUNT,
  policy_id: text("The policy's id, pol_…."),
  version: count("1, 2, 3 … A version never changes."),
  definition: DEFINITION,
  created_by: text("The id of the member or the key that published it."),
  created_at: time("When this version was published."),
};

export const policiesView: PublishedView = {
  view: "policies.v1",
  description: "The newest version of each policy: the one that is in force.",
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
