import { endpoint as endpointDecider } from "../../domain/endpoint/decider.ts";
import type { Position } from "../../domain/ports/event-log.ts";
import type { Condition, ViewStore } from "../../domain/ports/view-store.ts";
import { endpoints } from "../../projections/endpoints.ts";
import type { NotYet } from "../following/reaction.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { pagesIn } from "../views/typed-documents.ts";
import type { ViewProgress } from "../views/view-progress.ts";
import type { NotificationName } from "./names.ts";

export type SubscribersDeps = {
  readonly aggregates: Pick<Aggregates, "load">;
  readonly views: Pick<ViewStore, "page">;
  readonly progress: Pick<ViewProgress, "waitFor">;
};

const VIEW = endpoints.schema.name;
const PAGE = 100;
const SORT = { field: "created_at", order: "asc" } as const;
/** Each subscriber costs an event, so only this many of the account's endpoints are notified, the oldest first. */
export const SUBSCRIBERS_MAX = 50;
/** Each notification searches all endpoints of the account up to this number, the oldest first. */
const LOOKED_AT_MAX = 1_000;
/** Milliseconds for which a reaction waits for the view; then it is repeated later. */
const VIEW_WAIT_MS = 2_000;

/** Finds subscribed endpoints in the view once it has reached `position`, and confirms each in its own stream. */
export const subscribers = ({ aggregates, views, progress }: SubscribersDeps) => {
  const wants = async (id: string, account: string, type: NotificationName): Promise<boolean> => {
    const { state } = await aggregates.load(endpointDecider, `endpoint-${id}`);
    return state.phase === "present" && state.account === account && state.settings.notifications.includes(type);
  };

  return async (account: string, type: NotificationName, position: Position): Promise<readonly string[] | NotYet> => {
    if (!(await progress.waitFor([VIEW], position, VIEW_WAIT_MS))) {
      return { waitsFor: `the view ${VIEW} to reach ${position}, as it lists the subscribers of ${type}` };
    }
    const where: Condition[] = [
      { field: "account", is: "=", value: account },
      { field: "deleted", is: "=", value: 0 },
    ];
    const found: string[] = [];
    let looked = 0;
    for await (const page of pagesIn(views, endpoints, { where, sort: SORT, limit: PAGE })) {
      for (const { id, document } of page) {
        if (!document.notifications.includes(type) || !(await wants(id, account, type))) continue;
        found.push(id);
        if (found.length === SUBSCRIBERS_MAX) return found;
      }
      looked += page.length;
      if (looked >= LOOKED_AT_MAX) break;
    }
    return found;
  };
};
