import type { Json } from "../ports.ts";

/** `{"$result": {"step": 0, "pointer": "/id"}}`: a place in what the target of an earlier step has answered. */
export type Reference = {
  /** Where in the payload it stands, a JSON Pointer (RFC 6901). */
  readonly path: string;
  readonly step: number;
  /** Into the answer's body; "" for all of it. */
  readonly pointer: string;
};

export type Malformed = { readonly path: string; readonly detail: string };

export type References = { readonly references: readonly Reference[]; readonly malformed: readonly Malformed[] };

export type Resolved =
  | { readonly ok: true; readonly payload: Json }
  | { readonly ok: false; readonly path: string; readonly detail: string };

export const referencesOf = (_payload: Json): References => ({ references: [], malformed: [] });

/** `resultAt`: the body that a step's target answered; undefined when there is none. */
export const resolved = (payload: Json, _resultAt: (step: number) => Json | undefined): Resolved => ({
  ok: true,
  payload,
});
