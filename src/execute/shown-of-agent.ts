import type { Found, RecordedEvent, ViewStore } from "../../domain/ports.ts";
import type { Reaction } from "../loops/reactor.ts";
import type { ViewProgress } from "../loops/view-progress.ts";

export type ShownOfAgentDeps = {
  readonly views: Pick<ViewStore, "page">;
  readonly progress: Pick<ViewProgress, "waitFor">;
};

type WhichAgent = { readonly account: string; readonly id: string };

/** A view with the fields `account` and `status`; the others are named: of the agent's id, and of how new a document is. */
export type WhichView = {
  readonly view: string;
  readonly statuses: readonly string[];
  readonly agentId: string;
  readonly newest: string;
};

/** Nothing of a suspended agent is sent any more, so what a view under rebuild does not list yet can be cancelled later. */
const VIEW_WAIT_MS = 2_000;
/** They are stopped together, and share appends: one by one, thousands would take many seconds. */
const PAGE = 100;

/** The ids of all that a view shows of an agent, in pages, one status after the other, each from the newest on. */
async function* pagesOfAgent(
  { views }: Pick<ShownOfAgentDeps, "views">,
  agent: WhichAgent,
  { view, statuses, agentId, newest }: WhichView,
): AsyncGenerator<readonly string[]> {
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

/**
 * What follows from an agent's suspension, or its end: all that a view shows of it as under way is cancelled. While the view is
 * behind, what it lists is cancelled once: the reactor repeats the reaction until the view lists everything, and reacts to other
 * suspensions meanwhile.
 */
export const whenStopped = (
  deps: ShownOfAgentDeps,
  shown: WhichView,
  cancel: (cause: RecordedEvent, id: string) => Promise<void>,
): readonly Reaction[] => {
  const { view } = shown;
  /** The ids of the suspensions of which only a part was listed: at most a page of the reactor's. */
  const cancelledInPart = new Set<string>();

  const run: Reaction["run"] = async (cause, isStopping = () => false) => {
    const agent = { account: cause.meta.account, id: String(cause.data.agent_id) };
    const isWhole = await deps.progress.waitFor([view], cause.position, VIEW_WAIT_MS);
    const notYet = {
      waitsFor: `the view ${view} to reach ${cause.position}: until then only what it shows of ${agent.id} is cancelled`,
    };
    if (!isWhole && cancelledInPart.has(cause.id)) return notYet;
    for await (const page of pagesOfAgent(deps, agent, shown)) {
      // Of tens of thousands the time to stop would not be enough: the rest is cancelled by whoever is started next.
      if (isStopping()) return;
      await Promise.all(page.map((id) => cancel(cause, id)));
    }
    cancelledInPart.delete(cause.id);
    if (isWhole) return;
    cancelledInPart.add(cause.id);
    return notYet;
  };
  return [
    { on: "AgentSuspended", run },
    { on: "AgentDeleted", run },
  ];
};
