import { createHash, createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

const FIELD = /(sig\d+)=(\([^)]*\)[^,]*)(?:, |$)/g;

/**
 * The names of the fields that one of the signatures of a message covers (RFC 9421, section 3.2), as a receiver with
 * this `whsec_` secret finds out; null when no signature holds, or the body is not the one of `content-digest`.
 */
export const coveredBy = (secret: string, headers: IncomingHttpHeaders, body: string | Buffer): string[] | null => {
  const digest = createHash("sha256").update(body).digest("base64");
  if (headers["content-digest"] !== `sha-256=:${digest}:`) return null;
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const signatures = String(headers.signature).split(", ");
  for (const [, label, input = ""] of String(headers["signature-input"]).matchAll(FIELD)) {
    const names = [...(/^\(([^)]*)\)/.exec(input)?.[1] ?? "").matchAll(/"([^"]+)"/g)].map(([, name = ""]) => name);
    const lines = names.map((name) => `"${name}": ${headers[name]}`);
    const base = [...lines, `"@signature-params": ${input}`].join("\n");
    const mac = createHmac("sha256", key).update(base).digest("base64");
    if (signatures.includes(`${label}=:${mac}:`)) return names;
  }
  return null;
};
