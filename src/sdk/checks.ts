import { wrongCall } from "./errors.ts";

const TRAILING_SLASHES = /\/+$/;
const PRINTABLE = /^[\x20-\x7e]+$/;

/** Throws for URLs that fetch would refuse or that would leak the key. */
export const baseOf = (text: string): string => {
  try {
    const { protocol, username, password, search, hash, origin, pathname } = new URL(text);
    if (/^https?:$/.test(protocol) && username + password + search + hash === "")
      return (origin + pathname).replace(TRAILING_SLASHES, "");
  } catch {}
  throw wrongCall("baseUrl is an http or https URL without user, query and fragment.");
};

/** Checks the values, as an error of fetch looks like an unreachable service. */
export const headersOf = (given: Readonly<Record<string, string | number | undefined>>): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const text = String(value);
    // The value may be a key, so the message does not repeat it.
    if (!PRINTABLE.test(text)) throw wrongCall(`The value for the header ${name} is not printable ASCII.`);
    headers[name] = text;
  }
  return headers;
};

/** A String of RFC 8941, section 3.3.3, as draft-ietf-httpapi-idempotency-key-header has it. */
export const quoted = (key: string): string => `"${key.replace(/["\\]/g, "\\$&")}"`;

export const durationOf = (name: string, ms: number): number => {
  if (!(ms >= 0)) throw wrongCall(`${name} is a number of milliseconds, 0 or more.`);
  return ms;
};

export const jsonOf = (body: object): string => {
  try {
    return JSON.stringify(body, (key, value: unknown) => {
      // JSON would turn these numbers into null, which is another request.
      if (typeof value === "number" && !Number.isFinite(value)) throw TypeError(`${key} is ${value}`);
      return value;
    });
  } catch (cause) {
    throw wrongCall("The payload cannot be written as JSON.", cause);
  }
};
