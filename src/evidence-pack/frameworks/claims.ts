import type { JsonObject } from "../../../domain/json.ts";

type Records = { readonly type: readonly string[] };
type Shown = Records & { readonly show: Readonly<Record<string, string>>; readonly first?: number };

export const counted = (id: string, statement: string, { type }: Records): JsonObject => ({
  id,
  statement,
  query: { ask: "count", of: { type } },
});

/** How often each value at the JSON Pointer `at` occurs. */
export const distinct = (
  id: string,
  statement: string,
  { type, at }: Records & { readonly at: string },
): JsonObject => ({ id, statement, query: { ask: "distinct", of: { type }, at } });

/** `show`: labels, each with the JSON Pointer of its value. */
export const listed = (id: string, statement: string, { type, show, first }: Shown): JsonObject => {
  const shown = Object.entries(show).map(([label, at]) => ({ label, at }));
  return {
    id,
    statement,
    query: { ask: "list", of: { type }, show: shown, ...(first === undefined ? {} : { first }) },
  };
};
