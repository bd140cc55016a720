import type { ActionDefinition, Reversibility } from "../../domain/action/definition.ts";
import type { ActionDocument } from "../actions.ts";
import { closed, count, oneOf, optional, text, time } from "./json-schema.ts";
import { COST } from "./policies.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT } from "./words.ts";

const REVERSIBILITIES: readonly Reversibility[] = ["reversible", "compensable", "irreversible"];

const DEFINITION = closed<ActionDefinition>("The action's definition. Money in euros.", {
  endpoint_id: text("The endpoint that carries it out, end_…."),
  schema: optional({ type: ["object", "boolean"], description: "A JSON Schema that payloads have to satisfy." }),
  cost: optional(COST),
  reversibility: oneOf(
    REVERSIBILITIES,
    "reversible: no undo is needed; compensable: its compensation undoes it; irreversible: nothing does.",
  ),
  compensation: optional(text("The name of the action that undoes it.")),
  policy_id: optional(text("The policy for every request of it, from any agent, pol_….")),
  title: optional(text("The template of the sentence that people approve; JSON Pointers in braces name fields.")),
  labels: optional({
    type: "object",
    description: "What people call the fields, by JSON Pointer.",
    additionalProperties: { type: "string" },
  }),
});

export const actionsView: PublishedView = {
  view: "actions.v1",
  description: "The newest version of each action. A deleted action is not here, but in the audit log.",
  id: "The action's id, act_…; an account's action of one name always has the same.",
  documents: [
    closed<ActionDocument>("An action.", {
      account: ACCOUNT,
      name: text("The name by which agents request it."),
      version: count("1, 2, 3 … A version never changes."),
      definition: DEFINITION,
      changed_by: text("The id of the member or the key that put this version."),
      changed_at: time("When this version was put."),
      created_at: time("When its first version was put; after a deletion, its first version since."),
    }),
  ],
};
