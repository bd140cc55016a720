import { isActionName } from "../evidence/action-name.ts";

/** `refund.*` stands for all actions whose name begins with `refund.`, and `*` for every action. */
export type Scope = { readonly actions: readonly string[] };

export const SCOPE_PATTERNS_MAX = 100;

const EVERYTHING = "*";
const BEGINNING = ".*";

export const isScopePattern = (text: string): boolean =>
  text === EVERYTHING || isActionName(text.endsWith(BEGINNING) ? text.slice(0, -BEGINNING.length) : text);

const matches = (pattern: string, action: string): boolean =>
  pattern === EVERYTHING ||
  pattern === action ||
  // The dot is compared too, so `refund.*` does not match `refunds.create`.
  (pattern.endsWith(BEGINNING) && action.startsWith(pattern.slice(0, -1)));

export const inScope = ({ actions }: Scope, action: string): boolean =>
  actions.some((pattern) => matches(pattern, action));

/** `refund.card.create` gives `refund.*` and `refund.card.*`. */
const beginningsOf = (action: string): readonly string[] => {
  const parts = action.split(".");
  return parts.slice(1).map((_, index) => `${parts.slice(0, index + 1).join(".")}${BEGINNING}`);
};

/** The returned function takes the same time for any number of scopes. */
export const inAnyScope = (scopes: readonly Scope[]): ((action: string) => boolean) => {
  const patterns = new Set(scopes.flatMap(({ actions }) => actions));
  return (action) => [EVERYTHING, action, ...beginningsOf(action)].some((pattern) => patterns.has(pattern));
};
