import { defined } from "../../../domain/defined.ts";
import type { Condition, Document, FoundDocument, ViewQuery, ViewStore } from "../../../domain/ports/view-store.ts";
import type { EventDocument } from "../../../projections/event-document.ts";
import { events } from "../../../projections/events.ts";
import { denialIn, gateDenials } from "../../../projections/gate-denials.ts";
import { replays } from "../../../projections/replays.ts";
import { countsOf, invalid, isPage, type Page, pageOf } from "../../http/listing.ts";
import { mergedPages, type Newest } from "../../http/merged-pages.ts";
import type { JsonSchema } from "../../http/route.ts";
import { valuesOf } from "../../http/several-values.ts";
import { TIME_RANGE_QUERY, type TimeRange, timeRangeOf } from "../../http/time-range.ts";
import { idsOf, satisfies, withIds } from "../../http/with-ids.ts";
import type { Problem } from "../../streams/problems.ts";
import { documentIn, typedDocument } from "../../views/typed-documents.ts";
import { CHOICES_QUERY, eventChoices, eventFilters, gateCondition } from "./event-choices.ts";
import { meaningOf, type SearchMeaning } from "./event-text.ts";

const TEXT_LENGTH_MAX = 512;
const text = (description: string) =>
  ({ type: "string", minLength: 1, maxLength: TEXT_LENGTH_MAX, description }) as const satisfies JsonSchema;

export const EVENT_SEARCH_QUERY = {
  ...CHOICES_QUERY,
  ids: idsOf("evt_"),
  source_id: text("Only events of this source"),
  agent_id: text("Only requests of this agent"),
  endpoint_id: text("Only events for this endpoint"),
  action: text("Only requests for this action"),
  policy_id: text("Only events on which this policy decided"),
  run: text("Only requests of this run, which is the agent's own id of a task"),
  replay: text("Only events that this replay, begun by `POST /v1/replays`, has sent or decided again"),
  ...TIME_RANGE_QUERY,
  q: text(
    "An event's id, a sender's delivery id, a part of an event type, or what refused it: a gate, as `gate-budget`, or its code",
  ),
} as const satisfies Record<string, JsonSchema>;

type Views = Pick<ViewStore, "get" | "getMany" | "page" | "count">;
type Query = Readonly<Record<string, unknown>>;

const VIEW = events.schema.name;
const DENIALS = gateDenials.schema.name;
const BLOCKED: Condition = { field: "status", is: "=", value: "blocked" };
const SORT = { field: "received_at", order: "desc" } as const;

/** Counting stops here, after a millisecond or two. Conditions that more events meet count as equally common. */
const COUNTED_MAX = 20_000;
/** Up to so many types, the store searches the rarest filter's events for each type; for more it sends them all. */
const TYPES_WALKED_MAX = 4;
const TYPES_AT_ONCE = 16;
/** Where this process filters the events, the store sends chunks that double, from the page's limit up to this. */
const CHUNK_MAX = 500;

/** Reads from a list until enough documents pass a filter that the store cannot apply; at most `most` of the list do. */
const passing =
  (list: Newest, passes: (found: FoundDocument) => boolean, most = Number.POSITIVE_INFINITY): Newest =>
  async (query) => {
    const passed: FoundDocument[] = [];
    // How many stood before the cursor is not known.
    const wanted = query.after === undefined ? Math.min(query.limit, most) : query.limit;
    for (let next = query; passed.length < wanted; ) {
      const found = await list(next);
      passed.push(...found.filter(passes));
      const last = found.at(-1);
      if (last === undefined || found.length < next.limit) break;
      const after = { value: String(last.document[SORT.field]), id: last.id };
      next = { ...next, after, limit: Math.max(query.limit, Math.min(2 * next.limit, CHUNK_MAX)) };
    }
    return passed.slice(0, wanted);
  };

type Asked = {
  readonly account: Condition;
  /** Conditions by which an index of the view can be searched. */
  readonly filters: readonly Condition[];
  /** Conditions for which the view has no index. */
  readonly others: readonly Condition[];
  readonly range: readonly Condition[];
};

const everyCondition = ({ account, filters, others, range }: Asked): readonly Condition[] => [
  account,
  ...filters,
  ...others,
  ...range,
];

const countOf = (views: Views, { account }: Asked, condition: Condition): Promise<number> =>
  views.count(VIEW, [account, condition], COUNTED_MAX);

/** The filter that the fewest events meet; null without filters. An index has one filter: the rarest should lead. */
const rarest = async (
  views: Views,
  asked: Asked,
): Promise<{ readonly field: string; readonly count: number } | null> => {
  const counted = await Promise.all(
    asked.filters.map(async (it) => ({ field: it.field, count: await countOf(views, asked, it) })),
  );
  return counted.sort((a, b) => a.count - b.count).at(0) ?? null;
};

const leadOf = async (views: Views, asked: Asked): Promise<string | undefined> =>
  asked.filters.length < 2 ? asked.filters[0]?.field : (await rarest(views, asked))?.field;

const listOf = (views: Views, asked: Asked, lead: string | undefined, more: readonly Condition[] = []): Newest => {
  const where = [...everyCondition(asked), ...more];
  return (query) => views.page(VIEW, { ...query, where, ...defined({ lead }) });
};

/** The events that were refused by the gate or with the code in `by`, and that were not admitted later. */
const refusedList = (views: Views, asked: Asked, by: Condition): Newest => {
  const { account, range } = asked;
  const wanted = [...everyCondition(asked), BLOCKED];
  const all: Newest = async (query) => {
    const found = await views.page(DENIALS, { ...query, where: [account, by, ...range] });
    const documents = await views.getMany(
      VIEW,
      found.map(({ id }) => id),
    );
    // An event that the view lacks so far has no status and is left out below.
    return found.map(({ id, document }) => ({
      id,
      document: documents.get(id) ?? { received_at: document.received_at ?? null },
    }));
  };
  return passing(all, ({ document }) => satisfies(document, wanted));
};

const isDenied = ({ document }: FoundDocument, by: Condition): boolean => {
  if (!satisfies(document, [BLOCKED])) return false;
  const denial = denialIn(typedDocument<EventDocument>(document).verdict);
  return denial !== undefined && satisfies({ gate: denial.gate, code: denial.code }, [by]);
};

type Words = Extract<SearchMeaning, { readonly kind: "words" }>;

const typeOf = (value: string): Condition => ({ field: "type", is: "=", value });

/** True if at most `count` events are of these types; counting stops as soon as there are more. */
const areRarer = async (
  views: Views,
  { account }: Asked,
  types: readonly string[],
  count: number,
): Promise<boolean> => {
  let [sum, from, some] = [0, 0, 1];
  while (from < types.length && sum <= count) {
    const left = count + 1 - sum;
    const counts = await Promise.all(
      types.slice(from, from + some).map((type) => views.count(VIEW, [account, typeOf(type)], left)),
    );
    sum = counts.reduce((all, it) => all + it, sum);
    from += some;
    some = Math.min(2 * some, TYPES_AT_ONCE);
  }
  return sum <= count;
};

/** Lists that have all events asked for, each searched by its rarest condition: a type, a refusal, or a filter. */
const wordLists = async (views: Views, asked: Asked, { types, refused: named }: Words): Promise<readonly Newest[]> => {
  const filter = await rarest(views, asked);
  // If even the rarest filter is too common to be counted, a list by type soon has a page of events that meet it.
  const isByType =
    filter === null || filter.count >= COUNTED_MAX || (await areRarer(views, asked, types, filter.count));
  // A refused event always has the status `blocked`, so a filter for another status finds none.
  const refused = asked.filters.some(({ field, value }) => field === BLOCKED.field && value !== BLOCKED.value)
    ? []
    : named;
  const counted = await Promise.all(
    refused.map(async (by) => ({ by, count: await views.count(DENIALS, [asked.account, by], COUNTED_MAX) })),
  );
  const byRefusal = counted.filter(({ count }) => filter === null || count <= filter.count).map(({ by }) => by);
  const lists = [
    ...(isByType ? types : []).map((type) => listOf(views, asked, "type", [typeOf(type)])),
    ...byRefusal.map((by) => refusedList(views, asked, by)),
  ];
  if (filter === null || (isByType && byRefusal.length === refused.length)) return lists;
  if (byRefusal.length === refused.length && types.length <= TYPES_WALKED_MAX)
    return [...lists, ...types.map((type) => listOf(views, asked, filter.field, [typeOf(type)]))];
  const wanted = new Set<unknown>(types);
  const passes = (found: FoundDocument): boolean =>
    wanted.has(found.document.type) || refused.some((by) => isDenied(found, by));
  return [...lists, passing(listOf(views, asked, filter.field), passes)];
};

const pagesOf = async (views: Views, asked: Asked, meaning: SearchMeaning | null): Promise<Pick<ViewStore, "page">> => {
  if (meaning?.kind === "events") return withIds(views, meaning.ids);
  if (meaning?.kind === "words") return mergedPages(await wordLists(views, asked, meaning));
  const list = listOf(views, asked, await leadOf(views, asked), meaning?.where);
  return {
    page: (_view, { sort, after, limit }: ViewQuery) => list(defined({ sort, limit, after })),
  };
};

/** The events asked for, which this gate has refused if one is named. */
const newestOf = async (
  views: Views,
  asked: Asked,
  meaning: SearchMeaning | null,
  gate: Condition | null,
): Promise<Newest> => {
  if (gate !== null && meaning === null) return refusedList(views, asked, gate);
  const pages = await pagesOf(views, asked, meaning);
  const where = everyCondition(asked);
  const list: Newest = (query) => pages.page(VIEW, { ...query, where });
  return gate === null ? list : passing(list, (found) => isDenied(found, gate));
};

type Search = { readonly list: Newest; readonly counted: readonly (readonly Condition[])[] };

/** The lists are of different events, so their numbers add up. */
const countAll =
  (views: Views, searches: readonly Search[]): ViewStore["count"] =>
  async (view, _where, atMost) => {
    const all = searches.flatMap(({ counted }) => counted);
    const counts = await Promise.all(all.map((where) => views.count(view, where, atMost)));
    return Math.min(
      atMost,
      counts.reduce((sum, it) => sum + it, 0),
    );
  };

/** Ids are looked up as an id in `q` is. */
const meaningIn = async (views: Views, accountId: string, { ids, q }: Query): Promise<SearchMeaning | null> => {
  if (ids !== undefined) return { kind: "events", ids: valuesOf(ids) };
  return q === undefined ? null : await meaningOf(views, accountId, String(q));
};

type ReplayAsked = {
  readonly filters: readonly Condition[];
  readonly range: readonly Condition[];
  /** Those of a list that the replay has sent or decided again, with the statuses asked for. */
  readonly among: (list: Newest) => Newest;
};

const isOfReplay = ({ document }: FoundDocument, id: string): boolean =>
  typedDocument<EventDocument>(document).replays?.some((it) => it.id === id) === true;

/** Null if no replay is asked for; "unknown" for one that the account does not have. */
const replayAsked = async (views: Views, accountId: string, query: Query): Promise<ReplayAsked | "unknown" | null> => {
  if (query.replay === undefined) return null;
  const id = String(query.replay);
  const known = await documentIn(views, replays, id);
  if (known === null || known.account !== accountId) return "unknown";
  const { source_id: source, from, to } = known.filter;
  // While it runs, the view of the events may be ahead of its count.
  const most = known.status === "running" ? undefined : known.replayed;
  const statuses = valuesOf(query.status);
  return {
    filters: source === undefined ? [] : [{ field: "origin_id", is: "=", value: source }],
    range: [
      { field: SORT.field, is: "<=", value: known.started_at },
      ...(from === undefined ? [] : [{ field: SORT.field, is: ">=", value: from } as const]),
      ...(to === undefined ? [] : [{ field: SORT.field, is: "<", value: to } as const]),
    ],
    among(list) {
      const its = passing(list, (found) => isOfReplay(found, id), most);
      return statuses.length === 0
        ? its
        : passing(its, ({ document }) => statuses.some((status) => status === document.status));
    },
  };
};

const NO_EVENT: SearchMeaning = { kind: "events", ids: [] };

const searchesOf = async (views: Views, accountId: string, query: Query, range: TimeRange) => {
  const ofReplay = await replayAsked(views, accountId, query);
  const replay = ofReplay === "unknown" ? null : ofReplay;
  // Few events of a replay have to be looked for among all: once they are found, their statuses are looked at.
  const { lists: choices, kinds } = await eventChoices(
    views,
    accountId,
    replay === null ? query : { ...query, status: undefined },
  );
  const meaning = ofReplay === "unknown" ? NO_EVENT : await meaningIn(views, accountId, query);
  const gate = gateCondition(query);
  const searches = await Promise.all(
    choices.map(async (choice): Promise<Search> => {
      const asked: Asked = {
        account: { field: "account", is: "=", value: accountId },
        filters: [...eventFilters(query), ...choice, ...(replay?.filters ?? [])],
        others: query.action === undefined ? [] : [{ field: "origin_kind", is: "=", value: "agent" }],
        range: [
          ...(range.from === null ? [] : [{ field: "received_at", is: ">=", value: range.from } as const]),
          ...(range.to === null ? [] : [{ field: "received_at", is: "<", value: range.to } as const]),
          ...(replay?.range ?? []),
        ],
      };
      const found = await newestOf(views, asked, meaning, gate);
      const list = replay === null ? found : replay.among(found);
      const where = everyCondition(asked);
      if (kinds === null) return { list, counted: [where] };
      return {
        list: passing(list, ({ document }) => kinds.some((kind) => kind === document.origin_kind)),
        counted: kinds.map((kind) => [...where, { field: "origin_kind", is: "=", value: kind }]),
      };
    }),
  );
  // The store can count neither a text's matches, nor a gate's, nor a replay's.
  return { searches, isCountable: meaning === null && gate === null && replay === null };
};

export const searchEvents = async <T>(
  views: Views,
  accountId: string,
  query: Query,
  show: (document: Document, id: string) => T,
): Promise<Page<T> | Problem> => {
  const range = timeRangeOf(query);
  if ("problem" in range) return range;
  if (query.ids !== undefined && query.q !== undefined) return invalid("q", "cannot be combined with ids");
  const { searches, isCountable } = await searchesOf(views, accountId, query, range);
  const [only] = searches;
  const { page }: Pick<ViewStore, "page"> =
    only !== undefined && searches.length === 1
      ? { page: (_view, { sort, after, limit }) => only.list(defined({ sort, limit, after })) }
      : mergedPages(searches.map(({ list }) => list));
  const counted = isCountable ? { count: countAll(views, searches) } : {};
  const found = await pageOf({ page, ...counted }, { view: VIEW, where: [], sort: SORT }, query, show);
  if (query.counts === undefined || !isCountable || !isPage(found)) return found;
  const counts = await countsOf(valuesOf(query.counts), async (status, atMost) => {
    const own = await searchesOf(views, accountId, { ...query, status }, range);
    return countAll(views, own.searches)(VIEW, [], atMost);
  });
  return { ...found, counts };
};
