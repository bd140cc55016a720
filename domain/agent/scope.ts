import { isActionName } from "../evidence/action-name.ts";
import { BEGINNING, coversAction, EVERY_ACTION } from "../evidence/action-pattern.ts";

/** `refund.*` stands for all actions whose name begins with `refund.`, and `*` for every action. */
export type Scope = { readonly actions: readonly string[] };

export const SCOPE_PATTERNS_MAX = 100;

export const isScopePattern = (text: string): boolean =>
  text === EVERY_ACTION || isActionName(text.endsWith(BEGINNING) ? text.slice(0, -BEGINNING.length) : text);

export const inScope = ({ actions }: Scope, action: string): boolean =>
  actions.some((pattern) => coversAction(pattern, action));

/** `refund.card.create` gives `refund.*` and `refund.card.*`. */
const beginningsOf = (action: string): readonly string[] => {
  const parts = action.split(".");
  return parts.slice(1).map((_, index) => `${parts.slice(0, index + 1).join(".")}${BEGINNING}`);
};

/** The returned function takes the same time for any number of scopes. */
export const inAnyScope = (scopes: readonly Scope[]): ((action: string) => boolean) => {
  const patterns = new Set(scopes.flatMap(({ actions }) => actions));
  return (action) => [EVERY_ACTION, action, ...beginningsOf(action)].some((pattern) => patterns.has(pattern));
};
