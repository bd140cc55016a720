import type { Json, JsonObject } from "../../domain/json.ts";

const MASK = "[sealed]";
/** What the deciders seal before it is recorded (`infra/crypto/secret-box.ts`). */
const SEALED_FIELDS = ["secret", "password"] as const;

const masked = (object: JsonObject): JsonObject => {
  const copy: Record<string, Json> = { ...object };
  for (const field of SEALED_FIELDS) if (typeof copy[field] === "string") copy[field] = MASK;
  const { headers } = object;
  if (headers !== null && typeof headers === "object" && !Array.isArray(headers))
    copy.headers = Object.fromEntries(Object.keys(headers).map((name) => [name, MASK]));
  return copy;
};

/**
 * A record's data for a reader. Ciphertext is no secret while the key is kept, but a search answer ends up in tickets
 * and mails and outlives keys. The leaf's hash is over the data as recorded, which an export carries.
 */
export const withoutSealed = (data: JsonObject): JsonObject => {
  const shown = masked(data);
  const { changes } = data;
  return changes !== null && typeof changes === "object" && !Array.isArray(changes)
    ? // Array.isArray does not narrow a readonly array away.
      { ...shown, changes: masked(changes as JsonObject) }
    : shown;
};
