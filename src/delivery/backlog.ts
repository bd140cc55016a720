import { DAY_MS } from "../../domain/calendar.ts";
import type { PresentEndpoint } from "../../domain/endpoint/decider.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { FoundDocument, ViewQuery, ViewStore } from "../../domain/ports/view-store.ts";
import { deliveryQueue } from "../../projections/delivery-queue.ts";
import type { Offered } from "./attempts.ts";

export type BacklogDeps = {
  readonly views: Pick<ViewStore, "page" | "get">;
  readonly clock: Clock;
  readonly node: string;
  readonly othersAreGone: boolean;
  /** Whether the view shows a delivery as this process last left it: it is a little behind. */
  readonly isFresh: (eventId: string, revision: number) => boolean;
};

/** What of an endpoint's deliveries can be sent now, in the order in which it is to be. */
export type Look = {
  readonly jobs: readonly Offered[];
  /** When the next one is due that is not yet; ms since 1970, Infinity for none. */
  readonly soonest: number;
  /** All that the view has of the endpoint; null where there is more than was looked at. */
  readonly listed: ReadonlySet<string> | null;
};

export type Backlog = {
  /** The next endpoint, by id, that something waits for; null behind the last. */
  endpointAfter(endpointId: string): Promise<string | null>;
  /** What is due, that which is due longest first. */
  due(endpointId: string, limit: number): Promise<Look>;
  /** What takes a step of a bundle back, or is cancelled: it does not wait until its endpoint is enabled, or well. */
  pressing(endpointId: string, limit: number): Promise<Look>;
  /** In the order of admission; what failed before the endpoint was last well again does not wait for its schedule. */
  inOrder(endpointId: string, endpoint: PresentEndpoint | null, limit: number): Promise<Look>;
  /**
   * The one to find out with how the endpoint is: the next one behind `after` that nobody is sending, the oldest behind the
   * newest, and also for null or where `after` does not wait any more.
   */
  toProbe(endpointId: string, endpoint: PresentEndpoint, after: string | null): Promise<Offered | null>;
};

const QUEUE = deliveryQueue.schema.name;
/** Those next in turn may be under way still. */
const PROBES_LOOKED_AT = 64;
const NEVER = Number.POSITIVE_INFINITY;
/** No schedule and no Retry-After asks for more: what is due later was written down while a clock was ahead. */
const WAIT_MS_MAX = 2 * DAY_MS;

const jobOf = (endpointId: string, { id: eventId, document: { account } }: FoundDocument): Offered => ({
  eventId,
  account: String(account),
  endpointId,
});

/** What waits on disk, in the log and its view. */
export const backlog = ({ views, clock, node, othersAreGone, isFresh }: BacklogDeps): Backlog => {
  const page = (endpointId: string, field: "due_at" | "position", limit: number, after?: ViewQuery["after"]) =>
    views.page(QUEUE, {
      where: [{ field: "endpoint_id", is: "=", value: endpointId }],
      sort: { field, order: "asc" },
      ...(after === undefined ? {} : { after }),
      limit,
    });

  const isFree = (found: FoundDocument): boolean =>
    !isLeased(found) && isFresh(found.id, Number(found.document.revision));

  /** The first that nobody is sending. */
  const free = async (endpointId: string, after?: ViewQuery["after"]): Promise<FoundDocument | undefined> =>
    (await page(endpointId, "position", PROBES_LOOKED_AT, after)).find(isFree);

  const isLeased = ({ document: { node: holder, lease_until } }: FoundDocument): boolean => {
    if (typeof lease_until !== "string") return false;
    // A lease that a gone process held does not have to run out.
    return (!othersAreGone || holder === node) && Date.parse(lease_until) > clock.now();
  };

  /** What nobody has tried yet, or somebody who is gone, is due whatever the clock says: it may have been set back. */
  const dueAt = (found: FoundDocument): number => {
    const { due_at, failed_at } = found.document;
    return failed_at === null && !isLeased(found) ? 0 : Date.parse(String(due_at));
  };

  /** Failed while the endpoint was not well: that it is due later is no reason to come later. */
  const isItsTurn = ({ document: { failed_at } }: FoundDocument, endpoint: PresentEndpoint | null): boolean =>
    typeof failed_at === "string" && endpoint?.wellAt != null && failed_at < endpoint.wellAt;

  const lookOf = (
    endpointId: string,
    found: readonly FoundDocument[],
    limit: number,
    early: (found: FoundDocument) => boolean,
  ): Look => {
    const now = clock.now();
    const jobs: Offered[] = [];
    let soonest = NEVER;
    for (const it of found) {
      const { id: eventId, document } = it;
      const at = dueAt(it);
      const isEarly = at > now && !isLeased(it) && (early(it) || at - now > WAIT_MS_MAX);
      if (at > now && !isEarly) soonest = Math.min(soonest, at);
      else if (isFresh(eventId, Number(document.revision)))
        jobs.push({ ...jobOf(endpointId, it), ...(isEarly ? { early: "turn" } : {}) });
    }
    const listed = found.length === limit ? null : new Set(found.map(({ id }) => id));
    return { jobs, soonest, listed };
  };

  const due = async (endpointId: string, limit: number): Promise<Look> =>
    lookOf(endpointId, await page(endpointId, "due_at", limit), limit, () => false);

  return {
    async endpointAfter(endpointId) {
      const [next] = await views.page(QUEUE, {
        where: [{ field: "endpoint_id", is: ">", value: endpointId }],
        sort: { field: "endpoint_id", order: "asc" },
        limit: 1,
      });
      return next === undefined ? null : String(next.document.endpoint_id);
    },
    due,
    async pressing(endpointId, limit) {
      const found = await views.page(QUEUE, {
        where: [{ field: "pressing_at", is: "=", value: endpointId }],
        sort: { field: "position", order: "asc" },
        limit,
      });
      const look = lookOf(endpointId, found, limit, () => false);
      return { ...look, jobs: look.jobs.map((job) => ({ ...job, takesBack: true })) };
    },
    async inOrder(endpointId, endpoint, limit) {
      const found = await page(endpointId, "position", limit);
      const look = lookOf(endpointId, found, limit, (it) => isItsTurn(it, endpoint));
      // So many that wait for their schedules are no backlog of an outage: what is due is behind them.
      return look.listed === null && look.jobs.length === 0 ? due(endpointId, limit) : look;
    },
    async toProbe(endpointId, endpoint, after) {
      const last = after === null ? null : await views.get(QUEUE, after);
      const behind = last === null ? undefined : { value: String(last.position), id: String(last.event_id) };
      const chosen = (behind && (await free(endpointId, behind))) ?? (await free(endpointId));
      if (chosen === undefined) return null;
      // It failed before the endpoint was last well, which another one found out, and its own schedule has it tried by now.
      const isCounted = isItsTurn(chosen, endpoint) && dueAt(chosen) <= clock.now();
      return { ...jobOf(endpointId, chosen), early: "probe", ...(isCounted ? { isCounted } : {}) };
    },
  };
};
