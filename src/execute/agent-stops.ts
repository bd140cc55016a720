import type { Reaction } from "../following/reaction.ts";
import { type Reaching, reachingAllShown } from "../views/reaching-all-shown.ts";

/** A view with the fields `account` and `status`; the others are named: of the agent's id, and of how new a document is. */
export type AgentView = {
  readonly view: string;
  readonly statuses: readonly string[];
  readonly agentId: string;
  readonly newest: string;
};

/** What follows from an agent's suspension, or its end: all that a view shows of it as under way is cancelled. */
export const onAgentStopped = (
  deps: Reaching,
  { view, statuses, agentId, newest }: AgentView,
  cancel: (cause: Parameters<Reaction["run"]>[0], id: string) => Promise<void>,
): readonly Reaction[] => {
  const run = reachingAllShown(deps, {
    ...{ view, newest },
    searches: ({ meta, data }) =>
      statuses.map((status) => [
        { field: "account", is: "=", value: meta.account },
        { field: agentId, is: "=", value: String(data.agent_id) },
        { field: "status", is: "=", value: status },
      ]),
    reach: cancel,
  });
  return [
    { on: "AgentSuspended", run },
    { on: "AgentDeleted", run },
  ];
};
