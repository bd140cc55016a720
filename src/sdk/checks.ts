import { wrongCall } from "./errors.ts";

const TRAILING_SLASHES = /\/+$/;
const PRINTABLE = /^[\x20-\x7e]+$/;

/** The URL without a slash at the end. Throws for URLs that fetch would refuse or that would disclose the key. */
export const baseOf = (text: string): string => {
  try {
    const { protocol, username, password, search, hash, origin, pathname } = new URL(text);
    if (/^https?:$/.test(protocol) && username + password + search + hash === "")
      return (origin + pathname).replace(TRAILING_SLASHES, "");
  } catch {}
  throw wrongCall("baseUrl is an http or https URL without user, query and fragment.");
};

/** The values are checked here, because an error of fetch would look as if the service could not be reached. */
export const headersOf = (given: Readonly<Record<string, string | number | undefined>>): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const text = String(value);
    // The message does not repeat the value, because it may be a key.
    if (!PRINTABLE.test(text)) throw wrongCall(`The value for the header ${name} is not printable ASCII.`);
    headers[name] = text;
  }
  return headers;
};

/** A key as a String of RFC 8941, section 3.3.3, as draft-ietf-httpapi-idempotency-key-header wants it. */
export const quoted = (key: string): string => `"${key.replace(/["\\]/g, "\\$&")}"`;

export const durationOf = (name: string, ms: number): number => {
  if (!(ms >= 0)) throw wrongCall(`${name} is a number of milliseconds, 0 or more.`);
  return ms;
};

export const jsonOf = (body: object): string => {
  try {
    return JSON.stringify(body, (key, value: unknown) => {
      // JSON would write these numbers as null, and so make another request of it.
      if (typeof value === "number" && !Number.isFinite(value)) throw TypeError(`${key} is ${value}`);
      return value;
    });
  } catch (cause) {
    throw wrongCall("The payload cannot be written as JSON.", cause);
  }
};
