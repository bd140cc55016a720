import type { Scope } from "../../domain/agent/scope.ts";
import type { AgentDocument } from "../agents.ts";
import { closed, list, oneOf, orNull, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT, words } from "./words.ts";

export const agentsView: PublishedView = {
  view: "agents.v1",
  description: "The agents of the accounts. A deleted agent is not here, but in the audit log.",
  id: "The agent's id, agt_….",
  documents: [
    closed<AgentDocument>("An agent, without secrets.", {
      account: ACCOUNT,
      name: text("Its name."),
      policy_id: orNull(text("The policy for its requests, pol_…."), "none."),
      scope: closed<Scope>("What it may request.", {
        actions: list(
          { type: "string" },
          "Names of actions; refund.* for all that begin with refund., * for every one.",
        ),
      }),
      last4: text("The last four characters of its key, to recognise it by."),
      status: oneOf(["active", "suspended"], "A suspended agent's requests are refused."),
      suspended_reason: orNull(words("Why it was suspended."), "it is active."),
      suspended_at: orNull(time("Since when it is suspended."), "it is active."),
      created_at: time("When it was registered."),
    }),
  ],
};
