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

export type Look = {
  readonly jobs: readonly Job[];
  /** When the next delivery that waits will be due, in ms since 1970; Infinity if none waits. */
  readonly soonest: number;
  readonly listed: ReadonlySet<string> | null;
};

const QUEUE = deliveryQueue.schema.name;
/** A probe is chosen among this many deliveries, because some of the oldest may be under way. */
const PROBES_LOOKED_AT = 64;
const NEVER = Number.POSITIVE_INFINITY;

const keyOf = ({ id: eventId, document }: FoundDocument): JobKey => ({
  eventId,
  account: String(document.account),
  endpointId: String(document.endpoint_id),
});

const failedInOutage = ({ document: { failed_at } }: FoundDocument, { wellAt }: PresentEndpoint): boolean =>
  typeof failed_at === "string" && wellAt !== null && failed_at < wellAt;

export class Backlog {
  readonly #deps: BacklogDeps;
  /** The view is whole from this position on: the log's end when first asked, then the view's own furthest position. */
  #listedUpTo: Position | null = null;

  constructor(deps: BacklogDeps) {
    this.#deps = deps;
  }

  async endpointAfter(endpointId: string): Promise<string | null> {
    const [next] = await this.#deps.views.page(QUEUE, {
      where: [{ field: "endpoint_id", is: ">", value: endpointId }],
      sort: { field: "endpoint_id", order: "asc" },
      limit: 1,
    });
    return next === undefined ? null : String(next.document.endpoint_id);
  }

  async due(endpointId: string, limit: number): Promise<Look> {
    return this.#lookOf(await this.#page(endpointId, "due_at", limit), limit, "due");
  }

  /** Undos and cancelled deliveries wait neither for a disabled endpoint nor for a circuit. */
  async undos(endpointId: string, limit: number): Promise<Look> {
    const found = await this.#deps.views.page(QUEUE, {
      where: [{ field: "pressing_at", is: "=", value: endpointId }],
      sort: { field: "position", order: "asc" },
      limit,
    });
    return this.#lookOf(found, limit, "undo");
  }

  /** A delivery that failed before the endpoint recovered is sent in its order and does not wait for its schedule. */
  async inOrder(endpointId: string, endpoint: PresentEndpoint, limit: number): Promise<Look> {
    const look = this.#lookOf(await this.#page(endpointId, "position", limit), limit, "due", endpoint);
    // If a whole page only waits for its schedules, it is no backlog of an outage, so due deliveries go first.
    return look.listed === null && look.jobs.length === 0 ? this.due(endpointId, limit) : look;
  }

  /** Returns the first free delivery after `lastProbed`, else the oldest free one; null if all are being sent. */
  async toProbe(endpointId: string, endpoint: PresentEndpoint, lastProbed: string | null): Promise<Job | null> {
    const last = lastProbed === null ? null : await this.#deps.views.get(QUEUE, lastProbed);
    const after = last === null ? null : { value: String(last.position), id: String(last.event_id) };
    const chosen = (after && (await this.#firstFree(endpointId, after))) ?? (await this.#firstFree(endpointId));
    if (chosen === undefined) return null;
    const isCounted = failedInOutage(chosen, endpoint) && this.#dueAt(chosen) <= this.#deps.clock.now();
    return { ...keyOf(chosen), kind: "probe", isCounted };
  }

  /** False while the view is rebuilt and may list too little. Ask after reading the view. */
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
    return (!othersAreGone || holder === node) && Date.parse(lease_until) > clock.now();
  }

  /** Before its first failed attempt a delivery is due whatever the clock says, which may have been set back. */
  #dueAt(found: FoundDocument): number {
    const { due_at, failed_at } = found.document;
    return failed_at === null && !this.#isLeased(found) ? 0 : Date.parse(String(due_at));
  }

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
