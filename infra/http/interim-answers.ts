import type { Socket } from "node:net";
import errors from "undici/lib/core/errors.js";

/**
 * undici ends the connection at a 100 that follows no `Expect` (nodejs/undici, issue 197), so informational answers
 * (1xx) are removed. A 101 stays and is refused, because what follows it is not HTTP.
 */
export type InterimAnswers = {
  expectAnswer(): void;
  hasAnswerBegun(): boolean;
  /**
   * The chunk without interim answers; null while a head is incomplete. Throws `HeadersOverflowError` beyond
   * `INTERIM_BYTES_MAX`.
   */
  takeOut(chunk: Buffer): Buffer | null;
};

/** All informational answers to one request together may have as many bytes as the headers of the final answer. */
export const INTERIM_BYTES_MAX = 32 * 1_024;

const HEAD_END = "\r\n\r\n";
const BEGINNINGS = ["HTTP/1.1 1", "HTTP/1.0 1"] as const;
/** A whole head with any status from 100 to 199 but 101; undici refuses any line end but CRLF. */
const INTERIM = /^HTTP\/1\.[01] 1(?!01)\d\d(?: [^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*\r\n$/;

/** Where the first digit of the status stands: most answers are ruled out by this byte, without making a string. */
const STATUS_AT = BEGINNINGS[0].length - 1;
const ONE = 0x31;

const mayBeInterim = (bytes: Buffer): boolean => {
  if (bytes.length > STATUS_AT && bytes[STATUS_AT] !== ONE) return false;
  const beginning = bytes.toString("latin1", 0, BEGINNINGS[0].length);
  return BEGINNINGS.some((it) => it.startsWith(beginning));
};

export const interimAnswers = (): InterimAnswers => {
  let isHead = true;
  let takenBytes = 0;
  let hasBegun = false;
  let held: Buffer | null = null;

  const passOn = (bytes: Buffer): Buffer => {
    isHead = false;
    held = null;
    return bytes;
  };

  return {
    expectAnswer() {
      isHead = true;
      takenBytes = 0;
      hasBegun = false;
      held = null;
    },
    hasAnswerBegun: () => hasBegun,
    takeOut(chunk) {
      hasBegun = true;
      if (!isHead) return chunk;
      let rest = held === null ? chunk : Buffer.concat([held, chunk]);
      while (mayBeInterim(rest)) {
        const end = rest.indexOf(HEAD_END);
        const length = end < 0 ? rest.length : end + HEAD_END.length;
        if (takenBytes + length > INTERIM_BYTES_MAX) {
          throw new errors.HeadersOverflowError(`more than ${INTERIM_BYTES_MAX} bytes of informational answers`);
        }
        if (end < 0) {
          held = rest;
          return null;
        }
        if (!INTERIM.test(rest.toString("latin1", 0, length))) break;
        takenBytes += length;
        rest = rest.subarray(length);
      }
      return passOn(rest);
    },
  };
};

export const withoutInterim = (socket: Socket, interim: InterimAnswers): Socket => {
  const push = socket.push.bind(socket);
  socket.push = (chunk: Buffer | null, encoding) => {
    if (chunk === null) return push(chunk, encoding);
    try {
      const rest = interim.takeOut(chunk);
      return rest === null || push(rest, encoding);
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error)));
      return false;
    }
  };
  return socket;
};
