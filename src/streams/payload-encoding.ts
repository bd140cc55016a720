import { isUtf8 } from "node:buffer";
import type { PayloadEvent } from "../../domain/delivery/payload-events.ts";
import type { Revision } from "../../domain/ports/event-log.ts";

type PayloadKept = Extract<PayloadEvent, { type: "PayloadKept" }>["data"];

/** Bytes as they stand in a record. */
export type Encoded = Pick<PayloadKept, "encoding" | "body">;

/**
 * The bytes of one append. Encoding them takes the main thread about a millisecond, and the log's writer as long: other
 * requests are served between the parts of a long body.
 */
const PART_BYTES = 128 * 1_024;
/**
 * JSON takes at most six bytes for one of text (\u0000). Up to here the result stays below the limit of an append, so it
 * is not measured, which would take longer than encoding.
 */
const TEXT_UNMEASURED_MAX = PART_BYTES;
/** These characters take six times their bytes as JSON; all others at most twice. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for these
const LONG_ESCAPES = /[\0-\x07\x0b\x0e-\x1f]/;
const base64Length = (body: Buffer): number => Math.ceil(body.length / 3) * 4;
const jsonLength = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

/** Text is preferred where it yields the same bytes and is not longer than base64, as people can read it in the log. */
export const encodeBody = (body: Buffer): Encoded => {
  if (isUtf8(body)) {
    const text = body.toString("utf8");
    const isShort = body.length <= TEXT_UNMEASURED_MAX && !LONG_ESCAPES.test(text);
    if (isShort || jsonLength(text) <= base64Length(body)) return { encoding: "text", body: text };
  }
  return { encoding: "base64", body: body.toString("base64") };
};

export const decodeBody = ({ encoding, body }: Encoded): Buffer =>
  Buffer.from(body, encoding === "text" ? "utf8" : "base64");

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Slices of at most `PART_BYTES`, cut between characters if the body is text. */
export const slicesOf = (body: Buffer): readonly Buffer[] => {
  if (body.length <= PART_BYTES) return [body];
  const isText = isUtf8(body);
  const slices: Buffer[] = [];
  for (let from = 0; from < body.length; ) {
    let to = Math.min(from + PART_BYTES, body.length);
    // A character of UTF-8 has at most three continuation bytes (RFC 3629, section 3).
    if (isText) while (to < body.length && isContinuation(body[to])) to -= 1;
    slices.push(body.subarray(from, to));
    from = to;
  }
  return slices;
};

export const isEncoded = ({ encoding, body }: Encoded): boolean =>
  typeof encoding === "string" && typeof body === "string";

export const isSameBytes = (a: Encoded, b: Encoded): boolean => a.encoding === b.encoding && a.body === b.body;

/** Null if a part is gone: the stream is being erased. */
export const joinedBody = (kept: PayloadKept, partAt: (revision: Revision) => Encoded | undefined): Buffer | null => {
  if (kept.parts === undefined) return decodeBody(kept);
  const slices: Buffer[] = [];
  for (const revision of kept.parts) {
    const part = partAt(revision);
    if (part === undefined) return null;
    slices.push(decodeBody(part));
  }
  return Buffer.concat([...slices, decodeBody(kept)]);
};
