import type { ViewSchema } from "../../domain/ports/view-store.ts";
import type { ViewQueries } from "./view-queries.ts";

export type ReaderData = { readonly path: string; readonly schemas: readonly ViewSchema[] };

export type ReaderWorkerData = ReaderData & { readonly isGivenUp: Int32Array };

export type Question = {
  readonly [Method in keyof ViewQueries]: {
    readonly method: Method;
    readonly args: Parameters<ViewQueries[Method]>;
  };
}[keyof ViewQueries];

export type Answer = ReturnType<ViewQueries[keyof ViewQueries]>;

export type ToReader =
  | { readonly kind: "ask"; readonly number: number; readonly question: Question }
  | { readonly kind: "close" };

export type FromReader =
  | { readonly kind: "opened" }
  | { readonly kind: "answer"; readonly number: number; readonly answer: Answer }
  /** `isEngine`: SQLite failed and may succeed next time; otherwise the question was a mistake. */
  | { readonly kind: "failed"; readonly number: number; readonly message: string; readonly isEngine: boolean };
