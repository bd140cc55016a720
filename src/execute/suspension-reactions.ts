import type { Projection } from "../../projections/projection.ts";
import type { Reaction } from "../following/reaction.ts";
import { type ForEachListedDeps, forEachListed } from "../views/for-each-listed.ts";

/** `agentId` and `newest` name fields of the view. Every such view also has `account` and `status`. */
export type AgentView = {
  readonly view: Projection<object>;
  readonly statuses: readonly string[];
  readonly agentId: string;
  readonly newest: string;
};

export const suspensionReactions = (
  deps: ForEachListedDeps,
  { view, statuses, agentId, newest }: AgentView,
  cancel: (cause: Parameters<Reaction["run"]>[0], id: string) => Promise<void>,
): readonly Reaction[] => {
  const run = forEachListed(deps, {
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
