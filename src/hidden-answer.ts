import { type Echo, echoOf } from "../domain/gate/echo.ts";
import type { FieldPath } from "../domain/gate/field-path.ts";
import type { Json } from "../domain/ports.ts";
import type { ReadPayload } from "./payloads.ts";

/**
 * What a reader does not see of a target's answer: what stands at these paths, and what the target repeats of the payload.
 * Null for `echo`: the payload is not there, or no JSON, so that nobody can tell what is repeated.
 */
export type HiddenAnswer = { readonly paths: readonly FieldPath[]; readonly echo: Echo | null };

const jsonOf = ({ body }: ReadPayload): Json | undefined => {
  try {
    // JSON.parse gives nothing but JSON.
    return JSON.parse(body.toString("utf8")) as Json;
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
