import { type Echo, echoOf } from "../domain/gate/echo.ts";
import type { FieldPath } from "../domain/gate/field-path.ts";
import type { Json } from "../domain/ports.ts";
import { JSON_DEPTH_MAX, scanJson } from "./http/strict-json.ts";
import type { ReadPayload } from "./payloads.ts";

/**
 * What a reader does not see of a target's answer: what stands at these paths, and what the target repeats of the payload.
 * Null for `echo`: nobody can tell what is repeated, as when the payload is not there, is no JSON or has a name twice.
 */
export type HiddenAnswer = { readonly paths: readonly FieldPath[]; readonly echo: Echo | null };

/** A search of more characters would keep the event loop busy for too long: some 0.5 ms for each 1,000 of the worst ones. */
export const SEARCHED_LENGTH_MAX = 131_072;

/** The same for several answers that are shown together: those after the limit are hidden as a whole. */
export const searchLimit = () => {
  let left = SEARCHED_LENGTH_MAX;
  return (hidden: HiddenAnswer | null, length: number): HiddenAnswer | null => {
    if (hidden === null || length <= left) {
      left -= length;
      return hidden;
    }
    return { ...hidden, echo: null };
  };
};

const jsonOf = ({ body }: ReadPayload): Json | undefined => {
  const text = body.toString("utf8");
  try {
    // JSON.parse gives nothing but JSON.
    const json = JSON.parse(text) as Json;
    const { duplicate, tooDeep } = scanJson(text, JSON_DEPTH_MAX);
    // Of a name that is there twice, a target may have read the other value.
    return duplicate === undefined && tooDeep === undefined ? json : undefined;
  } catch {
    return undefined;
  }
};

/** Null where nothing is hidden. `payload`: what the answer was given to. */
export const hiddenAnswer = (
  paths: readonly FieldPath[],
  payload: ReadPayload | "damaged" | null,
): HiddenAnswer | null => {
  if (paths.length === 0) return null;
  const json = payload === null || payload === "damaged" ? undefined : jsonOf(payload);
  return { paths, echo: json === undefined ? null : echoOf(json, paths) };
};
