import { type Action, action as actionDecider } from "../../domain/action/decider.ts";
import { isActionName } from "../../domain/action/name.ts";
import { agent as agentDecider, type PresentAgent } from "../../domain/agent/decider.ts";
import { agentStream } from "../accounts/credentials.ts";
import { actionStream } from "../streams/action-stream.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { type Problem, problem } from "../streams/problems.ts";

/** The agent as long as it may ask for anything. */
export const askingAgent = async (
  aggregates: Pick<Aggregates, "load">,
  agentId: string,
): Promise<PresentAgent | Problem> => {
  const { state: agent } = await aggregates.load(agentDecider, agentStream(agentId));
  if (agent.phase !== "present") return problem("unauthenticated", "The agent was deleted.");
  if (agent.suspended === null) return agent;
  return problem("agent-suspended", `The agent is suspended: ${agent.suspended.reason}`);
};

/** An account's action of a name, which may be none. */
export const actionNamed = async (
  aggregates: Pick<Aggregates, "load">,
  account: string,
  name: string,
): Promise<Action> =>
  isActionName(name)
    ? (await aggregates.load(actionDecider, actionStream(account, name))).state
    : actionDecider.initial;

/** What an agent's request is refused with that nothing is recorded of: outside of its scope it is not told what there is. */
export const noAction = (name: string, isInScope: boolean, path?: string): Problem => {
  if (!isInScope) return problem("out-of-scope", `The agent's scope does not include ${name}.`);
  const errors = path === undefined ? {} : { errors: [{ path, message: "is no action of the account" }] };
  return problem("unknown-action", `The account has no action ${JSON.stringify(name)}.`, errors);
};

/** `isFirst`: this request was decided itself; else the answer is that of an equal request that was under way. */
export type Flight<T> = { readonly landed: T; readonly isFirst: boolean };

/**
 * Requests with one name at once in this process: the first one is decided, and equal ones get its answer. A request with
 * another content is decided afterwards: whether the name is used by then depends on what became of the first one.
 */
export const flights = <T>(): ((id: string, asked: string, decide: () => Promise<T>) => Promise<Flight<T>>) => {
  const underWay = new Map<string, { readonly asked: string; readonly landed: Promise<T> }>();
  return async (id, asked, decide) => {
    for (let flight = underWay.get(id); flight !== undefined; flight = underWay.get(id)) {
      if (flight.asked === asked) return { landed: await flight.landed, isFirst: false };
      await flight.landed.catch(() => undefined);
    }
    const landed = decide();
    underWay.set(id, { asked, landed });
    try {
      return { landed: await landed, isFirst: true };
    } finally {
      underWay.delete(id);
    }
  };
};
