import { createHmac } from "node:crypto";

/** https://www.standardwebhooks.com: a symmetric secret is `whsec_` and 24 to 64 bytes in base64. */
const SECRET_PREFIX = "whsec_";
const SECRET_BYTES = 32;

export const makeSigningSecret = (bytes: Uint8Array): string => {
  if (bytes.length !== SECRET_BYTES) throw new Error(`a signing secret has ${SECRET_BYTES} bytes, not ${bytes.length}`);
  return SECRET_PREFIX + Buffer.from(bytes).toString("base64");
};

/**
 * The value of `webhook-signature`: for each secret `v1,` and the base64 HMAC-SHA-256 of `<id>.<timestamp>.<body>`,
 * separated by spaces. A receiver accepts any one of them, so that both hold while a secret is being rotated.
 * `timestampS` in seconds since 1970, as sent in `webhook-timestamp`.
 */
export const signatureHeader = (secrets: readonly string[], id: string, timestampS: number, body: Uint8Array): string =>
  secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
      return `v1,${createHmac("sha256", key).update(`${id}.${timestampS}.`).update(body).digest("base64")}`;
    })
    .join(" ");
