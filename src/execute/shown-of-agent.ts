import type { Found, Position, ViewStore } from "../../domain/ports.ts";
import type { ViewProgress } from "../loops/view-progress.ts";

export type ShownOfAgentDeps = {
  readonly views: Pick<ViewStore, "page">;
  readonly progress: Pick<ViewProgress, "waitFor">;
  readonly onError: (error: unknown) => void;
};

/** `since`: what the view has to have seen. */
export type WhichAgent = { readonly account: string; readonly id: string; readonly since: Position };

/** A view with the fields `account` and `status`; the others are named: of the agent's id, and of how new a document is. */
export type WhichView = {
  readonly view: string;
  readonly statuses: readonly string[];
  readonly agentId: string;
  readonly newest: string;
};

/** A view that is behind must not hold up all other reactions: what it does not show yet is stopped when its turn comes. */
const VIEW_WAIT_MS = 5_000;
/** They are stopped together, and share appends: one by one, an agent with thousands would hold up what follows for all accounts. */
const PAGE = 100;

/** The ids of all that a view shows of an agent, in pages, one status after the other, each from the newest on. */
export async function* pagesOfAgent(
  { views, progress, onError }: ShownOfAgentDeps,
  agent: WhichAgent,
  { view, statuses, agentId, newest }: WhichView,
): AsyncGenerator<readonly string[]> {
  if (!(await progress.waitFor([view], agent.since, VIEW_WAIT_MS))) {
    onError(new Error(`${view} is behind: of ${agent.id} only what it shows is cancelled at once`));
  }
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
