import { createHmac, hash } from "node:crypto";

/** `Content-Digest` is defined by RFC 9530, section 2. */
export const contentDigest = (body: Uint8Array): string => `sha-256=:${hash("sha256", body, "base64")}:`;

/** A name of a field or a derived component, in lower case, and its value (RFC 9421, section 2). */
export type Component = readonly [name: string, value: string];

/** The parameters are signed in this order (RFC 9421, section 2.3). */
export type SignatureParameters = { readonly created: number; readonly keyid: string; readonly alg?: "hmac-sha256" };

/** Ids and times have no quote and no backslash, so nothing is escaped as RFC 8941, section 3.3.3, asks for strings. */
const parametersText = (names: readonly string[], { created, keyid, alg }: SignatureParameters): string =>
  `(${names.map((name) => `"${name}"`).join(" ")});created=${created};keyid="${keyid}"` +
  (alg === undefined ? "" : `;alg="${alg}"`);

/** HMAC-SHA-256 (RFC 9421, sections 2.5, 3.3.3 and 4), a signature for each key, so that secrets can be rotated. */
export const messageSignature = (
  keys: readonly Uint8Array[],
  components: readonly Component[],
  parameters: SignatureParameters,
): { readonly "signature-input": string; readonly signature: string } => {
  const input = parametersText(
    components.map(([name]) => name),
    parameters,
  );
  const base = [...components, ["@signature-params", input]].map(([name, value]) => `"${name}": ${value}`).join("\n");
  const labelled = (texts: readonly string[]): string => texts.map((text, n) => `sig${n + 1}=${text}`).join(", ");
  return {
    "signature-input": labelled(keys.map(() => input)),
    signature: labelled(keys.map((key) => `:${createHmac("sha256", key).update(base).digest("base64")}:`)),
  };
};
