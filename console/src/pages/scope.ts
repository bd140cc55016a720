export const SCOPE_HINT =
  "Names of actions, separated by commas. refund.* stands for all that begin with refund., * for all.";

/** The patterns that were written, each once. */
export const scopeOf = (text: string): readonly string[] => [
  ...new Set(text.split(/[\s,]+/).filter((it) => it !== "")),
];

/** What the patterns let an agent ask for, in words. */
export const scopeText = (patterns: readonly string[]): string =>
  patterns
    .map((it) => (it === "*" ? "every action" : it.endsWith(".*") ? `all that begin with ${it.slice(0, -1)}` : it))
    .join(", ");
