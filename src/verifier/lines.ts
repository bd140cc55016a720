import type { ExportLine } from "../../domain/evidence/export-lines.ts";
import { hasRepeatedName } from "./repeated-names.ts";

/** A file as its bytes, from the beginning each time it is asked for: an export is read twice. */
export type Source = () => AsyncIterable<Uint8Array>;

/** Longer than the longest leaf, and than the proof of an export with 300,000 records of a key. */
const LINE_BYTES_MAX = 64 * 1024 * 1024;

const NEWLINE = 0x0a;
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const joinedWith = (rest: readonly Uint8Array[], length: number, end: Uint8Array): Uint8Array => {
  if (rest.length === 0) return end;
  const whole = new Uint8Array(length + end.length);
  let at = 0;
  for (const part of rest) {
    whole.set(part, at);
    at += part.length;
  }
  whole.set(end, at);
  return whole;
};

/** Takes a line's bytes, without its newline; an answer ends the reading. */
export type TakeLine = (line: Uint8Array) => string | null;

/** Null if each line was taken; else what was answered, or what is wrong with the file. */
export const readLines = async (source: Source, take: TakeLine): Promise<string | null> => {
  let rest: Uint8Array[] = [];
  let restLength = 0;
  for await (const chunk of source()) {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, from);
      if (end === -1) break;
      const answer = take(joinedWith(rest, restLength, chunk.subarray(from, end)));
      if (answer !== null) return answer;
      if (restLength > 0) [rest, restLength] = [[], 0];
      from = end + 1;
    }
    if (from < chunk.length) {
      rest.push(chunk.slice(from));
      restLength += chunk.length - from;
    }
    if (restLength > LINE_BYTES_MAX) return `a line has more than ${LINE_BYTES_MAX} bytes`;
  }
  return restLength === 0 ? null : "the last line does not end: the file was cut off";
};

type Check = (value: unknown) => boolean;
type Members = Readonly<Record<string, Check>>;

const isText: Check = (value) => typeof value === "string";
const isCount: Check = (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
const isHashes: Check = (value) => Array.isArray(value) && value.every(isText);
const isMembers = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const hasMembers = (value: unknown, members: Members, optional: Members = {}): boolean =>
  isMembers(value) &&
  Object.keys(members).every((name) => Object.hasOwn(value, name)) &&
  Object.entries(value).every(([name, member]) => {
    // A name such as "valueOf" would find a function of every object.
    const check = Object.hasOwn(members, name) ? members[name] : Object.hasOwn(optional, name) ? optional[name] : null;
    return check?.(member) === true;
  });

const isFilter: Check = (value) => value === null || (isMembers(value) && Object.values(value).every(isText));
const isOther: Check = (value) => hasMembers(value, { key_hash: isText, number: isCount, last: isCount });

type Kind = ExportLine["kind"];

const KINDS: Readonly<Record<Kind, { readonly members: Members; readonly optional?: Members }>> = {
  header: {
    members: { account: isText, origin: isText, key: isText, from_index: isCount, to_index: isCount, filter: isFilter },
    optional: { payloads: (value) => value === true },
  },
  record: { members: { index: isCount, leaf: isText }, optional: { leaf_hash: isText } },
  tail: { members: { index: isCount, leaf: isText } },
  proof: { members: { hashes: isHashes }, optional: { index: isCount } },
  map: {
    members: { key: isText, number: isCount, last: (value) => value === null || isCount(value), hashes: isHashes },
    optional: { other: isOther },
  },
  payload: { members: { id: isText, salt: isText, bytes: isText } },
  erasure: { members: { index: isCount, leaf: isText, hashes: isHashes } },
  handover: { members: { leaf: isText, proof: isText } },
  cosigned: { members: { text: isText, proof: isText }, optional: { consistency: isHashes } },
  checkpoint: { members: { text: isText, count: isCount } },
};

/** Null if the line is none of an export: an unknown, missing or repeated member is as bad as an unknown kind. */
export const parseLine = (bytes: Uint8Array): ExportLine | null => {
  let value: unknown;
  try {
    const text = decoder.decode(bytes);
    value = JSON.parse(text);
    if (hasRepeatedName(text)) return null;
  } catch {
    return null;
  }
  if (!isMembers(value) || typeof value.kind !== "string" || !Object.hasOwn(KINDS, value.kind)) return null;
  const { members, optional } = KINDS[value.kind as Kind]; // hasOwn has found it there.
  const isLine = hasMembers(value, { ...members, kind: isText }, optional);
  return isLine ? (value as ExportLine) : null; // Each member was checked.
};
