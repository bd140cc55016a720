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
  signatureBy(secrets.map(keyOf), `${id}.${timestampS}.`, body);

const signatureBy = (keys: readonly Buffer[], head: string, body: Uint8Array): string =>
  keys.map((key) => `v1,${createHmac("sha256", key).update(head).update(body).digest("base64")}`).join(" ");

const OWN_PREFIX = "countersign-";

const isCovered = (name: string): boolean =>
  name === "webhook-id" ||
  name === "webhook-timestamp" ||
  (name.startsWith(OWN_PREFIX) && name.length > OWN_PREFIX.length);

/** The signature of Standard Webhooks covers id, time and body, that of RFC 9421 also every `countersign-*` header. */
export const signedHeaders = (
  secrets: readonly string[],
  headers: Readonly<Record<string, string>> & { readonly "webhook-id": string; readonly "webhook-timestamp": string },
  body: Uint8Array,
  keyid: string,
): Record<"webhook-signature" | "content-digest" | "signature-input" | "signature", string> => {
  const created = Number(headers["webhook-timestamp"]);
  const digest = contentDigest(body);
  const keys = secrets.map(keyOf);
  const components: Component[] = [];
  for (const name in headers) {
    if (isCovered(name)) components.push([name, headers[name] ?? ""]);
  }
  components.push(["content-digest", digest]);
  const { signature, "signature-input": input } = messageSignature(keys, components, {
    created,
    keyid,
    alg: "hmac-sha256",
  });
  return {
    "webhook-signature": signatureBy(keys, `${headers["webhook-id"]}.${created}.`, body),
    "content-digest": digest,
    "signature-input": input,
    signature,
  };
};
