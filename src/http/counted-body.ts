import type { IncomingMessage } from "node:http";
import { problem } from "../streams/problems.ts";
import { ProblemError } from "./problem-error.ts";

export type BodyLimits = {
  readonly bytesMax: number;
  readonly silenceMs: number;
  readonly take: (bytes: number) => boolean;
};

/** A body of 1 MB in packets of 536 bytes has 2,000 chunks. Each chunk costs as much time as a few kilobytes. */
export const CHUNKS_MAX = 8_192;

const tooLarge = (): ProblemError =>
  new ProblemError(problem("too-large", "The body is larger than this call accepts."));
const tooManyChunks = (): ProblemError =>
  new ProblemError(problem("invalid-request", `The body comes in more than ${CHUNKS_MAX} chunks.`));
const silent = (): ProblemError => new ProblemError(problem("request-timeout", "The body stopped arriving."));
const cutOff = (): ProblemError =>
  new ProblemError(problem("invalid-request", "The body ended before it was complete."));

const EMPTY = Buffer.alloc(0);

/** A slice of a larger buffer would keep all of that buffer in memory. */
const ownBytes = (chunk: Buffer): Buffer => (chunk.buffer.byteLength === chunk.length ? chunk : Buffer.from(chunk));

/** Returns a body of the announced length that has arrived whole, as most small ones have; null if it is still arriving. */
export const arrivedBody = (request: Pick<IncomingMessage, "headers" | "readableLength" | "read">): Buffer | null => {
  const bytes = Number(request.headers["content-length"]);
  if (bytes === 0) return EMPTY;
  // Nothing has been read before, so all of the body is in the buffer of the stream.
  return request.readableLength === bytes ? ownBytes(request.read()) : null;
};

/**
 * Reads a body and counts its bytes. If there is no room the body is read to its end and becomes null, because a client
 * that is still sending when its connection closes may never see the answer. Chunks are joined at once: in chunks of
 * one byte, a body would take a hundred times its size. The returned function drops the bytes read so far.
 */
export const readBody = (
  request: Pick<IncomingMessage, "headers" | "complete" | "on" | "off">,
  { bytesMax, silenceMs, take }: BodyLimits,
  done: (error: Error | null, body?: Buffer | null) => void,
): (() => void) => {
  let kept: Buffer | null = EMPTY;
  const forget = (): void => {
    kept = null;
  };
  const bytesEnd = Number(request.headers["content-length"] ?? bytesMax);
  if (bytesEnd > bytesMax) {
    done(tooLarge());
    return forget;
  }
  let size = 0;
  let chunks = 0;
  let silence: NodeJS.Timeout | undefined;

  const longer = (sofar: Buffer, chunk: Buffer): Buffer | null => {
    // Most bodies are one chunk, which is kept as it is. Further chunks double the buffer when it is full.
    if (size === 0) return take(chunk.length) ? ownBytes(chunk) : null;
    const next = size + chunk.length;
    let all = sofar;
    if (next > sofar.length) {
      const length = Math.max(next, Math.min(bytesEnd, 2 * sofar.length));
      if (!take(length - sofar.length)) return null;
      all = Buffer.allocUnsafe(length);
      sofar.copy(all, 0, 0, size);
    }
    chunk.copy(all, size);
    return all;
  };
  const finish = (error: Error | null, body?: Buffer | null): void => {
    clearTimeout(silence);
    request.off("data", add).off("end", end).off("error", fail);
    done(error, body);
  };
  const add = (chunk: Buffer): void => {
    silence?.refresh();
    if (size + chunk.length > bytesMax) {
      finish(tooLarge());
      return;
    }
    chunks += 1;
    if (chunks > CHUNKS_MAX) {
      finish(tooManyChunks());
      return;
    }
    if (kept !== null) kept = longer(kept, chunk);
    size += chunk.length;
  };
  const end = (): void => finish(null, kept === null ? null : kept.subarray(0, size));
  const fail = (): void => finish(cutOff());
  if (!request.complete) {
    silence = setTimeout(() => finish(silent()), silenceMs);
  }
  request.on("data", add).on("end", end).on("error", fail);
  return forget;
};
