/** A pattern that stands for every action, and the end of one that stands for all whose names begin as it does. */
export const EVERY_ACTION = "*";
export const BEGINNING = ".*";

/** Whether a pattern of a scope, such as `refund.*`, stands for the action. */
export const coversAction = (pattern: string, action: string): boolean =>
  pattern === EVERY_ACTION ||
  pattern === action ||
  // The dot is compared too, so `refund.*` does not match `refunds.create`.
  (pattern.endsWith(BEGINNING) && action.startsWith(pattern.slice(0, -1)));
