import { type Action, action as actionDecider } from "../../domain/action/decider.ts";
import { isActionName } from "../../domain/action/name.ts";
import { agent as agentDecider, type PresentAgent } from "../../domain/agent/decider.ts";
import { defined } from "../../domain/defined.ts";
import { agentStream } from "../accounts/credentials.ts";
import { actionStream } from "../streams/action-stream.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { type Problem, problem } from "../streams/problems.ts";

export const activeAgent = async (
  aggregates: Pick<Aggregates, "load">,
  agentId: string,
): Promise<PresentAgent | Problem> => {
  const { state: agent } = await aggregates.load(agentDecider, agentStream(agentId));
  if (agent.phase !== "present") return problem("unauthenticated", "The agent was deleted.");
  if (agent.suspended === null) return agent;
  return problem("agent-suspended", `The agent is suspended: ${agent.suspended.reason}`);
};

export const actionNamed = async (
  aggregates: Pick<Aggregates, "load">,
  account: string,
  name: string,
): Promise<Action> =>
  isActionName(name)
    ? (await aggregates.load(actionDecider, actionStream(account, name))).state
    : actionDecider.initial;

/** An agent is not told which actions exist outside of its scope. */
export const unknownAction = (name: string, isInScope: boolean, path?: string): Problem => {
  if (!isInScope) return problem("out-of-scope", `The agent's scope does not include ${name}.`);
  const errors = path === undefined ? undefined : [{ path, message: "is no action of the account" }];
  return problem("unknown-action", `The account has no action ${JSON.stringify(name)}.`, defined({ errors }));
};
