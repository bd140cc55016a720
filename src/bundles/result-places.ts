import type { BundleRequest } from "../../domain/bundle/events.ts";
import { placeOf, referencesOf } from "../../domain/bundle/results.ts";
import type { FieldPath } from "../../domain/gate/field-path.ts";
import type { Json } from "../../domain/ports.ts";
import type { Payloads } from "../payloads.ts";

/** The whole of it. */
const ROOT: FieldPath = [];

/**
 * Where in each step's payload the results of earlier steps stand, one list a step; the whole payload where that cannot be
 * told any more. Rejects with the log's errors.
 */
export const placesOfResults = async (
  payloads: Pick<Payloads, "read">,
  { bundle_id, payload, steps }: BundleRequest,
): Promise<readonly (readonly FieldPath[])[]> => {
  if (!steps.some(({ uses_results }) => uses_results)) return steps.map(() => []);
  const kept = payload.head === undefined ? await payloads.read(bundle_id, payload) : null;
  // The array of all steps' payloads, written here by JSON.stringify.
  const bodies =
    kept === null || kept === "damaged" ? null : (JSON.parse(kept.body.toString("utf8")) as readonly Json[]);
  return steps.map(({ index, uses_results }) => {
    if (!uses_results) return [];
    return bodies === null ? [ROOT] : referencesOf(bodies[index] ?? null).references.map(placeOf);
  });
};
