import type { PresentEndpoint } from "../../domain/endpoint/decider.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Position } from "../../domain/ports/event-log.ts";
import type { FoundDocument, ViewQuery, ViewStore } from "../../domain/ports/view-store.ts";
import { deliveryQueue } from "../../projections/delivery-queue.ts";
import { isBeyondAnySchedule, type Job, type JobKey } from "./job.ts";
import type { WrittenRevisions } from "./written-revisions.ts";

export type BacklogDeps = {
  readonly log: Pick<EventLog, "head">;
  readonly views: Pick<ViewStore, "page" | "get" | "position">;
  readonly clock: Clock;
  readonly node: string;
  readonly othersAreGone: boolean;
  readonly written: WrittenRevisions;
};

/** Deliveries of one endpoint that can be sent, in the order in which they have to be. */
export type Look = {
  readonly jobs: readonly Job[];
  /** When the next one becomes due; ms since 1970, Infinity for none. */
  readonly soonest: number;
  /** All events that the view has of the endpoint; null if there are more than the look's limit. */
  readonly listed: ReadonlySet<string> | null;
};

const QUEUE = deliveryQueue.schema.name;
/** The first ones may be under way. */
const PROBES_LOOKED_AT = 64;
const NEVER = Number.POSITIVE_INFINITY;

const keyOf = ({ id: eventId, document }: FoundDocument): JobKey => ({
  eventId,
  account: String(document.account),
  endpointId: String(document.endpoint_id),
});

/** It failed before the endpoint recovered, so it does not wait for its own schedule. */
const failedInOutage = ({ document: { failed_at } }: FoundDocument, { wellAt }: PresentEndpoint): boolean =>
  typeof failed_at === "string" && wellAt !== null && failed_at < wellAt;

/** Reads what waits on disk, through the view `delivery-queue`. */
export class Backlog {
  readonly #deps: BacklogDeps;
  /** The view once listed everything up to here, or the log had it at the first question; null before that. */
  #listedUpTo: Position | null = null;

  constructor(deps: BacklogDeps) {
    this.#deps = deps;
  }

  /** The next endpoint, by id, for which something waits; null after the last. */
  async endpointAfter(endpointId: string): Promise<string | null> {
    const [next] = await this.#deps.views.page(QUEUE, {
      where: [{ field: "endpoint_id", is: ">", value: endpointId }],
      sort: { field: "endpoint_id", order: "asc" },
      limit: 1,
    });
    return next === undefined ? null : String(next.document.endpoint_id);
  }

  /** Due deliveries, those that have been due longest first. */
  async due(endpointId: string, limit: number): Promise<Look> {
    return this.#lookOf(await this.#page(endpointId, "due_at", limit), limit, "due");
  }

  /** Undos and cancelled deliveries: they wait neither for a disabled endpoint nor for a circuit. */
  async undos(endpointId: string, limit: number): Promise<Look> {
    const found = await this.#deps.views.page(QUEUE, {
      where: [{ field: "pressing_at", is: "=", value: endpointId }],
      sort: { field: "position", order: "asc" },
      limit,
    });
    return this.#lookOf(found, limit, "undo");
  }

  /** In the order of admission; what failed before the endpoint recovered does not wait for its schedule. */
  async inOrder(endpointId: string, endpoint: PresentEndpoint, limit: number): Promise<Look> {
    const look = this.#lookOf(await this.#page(endpointId, "position", limit), limit, "due", endpoint);
    // So many that wait for their schedules are no backlog of an outage: what is due comes after them.
    return look.listed === null && look.jobs.length === 0 ? this.due(endpointId, limit) : look;
  }

  /**
   * The delivery with which to probe the endpoint: the first after `lastProbed`, or else the oldest, that no node is
   * sending. Null for none.
   */
  async toProbe(endpointId: string, endpoint: PresentEndpoint, lastProbed: string | null): Promise<Job | null> {
    const last = lastProbed === null ? null : await this.#deps.views.get(QUEUE, lastProbed);
    const after = last === null ? null : { value: String(last.position), id: String(last.event_id) };
    const chosen = (after && (await this.#firstFree(endpointId, after))) ?? (await this.#firstFree(endpointId));
    if (chosen === undefined) return null;
    // Another event got through since it failed, and by its own schedule it is due.
    const isCounted = failedInOutage(chosen, endpoint) && this.#dueAt(chosen) <= this.#deps.clock.now();
    return { ...keyOf(chosen), kind: "probe", isCounted };
  }

  /** False while the view is being rebuilt: more may wait than it lists. To be asked after the view was read. */
  async isWhole(): Promise<boolean> {
    const { log, views } = this.#deps;
    this.#listedUpTo ??= (await log.head("records")) ?? "";
    const position = (await views.position(QUEUE)) ?? "";
    if (position < this.#listedUpTo) return false;
    this.#listedUpTo = position;
    return true;
  }

  #page(endpointId: string, field: "due_at" | "position", limit: number, after?: ViewQuery["after"]) {
    const where = [{ field: "endpoint_id", is: "=", value: endpointId }] as const;
    const query = { where, sort: { field, order: "asc" }, limit } as const;
    return this.#deps.views.page(QUEUE, after === undefined ? query : { ...query, after });
  }

  async #firstFree(endpointId: string, after?: ViewQuery["after"]): Promise<FoundDocument | undefined> {
    const found = await this.#page(endpointId, "position", PROBES_LOOKED_AT, after);
    return found.find((it) => !this.#isLeased(it) && this.#isFresh(it));
  }

  #isFresh({ id, document }: FoundDocument): boolean {
    return this.#deps.written.isFresh(id, Number(document.revision));
  }

  #isLeased({ document: { node: holder, lease_until } }: FoundDocument): boolean {
    const { othersAreGone, node, clock } = this.#deps;
    if (typeof lease_until !== "string") return false;
    // The lease of a process that is gone does not have to run out.
    return (!othersAreGone || holder === node) && Date.parse(lease_until) > clock.now();
  }

  /** Without a failed attempt, and with no lease in force, it is due whatever the clock says, which may have been set back. */
  #dueAt(found: FoundDocument): number {
    const { due_at, failed_at } = found.document;
    return failed_at === null && !this.#isLeased(found) ? 0 : Date.parse(String(due_at));
  }

  /** `recovered`: an endpoint with events in order, which may have recovered from an outage. */
  #lookOf(found: readonly FoundDocument[], limit: number, kind: "due" | "undo", recovered?: PresentEndpoint): Look {
    const now = this.#deps.clock.now();
    const jobs: Job[] = [];
    let soonest = NEVER;
    for (const it of found) {
      const at = this.#dueAt(it);
      const isDue = at <= now || (isBeyondAnySchedule(at, now) && !this.#isLeased(it));
      const isOrdered = !isDue && recovered !== undefined && failedInOutage(it, recovered) && !this.#isLeased(it);
      if (!isDue && !isOrdered) soonest = Math.min(soonest, at);
      else if (this.#isFresh(it)) jobs.push({ ...keyOf(it), kind: isOrdered ? "ordered" : kind });
    }
    const listed = found.length === limit ? null : new Set(found.map(({ id }) => id));
    return { jobs, soonest, listed };
  }
}
