import { createHmac } from "node:crypto";
import { type Component, contentDigest, messageSignature } from "./message-signatures.ts";

/** https://www.standardwebhooks.com: a symmetric secret is `whsec_` and 24 to 64 bytes in base64. */
const SECRET_PREFIX = "whsec_";
const SECRET_BYTES = 32;

export const makeSigningSecret = (bytes: Uint8Array): string => {
  if (bytes.length !== SECRET_BYTES) throw new Error(`a signing secret has ${SECRET_BYTES} bytes, not ${bytes.length}`);
  return SECRET_PREFIX + Buffer.from(bytes).toString("base64");
};

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");

/** One signature for each secret, so that secrets can be rotated. `timestampS` is in seconds since 1970. */
export const signatureHeader = (secrets: readonly string[], id: string, timestampS: number, body: Uint8Array): string =>
  secrets
    .map((secret) => {
      const mac = createHmac("sha256", keyOf(secret)).update(`${id}.${timestampS}.`).update(body);
      return `v1,${mac.digest("base64")}`;
    })
    .join(" ");

const COVERED = /^(webhook-id|webhook-timestamp|countersign-.+)$/;

/** The signature of Standard Webhooks covers id, time and body, that of RFC 9421 also every `countersign-*` header. */
export const signedHeaders = (
  secrets: readonly string[],
  headers: Readonly<Record<string, string>> & { readonly "webhook-id": string; readonly "webhook-timestamp": string },
  body: Uint8Array,
  keyid: string,
): Record<"webhook-signature" | "content-digest" | "signature-input" | "signature", string> => {
  const created = Number(headers["webhook-timestamp"]);
  const digest = contentDigest(body);
  const components: Component[] = Object.entries(headers).filter(([name]) => COVERED.test(name));
  components.push(["content-digest", digest]);
  return {
    "webhook-signature": signatureHeader(secrets, headers["webhook-id"], created, body),
    "content-digest": digest,
    ...messageSignature(secrets.map(keyOf), components, { created, keyid, alg: "hmac-sha256" }),
  };
};
