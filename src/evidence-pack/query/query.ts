import type { Pointer, Scalar } from "./pointer.ts";

/** What is true of the value at `at`; `some`: an element of the list there fulfils all of these. */
export type Test =
  | { readonly kind: "in" | "not-in"; readonly values: ReadonlySet<string> }
  | { readonly kind: "at-least" | "at-most"; readonly number: number }
  | { readonly kind: "exists"; readonly exists: boolean }
  | { readonly kind: "some"; readonly where: readonly Condition[] };

export type Condition = { readonly at: Pointer; readonly test: Test };

/** A member that is null does not restrict. `period`: only records whose `recorded_at` is in the pack's period. */
export type Filter = {
  readonly types: ReadonlySet<string> | null;
  readonly categories: ReadonlySet<string> | null;
  readonly actors: ReadonlySet<string> | null;
  readonly where: readonly Condition[];
  readonly time: "period" | "any";
};

/** A value of the record in question (`subject`) or of the record that an earlier need found under this name. */
export type Reference = { readonly of: string; readonly at: Pointer };

export type Comparison = {
  readonly at: Pointer;
  readonly test: "equals" | "not-in";
  readonly to: Reference;
  /** The comparison counts only if this holds; null if it always counts. */
  readonly onlyIf: { readonly of: Reference; readonly is: Scalar } | null;
};

/**
 * A record that has to be there. `before`: one before the subject; `after`: one after it; `latest`: the last one before
 * the subject, which must also pass `mustBe`.
 */
export type Need = {
  readonly name: string;
  readonly of: Filter;
  readonly when: "before" | "after" | "latest";
  /** Where the record has the same value as `match`. */
  readonly key: Pointer;
  readonly match: Reference;
  readonly compare: readonly Comparison[];
  readonly mustBe: Filter | null;
  /** True: a subject without such a record passes too. */
  readonly orNone: boolean;
  /** How many records with different values at `distinct` there have to be; null for one record. */
  readonly count: { readonly distinct: Pointer; readonly atLeast: number | Reference } | null;
};

type Shown = { readonly label: string; readonly at: Pointer };

export type Query =
  | { readonly ask: "count"; readonly of: Filter }
  | { readonly ask: "distinct"; readonly of: Filter; readonly at: Pointer }
  | { readonly ask: "list"; readonly of: Filter; readonly show: readonly Shown[]; readonly first: number }
  /** Each record of `of` needs all of one of these alternatives. */
  | { readonly ask: "every"; readonly of: Filter; readonly anyOf: readonly (readonly Need[])[] }
  | { readonly ask: "budgets" };

export const SUBJECT = "subject";
