import type { Json, JsonObject } from "../../domain/json.ts";

const MASK = "[sealed]";
/** These fields are in the records only in sealed form (`infra/crypto/secret-box.ts`). */
const SEALED_FIELDS = ["secret", "password"] as const;

const masked = (object: JsonObject): JsonObject => {
  const copy: Record<string, Json> = { ...object };
  for (const field of SEALED_FIELDS) if (typeof copy[field] === "string") copy[field] = MASK;
  const { headers } = object;
  if (headers !== null && typeof headers === "object" && !Array.isArray(headers))
    copy.headers = Object.fromEntries(Object.keys(headers).map((name) => [name, MASK]));
  return copy;
};

/** Search results end up in tickets and outlive keys, so they have no ciphertext; the leaf's hash still covers it. */
export const withoutSealed = (data: JsonObject): JsonObject => {
  const shown = masked(data);
  const { changes } = data;
  return changes !== null && typeof changes === "object" && !Array.isArray(changes)
    ? // Array.isArray does not narrow a readonly array away.
      { ...shown, changes: masked(changes as JsonObject) }
    : shown;
};
