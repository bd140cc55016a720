import type { FilterValues } from "../../design/filter-values.ts";
import type { AnswerOf } from "../api/api.ts";
import { hrefOf, queryIn } from "../shell/addresses.ts";
import { firstMoment } from "./ranges.ts";

export type ReplayFilter = AnswerOf<"GET /v1/replays">["data"][number]["filter"];

const FILTER_NAMES = ["status", "endpoint_id", "source_id", "range", "from", "to"];
/** Of a list of events: which notifications it has does not matter, as none of them can be sent again. */
const IGNORED = ["origin", "at"];

/** The address of a plan, with its filter in `new`; `list` is what the address says of the list below it. */
export const planHref = (values: FilterValues, list?: FilterValues): string =>
  hrefOf("/replays", { ...list, new: hrefOf("", values).slice(1) });

/** The filter in `new`; null if the address names none. */
export const planIn = ({ new: text }: Readonly<Record<string, string>>): FilterValues | null => {
  if (text === undefined) return null;
  const given = queryIn(new URLSearchParams(text));
  return Object.fromEntries(FILTER_NAMES.flatMap((name) => (given[name] ? [[name, given[name]] as const] : [])));
};

/** The most of what somebody wrote that is repeated to them. */
const CUT = 40;
const cut = (text: string): string => (text.length > CUT ? `${text.slice(0, CUT)}…` : text);

const isReplayable = (status: string | undefined): boolean => status === "failed" || status === "blocked";

/** Null for a plan that can be made, else a sentence that says what the address should name. */
export const faultOfPlan = (query: Readonly<Record<string, string>>): string | null => {
  const { status = "failed" } = planIn(query) ?? {};
  if (!isReplayable(status))
    return `Only failed or refused events can be replayed, not “${cut(status)}”. Choose which events.`;
  const other = [...new URLSearchParams(query.new).keys()].find((name) => !FILTER_NAMES.includes(name));
  if (other === undefined) return null;
  return `A replay cannot be limited by “${cut(other)}”, only by the filters here. Show the plan without it.`;
};

/** What the API is asked for; a relative range begins when the plan is made. */
export const replayFilterOf = ({ status, range, from, ...rest }: FilterValues): ReplayFilter => {
  const start = firstMoment({ range, from });
  const others = Object.entries({ ...rest, from: start }).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(others), status: status === "blocked" ? "blocked" : "failed" };
};

/** The plan for all events of a list; null if its filter says more than a replay's can. */
export const planOfList = (query: FilterValues): string | null => {
  const set = Object.entries(query).filter(([name, value]) => value !== undefined && !IGNORED.includes(name));
  const isPlan = isReplayable(query.status) && set.every(([name]) => FILTER_NAMES.includes(name));
  return isPlan ? planHref(Object.fromEntries(set)) : null;
};
