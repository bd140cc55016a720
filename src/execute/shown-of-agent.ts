import type { Found, Position, RecordedEvent, ViewStore } from "../../domain/ports.ts";
import type { Reaction } from "../loops/reactor.ts";
import type { ViewProgress } from "../loops/view-progress.ts";
import type { Waits } from "../observing/waits.ts";

export type ShownOfAgentDeps = {
  readonly views: Pick<ViewStore, "page">;
  readonly progress: Pick<ViewProgress, "waitFor">;
  readonly waits: Waits;
};

/** `since`: what the view has to have seen. */
type WhichAgent = { readonly account: string; readonly id: string; readonly since: Position };

/** A view with the fields `account` and `status`; the others are named: of the agent's id, and of how new a document is. */
export type WhichView = {
  readonly view: string;
  readonly statuses: readonly string[];
  readonly agentId: string;
  readonly newest: string;
};

/** A view that is behind must not hold up who is suspended next: what it does not show yet is stopped when its turn comes. */
const VIEW_WAIT_MS = 5_000;
/** They are stopped together, and share appends: one by one, thousands would take many seconds. */
const PAGE = 100;

/** The ids of all that a view shows of an agent, in pages, one status after the other, each from the newest on. */
async function* pagesOfAgent(
  { views, progress, waits }: ShownOfAgentDeps,
  agent: WhichAgent,
  { view, statuses, agentId, newest }: WhichView,
): AsyncGenerator<readonly string[]> {
  if (await progress.waitFor([view], agent.since, VIEW_WAIT_MS)) waits.over();
  else
    waits.waiting(
      `the view ${view} to reach ${agent.since}: until then only what it shows of ${agent.id} is cancelled`,
    );
  for (const status of statuses) {
    const where = [
      { field: "account", is: "=", value: agent.account },
      { field: agentId, is: "=", value: agent.id },
      { field: "status", is: "=", value: status },
    ] as const;
    const sort = { field: newest, order: "desc" } as const;
    let last: Found | undefined;
    do {
      const after = last === undefined ? {} : { after: { value: String(last.document[newest]), id: last.id } };
      const page = await views.page(view, { where, sort, limit: PAGE, ...after });
      yield page.map(({ id }) => id);
      last = page.length < PAGE ? undefined : page.at(-1);
    } while (last !== undefined);
  }
}

/** What follows from an agent's suspension, or its end: all that a view shows of it as under way is cancelled. */
export const whenStopped = (
  deps: ShownOfAgentDeps,
  shown: WhichView,
  cancel: (cause: RecordedEvent, id: string) => Promise<void>,
): readonly Reaction[] => {
  const run: Reaction["run"] = async (cause, isStopping = () => false) => {
    const agent = { account: cause.meta.account, id: String(cause.data.agent_id), since: cause.position };
    for await (const page of pagesOfAgent(deps, agent, shown)) {
      // Of tens of thousands the time to stop would not be enough: the rest is cancelled by whoever is started next.
      if (isStopping()) return;
      await Promise.all(page.map((id) => cancel(cause, id)));
    }
  };
  return [
    { on: "AgentSuspended", run },
    { on: "AgentDeleted", run },
  ];
};
