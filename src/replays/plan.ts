import { defined } from "../../domain/defined.ts";
import type { EventLog, Position } from "../../domain/ports/event-log.ts";
import type { Condition, ViewStore } from "../../domain/ports/view-store.ts";
import type { ReplayCursor, ReplayFilter } from "../../domain/replay/events.ts";
import type { EventDocument } from "../../projections/event-document.ts";
import { events } from "../../projections/events.ts";
import { VIEW_WAIT_MS } from "../http/limits.ts";
import { pageIn } from "../views/typed-documents.ts";
import type { ViewProgress } from "../views/view-progress.ts";

export type ReplayPlan = {
  readonly count: number;
  /** `oldest` and `newest` are times of receipt (ISO-8601 UTC); null if no event is selected. */
  readonly oldest: string | null;
  readonly newest: string | null;
  /** Counts events by their endpoint; null stands for blocked events without an endpoint. */
  readonly endpoints: ReadonlyMap<string | null, number>;
  /** Events that end after this position do not belong to the replay; null if the log was empty. */
  readonly upTo: Position | null;
};

export type Choice = {
  readonly account: string;
  readonly filter: ReplayFilter;
  readonly upTo: Position | null;
  readonly limit: number;
};

export type ChosenPage = {
  readonly chosen: readonly (ReplayCursor & { readonly endpointId: string | null })[];
  readonly walked: number;
  readonly next: ReplayCursor | null;
};

const VIEW = events.schema.name;
const SORT = { field: "received_at", order: "asc" } as const;

const conditionsOf = (account: string, filter: ReplayFilter): readonly Condition[] => {
  const equal = (field: string, value: string | undefined): Condition[] =>
    value === undefined ? [] : [{ field, is: "=", value }];
  return [
    ...equal("account", account),
    ...equal("replayable", filter.status),
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
  { account, filter, upTo, limit }: Choice,
): Promise<ChosenPage> => {
  const after = cursor === null ? undefined : { value: cursor.received_at, id: cursor.id };
  const where = conditionsOf(account, filter);
  const page = await pageIn<EventDocument>(views, events, { where, sort: SORT, limit, ...defined({ after }) });
  const last = page.at(-1);
  return {
    chosen: page
      .filter(({ document }) => isChosen(document, upTo))
      .map(({ id, document: { received_at, endpoint_id: endpointId } }) => ({ id, received_at, endpointId })),
    walked: page.length,
    next: last === undefined || page.length < limit ? null : { received_at: last.document.received_at, id: last.id },
  };
};

export type PlanDeps = {
  readonly log: Pick<EventLog, "head">;
  readonly views: Pick<ViewStore, "page" | "position">;
  readonly progress: Pick<ViewProgress, "waitFor">;
};

/** False while the view is being rebuilt and has not reached the position. */
export const isShownUpTo = async (views: Pick<ViewStore, "position">, upTo: Position | null): Promise<boolean> =>
  ((await views.position(VIEW)) ?? "") >= (upTo ?? "");

const PAGE = 500;

/** "too-many" if over `most` events match, even after the snapshot; "view-behind" if the view is incomplete. */
export const planReplay = async (
  { log, views, progress }: PlanDeps,
  account: string,
  filter: ReplayFilter,
  most: number,
): Promise<ReplayPlan | "too-many" | "view-behind"> => {
  const head = await log.head("records");
  if (head !== null && !(await progress.waitFor([VIEW], head, VIEW_WAIT_MS))) return "view-behind";
  const upTo = await views.position(VIEW);
  if ((upTo ?? "") < (head ?? "")) return "view-behind";
  const choice = { account, filter, upTo, limit: PAGE };
  const endpoints = new Map<string | null, number>();
  let count = 0;
  let walked = 0;
  let oldest: string | null = null;
  let newest: string | null = null;
  for (let cursor: ReplayCursor | null = null; ; ) {
    const { chosen, walked: more, next }: ChosenPage = await chosenAfter(views, cursor, choice);
    for (const { received_at, endpointId } of chosen) {
      count += 1;
      oldest ??= received_at;
      newest = received_at;
      endpoints.set(endpointId, (endpoints.get(endpointId) ?? 0) + 1);
    }
    walked += more;
    if (walked > most) return "too-many";
    if (next === null)
      return (await isShownUpTo(views, upTo)) ? { count, oldest, newest, endpoints, upTo } : "view-behind";
    cursor = next;
  }
};
