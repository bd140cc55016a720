import { type Problem, problem } from "../streams/problems.ts";

const KEY_LENGTH_MAX = 255;
/** Matches a String of RFC 8941, section 3.3.3, in which quote and backslash are escaped; the group is its content. */
const QUOTED = /^"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;
const BARE = /^[\x21\x23-\x7e][\x20-\x7e]*$/;

const unquoted = (value: string): string | undefined => {
  if (BARE.test(value)) return value;
  return QUOTED.exec(value)?.[1]?.replace(/\\(["\\])/g, "$1");
};

export const idempotencyKey = (values: readonly string[]): string | Problem | null => {
  const [value, second] = values;
  if (value === undefined) return null;
  if (second !== undefined) return problem("invalid-request", "Send one Idempotency-Key, not several.");
  const key = unquoted(value);
  if (key === undefined || key.length === 0 || key.length > KEY_LENGTH_MAX) {
    const detail = `An Idempotency-Key has 1 to ${KEY_LENGTH_MAX} printable ASCII characters, quoted or not.`;
    return problem("invalid-request", detail);
  }
  return key;
};
