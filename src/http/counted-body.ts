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
  let kept: Buffer | null = Buffer.alloc(0);
  const forget = (): void => {
    kept = null;
  };
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) {
    done(tooLarge());
    return forget;
  }
  let size = 0;
  let chunks = 0;
  let silence: NodeJS.Timeout | undefined;

  const longer = (sofar: Buffer, chunk: Buffer): Buffer | null => {
    const next = size + chunk.length;
    let all = sofar;
    if (next > sofar.length) {
      // Most bodies are one chunk, whose buffer has exactly its size. Further chunks double the buffer when it is full.
      const length = size === 0 ? next : Math.min(bytesMax, Math.max(next, 2 * sofar.length));
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
