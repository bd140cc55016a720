import { hash } from "node:crypto";
import type { PayloadEvent } from "../../domain/delivery/payload-events.ts";
import type { Commitment } from "../../domain/evidence/commitment.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";

type ResponseKept = Extract<PayloadEvent, { type: "ResponseKept" }>["data"];

const SALT_BYTES = 16;

/** Hex SHA-256 over a salt and bytes. Without the salt, which is erased with the bytes, no guess can be tested. */
export const saltedHash = (salt: Uint8Array, bytes: Uint8Array): string => hash("sha256", Buffer.concat([salt, bytes]));

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

/** What a commitment to headers covers: their JSON, with the members in the order in which they are stored. */
export const bytesOfHeaders = (headers: object): Buffer => Buffer.from(JSON.stringify(headers));

type Exchange = Pick<ResponseKept, "headers" | "request_headers">;

export const bytesOfExchange = ({ request_headers: request, headers: response }: Exchange): Buffer =>
  bytesOfHeaders({ request, response });
