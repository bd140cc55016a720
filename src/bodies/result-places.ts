import type { BundleRequest } from "../../domain/bundle/events.ts";
import { fieldPathOf, referencesOf } from "../../domain/bundle/results.ts";
import type { FieldPath } from "../../domain/gate/field-path.ts";
import type { Json } from "../../domain/json.ts";
import type { Payloads } from "../streams/payloads.ts";

const ROOT: FieldPath = [];

export type PlacesOrder = {
  /** A JSON array with the payload of each step, written by this service. */
  readonly body: Uint8Array;
  readonly uses: readonly boolean[];
};

export const placesIn = ({ body, uses }: PlacesOrder): readonly (readonly FieldPath[])[] => {
  const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString("utf8");
  const bodies = JSON.parse(text) as readonly Json[];
  return uses.map((isUsing, index) => (isUsing ? referencesOf(bodies[index] ?? null).references.map(fieldPathOf) : []));
};

/** Fields of each step's payload that take results of earlier steps: the whole payload if it is gone, so unknown. */
export const placesOfResults = async (
  payloads: Pick<Payloads, "read">,
  { bundle_id, payload, steps }: BundleRequest,
  places: (order: PlacesOrder) => Promise<ReturnType<typeof placesIn>>,
): Promise<readonly (readonly FieldPath[])[]> => {
  const uses = steps.map(({ uses_results }) => uses_results === true);
  if (!uses.includes(true)) return uses.map(() => []);
  const kept = payload.head === undefined ? await payloads.read(bundle_id, payload) : null;
  if (kept === null || kept === "damaged") return uses.map((isUsing) => (isUsing ? [ROOT] : []));
  return places({ body: kept.body, uses });
};
