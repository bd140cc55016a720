/** Dots separate the parts of a name, as in `refund.create`, so that `refund.*` in a scope is unambiguous. */
const NAME = /^[a-z][a-z0-9_-]*(?:\.[a-z0-9_-]+)*$/;
export const ACTION_NAME_MAX = 100;

export const isActionName = (text: string): boolean => text.length <= ACTION_NAME_MAX && NAME.test(text);
