import type { IncomingHttpHeaders } from "node:http";
import { failure, type SignatureFailure } from "./request.ts";

/** A provider that rotates its secret sends two signatures, so a header with more parts than this is an attack. */
const PARTS_MAX = 16;

export const headerValues = (rawHeaders: readonly string[], name: string): string[] => {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at];
    // Most names differ in length, so few of them have to be converted to lower case.
    if (sent?.length === name.length && sent.toLowerCase() === name) values.push(rawHeaders[at + 1] ?? "");
  }
  return values;
};

export const hasHeader = (rawHeaders: readonly string[], name: string): boolean =>
  headerValues(rawHeaders, name).length > 0;

export const singleHeader = (rawHeaders: readonly string[], name: string): string | SignatureFailure => {
  const [value = "", ...more] = headerValues(rawHeaders, name);
  if (more.length > 0) return failure("malformed", `The header ${name} was sent ${more.length + 1} times.`);
  return value === "" ? failure("missing", `The header ${name} is missing or empty.`) : value;
};

/** A repeated header is harmless here, because this value only identifies a delivery and authenticates nothing. */
export const headerText = (headers: IncomingHttpHeaders, name: string): string | null => {
  const value = headers[name];
  const text = Array.isArray(value) ? value.join(", ") : value;
  return text === undefined || text === "" ? null : text;
};

export type Pair = readonly [key: string, value: string];

const splitPairs = (text: string, between: string, inside: string): Pair[] | null => {
  const pairs: Pair[] = [];
  for (let from = 0; from <= text.length; ) {
    const next = text.indexOf(between, from);
    const to = next === -1 ? text.length : next;
    const middle = text.indexOf(inside, from);
    if (middle <= from || middle + 1 >= to || pairs.length === PARTS_MAX) return null;
    pairs.push([text.slice(from, middle), text.slice(middle + 1, to)]);
    from = to + 1;
  }
  return pairs;
};

/** Splits `t=1,v1=ab,v1=cd` as Stripe (separator `,`) and Paddle (`;`) send it; null for any other form. */
export const parsePairs = (text: string, separator: "," | ";"): Pair[] | null => splitPairs(text, separator, "=");

/** Splits `v1,<base64> v1,<base64>` as in Standard Webhooks; null for any other form. */
export const parseVersioned = (text: string): Pair[] | null => splitPairs(text, " ", ",");
