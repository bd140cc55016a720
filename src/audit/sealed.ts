import type { Json, JsonObject } from "../../domain/json.ts";

const MASK = "[sealed]";
/** Fields that deciders seal before they are recorded (`infra/crypto/secret-box.ts`). */
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
 * The data shown to a reader. Ciphertext is safe while the key is, but search results end up in tickets and mails and
 * outlive keys. The leaf's hash covers the data as recorded, which an export contains.
 */
export const withoutSealed = (data: JsonObject): JsonObject => {
  const shown = masked(data);
  const { changes } = data;
  return changes !== null && typeof changes === "object" && !Array.isArray(changes)
    ? // Array.isArray does not narrow a readonly array away.
      { ...shown, changes: masked(changes as JsonObject) }
    : shown;
};
