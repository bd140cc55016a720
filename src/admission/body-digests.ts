import { createHash, createHmac } from "node:crypto";

export type DigestOf = { readonly account: string; readonly sourceId: string; readonly body: Uint8Array };

const SHA_256 = /[0-9a-f]{64}/i;

/**
 * Replaces the body's SHA-256 in a delivery key by an HMAC. Delivery keys outlive an erasure and are shown to readers
 * from whom fields are hidden; from a plain digest they could guess a short body.
 */
export const withoutBodyDigest = (
  key: string,
  { account, sourceId, body }: DigestOf,
  digestKey: Uint8Array,
): string => {
  if (!SHA_256.test(key)) return key;
  const plain = new RegExp(createHash("sha256").update(body).digest("hex"), "gi");
  if (!plain.test(key)) return key;
  const keyed = createHmac("sha256", digestKey).update(`digest\0${account}\0${sourceId}\0`).update(body).digest("hex");
  return key.replaceAll(plain, keyed);
};
