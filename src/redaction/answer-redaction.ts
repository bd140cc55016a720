import { type Echo, echoOf } from "../../domain/gate/echo.ts";
import type { FieldPath } from "../../domain/gate/field-path.ts";
import type { Json } from "../../domain/json.ts";
import type { ReadPayload } from "../streams/payloads.ts";
import { JSON_DEPTH_MAX, scanJson } from "../streams/strict-json.ts";

export type HiddenPaths = readonly FieldPath[];

/**
 * `echo` finds what an answer repeats of the payload; null, to hide all, if the payload is gone, not JSON or ambiguous.
 */
export type AnswerRedaction = { readonly paths: readonly FieldPath[]; readonly echo: Echo | null };

/** Characters to search. The search blocks its thread, at worst for 0.5 ms for each 1,000 characters. */
const SEARCHED_LENGTH_MAX = 131_072;

/** Answers that are shown together share the limit on searched characters. An answer beyond it is hidden as a whole. */
export const searchLimit = () => {
  let left = SEARCHED_LENGTH_MAX;
  return (hidden: AnswerRedaction | null, length: number): AnswerRedaction | null => {
    if (hidden === null || length <= left) {
      left -= length;
      return hidden;
    }
    return { ...hidden, echo: null };
  };
};

export type RedactionSource = { readonly paths: readonly FieldPath[]; readonly payload: Uint8Array | null };

const jsonOf = (body: Uint8Array): Json | undefined => {
  const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString("utf8");
  try {
    const json = JSON.parse(text) as Json;
    const { duplicate, tooDeep } = scanJson(text, JSON_DEPTH_MAX);
    // The target may have read the other value of a duplicate name, so such a payload counts as ambiguous.
    return duplicate === undefined && tooDeep === undefined ? json : undefined;
  } catch {
    return undefined;
  }
};

export const redactionSource = (
  paths: readonly FieldPath[],
  payload: ReadPayload | "damaged" | null,
): RedactionSource | null =>
  paths.length === 0 ? null : { paths, payload: payload === null || payload === "damaged" ? null : payload.body };

export const answerRedaction = (hiding: RedactionSource | null): AnswerRedaction | null => {
  if (hiding === null) return null;
  const { paths, payload } = hiding;
  const json = payload === null ? undefined : jsonOf(payload);
  return { paths, echo: json === undefined ? null : echoOf(json, paths) };
};
