import { isUtf8 } from "node:buffer";
import type { PayloadEvent } from "../../domain/delivery/payload-events.ts";
import type { Revision } from "../../domain/ports/event-log.ts";

type PayloadKept = Extract<PayloadEvent, { type: "PayloadKept" }>["data"];

export type Encoded = Pick<PayloadKept, "encoding" | "body">;

/** A long body is encoded in parts of this size, a millisecond each, and other requests are served in between. */
const PART_BYTES = 128 * 1_024;
/** Text of at most this size that needs no long escapes (\u0000) always fits into an append, so it is not measured. */
const TEXT_UNMEASURED_MAX = PART_BYTES;
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for these
const LONG_ESCAPES = /[\0-\x07\x0b\x0e-\x1f]/;
const base64Length = (body: Buffer): number => Math.ceil(body.length / 3) * 4;
const jsonLength = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

/**
 * Encodes a body as text, which people can read in the log, unless it is not UTF-8 or is shorter as base64. `decoded`
 * gives the body as UTF-8.
 */
export const encodeBody = (body: Buffer, decoded = (): string => body.toString("utf8")): Encoded => {
  if (isUtf8(body)) {
    const text = decoded();
    const isShort = body.length <= TEXT_UNMEASURED_MAX && !LONG_ESCAPES.test(text);
    if (isShort || jsonLength(text) <= base64Length(body)) return { encoding: "text", body: text };
  }
  return { encoding: "base64", body: body.toString("base64") };
};

export const decodeBody = ({ encoding, body }: Encoded): Buffer =>
  Buffer.from(body, encoding === "text" ? "utf8" : "base64");

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

export const slicesOf = (body: Buffer): readonly Buffer[] => {
  if (body.length <= PART_BYTES) return [body];
  const isText = isUtf8(body);
  const slices: Buffer[] = [];
  for (let from = 0; from < body.length; ) {
    let to = Math.min(from + PART_BYTES, body.length);
    // Goes back to the beginning of a character, by at most three continuation bytes (RFC 3629, section 3).
    if (isText) while (to < body.length && isContinuation(body[to])) to -= 1;
    slices.push(body.subarray(from, to));
    from = to;
  }
  return slices;
};

export const isEncoded = ({ encoding, body }: Encoded): boolean =>
  typeof encoding === "string" && typeof body === "string";

export const isSameBytes = (a: Encoded, b: Encoded): boolean => a.encoding === b.encoding && a.body === b.body;

type Joined = Encoded & Pick<PayloadKept, "parts">;

/** Null if a part is missing, because the payload's stream is being erased. */
export const joinedBody = (kept: Joined, partAt: (revision: Revision) => Encoded | undefined): Buffer | null => {
  if (kept.parts === undefined) return decodeBody(kept);
  const slices: Buffer[] = [];
  for (const revision of kept.parts) {
    const part = partAt(revision);
    if (part === undefined) return null;
    slices.push(decodeBody(part));
  }
  return Buffer.concat([...slices, decodeBody(kept)]);
};
