import type { IncomingHttpHeaders } from "node:http";
import type { HmacAuth } from "../../domain/source/events.ts";
import { PROVIDERS } from "./provider-schemes.ts";

export const REDACTED = "[redacted]";

const HEADERS_MAX = 64;
const VALUE_LENGTH_MAX = 1_024;
const TOTAL_LENGTH_MAX = 16_384;

/** A header with one of these parts in its name carries a credential, of this service or of a proxy. */
const TELLING = /auth|cookie|token|secret|signature|password|api-key|apikey|hmac|session/;

const SIGNATURE_HEADERS: ReadonlySet<string> = new Set(
  Object.values(PROVIDERS).flatMap(({ signatureHeaders }) => signatureHeaders),
);

const isSecret = (name: string, own: string | null): boolean =>
  name === own || SIGNATURE_HEADERS.has(name) || TELLING.test(name);

export const redactHeaders = (headers: IncomingHttpHeaders, auth: HmacAuth | null = null): Record<string, string> => {
  const own = auth?.header.toLowerCase() ?? null;
  const kept: [string, string][] = [];
  let length = 0;
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    const text = Array.isArray(value) ? value.join(", ") : value;
    const shown = isSecret(name, own) ? REDACTED : text.slice(0, VALUE_LENGTH_MAX);
    length += name.length + shown.length;
    if (kept.length === HEADERS_MAX || length > TOTAL_LENGTH_MAX) break;
    kept.push([name, shown]);
  }
  // `fromEntries` creates an own member even for a header named __proto__.
  return Object.fromEntries(kept);
};
