import { type Action, action as actionDecider } from "../../domain/action/decider.ts";
import { agent as agentDecider, type PresentAgent } from "../../domain/agent/decider.ts";
import { defined } from "../../domain/defined.ts";
import { isActionName } from "../../domain/evidence/action-name.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { agentStream } from "../accounts/credentials.ts";
import { shownIn } from "../erasure/personal-data.ts";
import { actionStream } from "../streams/action-stream.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { type Problem, problem } from "../streams/problems.ts";

/** The reason is apart from the detail, because the detail of a refused call is recorded. */
export const agentSuspended = async (
  log: Pick<EventLog, "read">,
  account: string,
  { reason }: NonNullable<PresentAgent["suspended"]>,
): Promise<Problem> =>
  problem("agent-suspended", "The agent is suspended.", {
    extra: { reason: await shownIn({ log, account }, reason) },
  });

type ActiveAgentDeps = { readonly aggregates: Pick<Aggregates, "load">; readonly log: Pick<EventLog, "read"> };

export const activeAgent = async (
  { aggregates, log }: ActiveAgentDeps,
  agentId: string,
): Promise<PresentAgent | Problem> => {
  const { state: agent } = await aggregates.load(agentDecider, agentStream(agentId));
  if (agent.phase !== "present") return problem("unauthenticated", "The agent was deleted.");
  if (agent.suspended === null) return agent;
  return agentSuspended(log, agent.account, agent.suspended);
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
