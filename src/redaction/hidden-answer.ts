import { type Echo, echoOf } from "../../domain/gate/echo.ts";
import type { FieldPath } from "../../domain/gate/field-path.ts";
import type { Json } from "../../domain/json.ts";
import type { ReadPayload } from "../streams/payloads.ts";
import { JSON_DEPTH_MAX, scanJson } from "../streams/strict-json.ts";

/** The places in a payload, and in what was answered to it, that a reader does not see. */
export type Hidden = readonly FieldPath[];

/**
 * What a reader does not see of a target's answer: what stands at these paths, and what the target repeats of the payload.
 * Null for `echo`: nobody can tell what is repeated, as when the payload is not there, is no JSON or has a name twice.
 */
export type HiddenAnswer = { readonly paths: readonly FieldPath[]; readonly echo: Echo | null };

/** A search of more characters would keep the event loop busy for too long: some 0.5 ms for each 1,000 of the worst ones. */
const SEARCHED_LENGTH_MAX = 131_072;

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

/** What hides: `payload` is what the answer was given to, null if it is not there. */
export type Hiding = { readonly paths: readonly FieldPath[]; readonly payload: Uint8Array | null };

const jsonOf = (body: Uint8Array): Json | undefined => {
  const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString("utf8");
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

/** Null if nothing is hidden. */
export const hidingOf = (paths: readonly FieldPath[], payload: ReadPayload | "damaged" | null): Hiding | null =>
  paths.length === 0 ? null : { paths, payload: payload === null || payload === "damaged" ? null : payload.body };

export const hiddenAnswer = (hiding: Hiding | null): HiddenAnswer | null => {
  if (hiding === null) return null;
  const { paths, payload } = hiding;
  const json = payload === null ? undefined : jsonOf(payload);
  return { paths, echo: json === undefined ? null : echoOf(json, paths) };
};
