import { endpoint as endpointDecider } from "../../domain/endpoint/decider.ts";
import type { Position } from "../../domain/ports/event-log.ts";
import type { Condition, Found, ViewStore } from "../../domain/ports/view-store.ts";
import { type EndpointDocument, endpoints } from "../../projections/endpoints.ts";
import type { NotYet } from "../following/reaction.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import type { ViewProgress } from "../views/view-progress.ts";
import type { NotificationName } from "./names.ts";

export type SubscribersDeps = {
  readonly aggregates: Pick<Aggregates, "load">;
  readonly views: Pick<ViewStore, "page">;
  readonly progress: Pick<ViewProgress, "waitFor">;
};

const VIEW = endpoints.schema.name;
const PAGE = 100;
/** One notification is an event for each of them: so many are told, the oldest first. */
export const SUBSCRIBERS_MAX = 50;
/** Of an account with more endpoints the oldest are looked at: each notification costs a look at all of them. */
const LOOKED_AT_MAX = 1_000;
/** Then the notification is tried again after a pause: a view that is folded anew lacks endpoints that are not in it yet. */
const VIEW_WAIT_MS = 2_000;

/**
 * The account's endpoints that want a notification of what happened at `position`. No stream knows them all, so they are
 * found in the view, once it is as far as that: whoever had subscribed by then is in it. Whether they still want it is
 * asked of their own streams. `NotYet` while the view has not got as far; rejects when it cannot be read.
 */
export const subscribers = ({ aggregates, views, progress }: SubscribersDeps) => {
  const wants = async (id: string, account: string, type: NotificationName): Promise<boolean> => {
    const { state } = await aggregates.load(endpointDecider, `endpoint-${id}`);
    return state.phase === "present" && state.account === account && state.settings.notifications.includes(type);
  };

  return async (account: string, type: NotificationName, position: Position): Promise<readonly string[] | NotYet> => {
    if (!(await progress.waitFor([VIEW], position, VIEW_WAIT_MS))) {
      return { waitsFor: `the view ${VIEW} to reach ${position}, as it shows who wants ${type}` };
    }
    const where: Condition[] = [
      { field: "account", is: "=", value: account },
      { field: "deleted", is: "=", value: 0 },
    ];
    const found: string[] = [];
    let last: Found | undefined;
    for (let looked = 0; looked < LOOKED_AT_MAX; looked += PAGE) {
      const after = last === undefined ? {} : { after: { value: String(last.document.created_at), id: last.id } };
      const page = await views.page(VIEW, {
        where,
        sort: { field: "created_at", order: "asc" },
        limit: PAGE,
        ...after,
      });
      for (const { id, document } of page) {
        // What the view's own projection has put.
        if (!(document as EndpointDocument).notifications.includes(type) || !(await wants(id, account, type))) continue;
        found.push(id);
        if (found.length === SUBSCRIBERS_MAX) return found;
      }
      last = page.at(-1);
      if (page.length < PAGE) break;
    }
    return found;
  };
};
