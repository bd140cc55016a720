import { createHash } from "node:crypto";
import { canonicalJson } from "../../domain/evidence/canonical-json.ts";
import type { Commitment } from "../../domain/evidence/commitment.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";

const SALT_BYTES = 16;

/** Hex SHA-256 over a salt and bytes. Without the salt, which is erased with the bytes, no guess can be tested. */
export const saltedHash = (salt: Uint8Array, bytes: Uint8Array): string =>
  createHash("sha256").update(salt).update(bytes).digest("hex");

export const commit = (id: string, salt: Uint8Array, bytes: Uint8Array): Commitment => ({
  id,
  commitment: saltedHash(salt, bytes),
  size: bytes.length,
});

/** Two salts from one call of the generator. */
export const twoSalts = (randomness: Randomness): readonly [Buffer, Buffer] => {
  const bytes = Buffer.from(randomness.bytes(2 * SALT_BYTES));
  return [bytes.subarray(0, SALT_BYTES), bytes.subarray(SALT_BYTES)];
};

/** The bytes of headers that a commitment covers. */
export const bytesOfHeaders = (headers: Readonly<Record<string, string>>): Buffer =>
  Buffer.from(canonicalJson(headers));
