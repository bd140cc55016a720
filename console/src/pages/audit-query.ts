import type { FilterValues } from "../../design/filter-values.ts";
import { firstMoment } from "./ranges.ts";

/** What the API is asked for; `range` is relative and stays so in the address. */
export const queryOf = ({ subject, q = subject, type, actor, range, from, to, order }: FilterValues) => {
  const start = firstMoment({ range, from });
  const given = { subject: q, type, actor, from: start, to, order: order === "asc" ? order : undefined };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== ""));
};
