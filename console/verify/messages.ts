import type { Verdict } from "../../src/verifier/index.ts";

/** What the page asks its worker to check. Keys are lines; `previous` are checkpoints that were kept. */
export type Question = {
  readonly files: readonly File[];
  readonly previous: readonly File[];
  readonly keys: readonly string[];
  readonly witnesses: readonly string[];
};

export type Answer =
  | { readonly kind: "progress"; readonly bytes: number }
  | { readonly kind: "report"; readonly verdict: Verdict; readonly lines: readonly string[] }
  | { readonly kind: "failure"; readonly reason: string };
