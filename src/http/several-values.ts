import type { JsonSchema } from "./route.ts";

/** The schema of a parameter that takes one or several of these values. */
export const severalOf = (values: readonly string[], description: string) =>
  ({
    type: "string",
    pattern: `^(${values.join("|")})(,(${values.join("|")}))*$`,
    description: `${description}: one or several of ${values.join(", ")}, separated by commas`,
  }) as const satisfies JsonSchema;

/** The values of a parameter that may have several; empty without it. */
export const valuesOf = (given: unknown): readonly string[] =>
  given === undefined ? [] : [...new Set(String(given).split(","))];
