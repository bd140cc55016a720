import { defined } from "../../domain/defined.ts";
import type { EventLog, Position } from "../../domain/ports/event-log.ts";
import type { Condition, ViewStore } from "../../domain/ports/view-store.ts";
import type { ReplayCursor, ReplayFilter } from "../../domain/replay/events.ts";
import type { SkipCount } from "../../domain/replay/skips.ts";
import type { EventDocument } from "../../projections/event-document.ts";
import { events } from "../../projections/events.ts";
import { sumOfSkips } from "../../projections/replay-skips.ts";
import { VIEW_WAIT_MS } from "../http/limits.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { pageIn } from "../views/typed-documents.ts";
import type { ViewProgress } from "../views/view-progress.ts";
import { exclusionOf, fateOf, type WaitReason } from "./replay-fates.ts";

export type ReplayPlan = {
  /** Events that would be sent or decided again; `skipped` counts all others of the filter. */
  readonly count: number;
  /** The part of `count` that would wait, by endpoint. */
  readonly waiting: ReadonlyMap<string, WaitingAt>;
  readonly skipped: readonly SkipCount[];
  /** The part of `skipped` that no replay asks. */
  readonly excluded: readonly SkipCount[];
  /** `oldest` and `newest` are times of receipt (ISO-8601 UTC) of those in `count`; null if it is 0. */
  readonly oldest: string | null;
  readonly newest: string | null;
  /** Counts the events of `count` by their endpoint; null stands for blocked events without an endpoint. */
  readonly endpoints: ReadonlyMap<string | null, number>;
  /** Events that end after this position do not belong to the replay; null if the log was empty. */
  readonly upTo: Position | null;
};

export type WaitingAt = { readonly endpoint_id: string; readonly reason: WaitReason; readonly count: number };

export type Choice = {
  readonly account: string;
  readonly filter: ReplayFilter;
  readonly upTo: Position | null;
  readonly limit: number;
  /** True: also events that nothing can send, which a plan counts. */
  readonly withExcluded?: true;
};

export type ChosenPage = {
  readonly chosen: readonly (ReplayCursor & { readonly document: EventDocument })[];
  readonly walked: number;
  readonly next: ReplayCursor | null;
};

const VIEW = events.schema.name;
const SORT = { field: "received_at", order: "asc" } as const;

const conditionsOf = ({ account, filter, withExcluded }: Choice): readonly Condition[] => {
  const equal = (field: string, value: string | undefined): Condition[] =>
    value === undefined ? [] : [{ field, is: "=", value }];
  return [
    ...equal("account", account),
    ...equal(withExcluded ? "status" : "replayable", filter.status),
    ...equal("origin_id", filter.source_id),
    ...equal("endpoint_id", filter.endpoint_id),
    ...(filter.from === undefined ? [] : [{ field: "received_at", is: ">=", value: filter.from } as const]),
    ...(filter.to === undefined ? [] : [{ field: "received_at", is: "<", value: filter.to } as const]),
  ];
};

const isChosen = ({ stopped_at = "" }: EventDocument, upTo: Position | null): boolean => stopped_at <= (upTo ?? "");

export const chosenAfter = async (
  views: Pick<ViewStore, "page">,
  cursor: ReplayCursor | null,
  choice: Choice,
): Promise<ChosenPage> => {
  const { upTo, limit } = choice;
  const after = cursor === null ? undefined : { value: cursor.received_at, id: cursor.id };
  const where = conditionsOf(choice);
  const page = await pageIn<EventDocument>(views, events, { where, sort: SORT, limit, ...defined({ after }) });
  const last = page.at(-1);
  return {
    chosen: page
      .filter(({ document }) => isChosen(document, upTo))
      .map(({ id, document }) => ({ id, received_at: document.received_at, document })),
    walked: page.length,
    next: last === undefined || page.length < limit ? null : { received_at: last.document.received_at, id: last.id },
  };
};

export type PlanDeps = {
  readonly log: Pick<EventLog, "head">;
  readonly views: Pick<ViewStore, "page" | "position">;
  readonly progress: Pick<ViewProgress, "waitFor">;
  readonly aggregates: Pick<Aggregates, "load">;
};

/** False while the view is being rebuilt and has not reached the position. */
export const isShownUpTo = async (views: Pick<ViewStore, "position">, upTo: Position | null): Promise<boolean> =>
  ((await views.position(VIEW)) ?? "") >= (upTo ?? "");

const PAGE = 500;

class Tally {
  readonly #deps: Pick<PlanDeps, "aggregates">;
  readonly #filter: ReplayFilter;
  #count = 0;
  #oldest: string | null = null;
  #newest: string | null = null;
  #skipped: readonly SkipCount[] = [];
  #excluded: readonly SkipCount[] = [];
  readonly #endpoints = new Map<string | null, number>();
  readonly #waiting = new Map<string, WaitingAt>();

  constructor(deps: Pick<PlanDeps, "aggregates">, filter: ReplayFilter) {
    this.#deps = deps;
    this.#filter = filter;
  }

  async add(document: EventDocument): Promise<void> {
    const fate = await fateOf(this.#deps.aggregates, this.#filter.status, document);
    if ("skip" in fate) {
      const one = { reason: fate.skip, count: 1 };
      this.#skipped = sumOfSkips([...this.#skipped, one]);
      if (exclusionOf(document) !== null) this.#excluded = sumOfSkips([...this.#excluded, one]);
      return;
    }
    const { received_at, endpoint_id: endpointId } = document;
    this.#count += 1;
    this.#oldest ??= received_at;
    this.#newest = received_at;
    this.#endpoints.set(endpointId, (this.#endpoints.get(endpointId) ?? 0) + 1);
    if (fate.waiting === null) return;
    const { endpointId: at, reason } = fate.waiting;
    this.#waiting.set(at, { endpoint_id: at, reason, count: (this.#waiting.get(at)?.count ?? 0) + 1 });
  }

  plan(upTo: Position | null): ReplayPlan {
    const skips = { skipped: this.#skipped, excluded: this.#excluded };
    const times = { oldest: this.#oldest, newest: this.#newest };
    return { count: this.#count, waiting: this.#waiting, ...skips, ...times, endpoints: this.#endpoints, upTo };
  }
}

/** "too-many" if over `most` events match, even after the snapshot; "view-behind" if the view is incomplete. */
export const planReplay = async (
  { log, views, progress, aggregates }: PlanDeps,
  account: string,
  filter: ReplayFilter,
  most: number,
): Promise<ReplayPlan | "too-many" | "view-behind"> => {
  const head = await log.head("records");
  if (head !== null && !(await progress.waitFor([VIEW], head, VIEW_WAIT_MS))) return "view-behind";
  const upTo = await views.position(VIEW);
  if ((upTo ?? "") < (head ?? "")) return "view-behind";
  const choice = { account, filter, upTo, limit: PAGE, withExcluded: true } as const;
  const tally = new Tally({ aggregates }, filter);
  let walked = 0;
  for (let cursor: ReplayCursor | null = null; ; ) {
    const { chosen, walked: more, next }: ChosenPage = await chosenAfter(views, cursor, choice);
    walked += more;
    if (walked > most) return "too-many";
    for (const { document } of chosen) await tally.add(document);
    if (next === null) return (await isShownUpTo(views, upTo)) ? tally.plan(upTo) : "view-behind";
    cursor = next;
  }
};
