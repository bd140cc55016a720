import { thisMinute } from "./ranges.ts";

/** The most series that the API takes for one answer. */
const SERIES_MAX = 50;

/** What each agent did since midnight in the account's zone. */
export const todayQuery = (now: number) =>
  ({
    metric: "cost_eur,spent_eur,reserved_eur,blocked",
    by: "agent",
    step: "1d",
    limit: SERIES_MAX,
    ...thisMinute(now),
  }) as const;
