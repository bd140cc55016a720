import { isActionName } from "../action/name.ts";

/** What an agent may ask for: names of actions, `refund.*` for all whose name begins with `refund.`, `*` for every one. */
export type Scope = { readonly actions: readonly string[] };

/** Each is compared with every request. */
export const SCOPE_PATTERNS_MAX = 100;

const EVERYTHING = "*";
const BEGINNING = ".*";

export const isScopePattern = (text: string): boolean =>
  text === EVERYTHING || isActionName(text.endsWith(BEGINNING) ? text.slice(0, -BEGINNING.length) : text);

const matches = (pattern: string, action: string): boolean =>
  pattern === EVERYTHING ||
  pattern === action ||
  // With its dot: `refund.*` is not `refunds.create`.
  (pattern.endsWith(BEGINNING) && action.startsWith(pattern.slice(0, -1)));

export const inScope = ({ actions }: Scope, action: string): boolean =>
  actions.some((pattern) => matches(pattern, action));

/** `refund.*` and `refund.card.*` for `refund.card.create`. */
const beginningsOf = (action: string): readonly string[] => {
  const parts = action.split(".");
  return parts.slice(1).map((_, index) => `${parts.slice(0, index + 1).join(".")}${BEGINNING}`);
};

/** Whether an action is in any of many scopes; it takes as long for thousands of them as for one. */
export const inAnyScope = (scopes: readonly Scope[]): ((action: string) => boolean) => {
  const patterns = new Set(scopes.flatMap(({ actions }) => actions));
  return (action) => [EVERYTHING, action, ...beginningsOf(action)].some((pattern) => patterns.has(pattern));
};
