import type { IncomingHttpHeaders } from "node:http";
import { type Refused, refused } from "./request.ts";

/** A rotation at the provider's side sends two signatures; this many is somebody trying. */
const PARTS_MAX = 16;

/** The values of a header, one for each time that it was sent. `name` in lower case. */
export const headerValues = (rawHeaders: readonly string[], name: string): string[] => {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at];
    // Comparing lengths first spares nearly every conversion to lower case.
    if (sent?.length === name.length && sent.toLowerCase() === name) values.push(rawHeaders[at + 1] ?? "");
  }
  return values;
};

/** Whether it was sent at all, empty or not. */
export const hasHeader = (rawHeaders: readonly string[], name: string): boolean =>
  headerValues(rawHeaders, name).length > 0;

/** The value of a header that has to be there exactly once. */
export const singleHeader = (rawHeaders: readonly string[], name: string): string | Refused => {
  const [value = "", ...more] = headerValues(rawHeaders, name);
  if (more.length > 0) return refused("malformed", `The header ${name} was sent ${more.length + 1} times.`);
  return value === "" ? refused("missing", `The header ${name} is missing or empty.`) : value;
};

/** A header for identification, where nothing depends on how often it was sent; null when it is missing or empty. */
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
    // Neither key nor value may be empty.
    if (middle <= from || middle + 1 >= to || pairs.length === PARTS_MAX) return null;
    pairs.push([text.slice(from, middle), text.slice(middle + 1, to)]);
    from = to + 1;
  }
  return pairs;
};

/** `t=1,v1=ab,v1=cd` as Stripe (separator `,`) and Paddle (`;`) send it; null when it is anything else. */
export const parsePairs = (text: string, separator: "," | ";"): Pair[] | null => splitPairs(text, separator, "=");

/** `v1,<base64> v1,<base64>` as Standard Webhooks has it; null when it is anything else. */
export const parseVersioned = (text: string): Pair[] | null => splitPairs(text, " ", ",");
