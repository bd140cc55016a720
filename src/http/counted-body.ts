import type { IncomingMessage } from "node:http";
import { problem } from "../streams/problems.ts";
import { Refused } from "./refused.ts";

export type BodyLimits = {
  readonly bytesMax: number;
  /** A body that brings no byte for so long is given up. */
  readonly silenceMs: number;
  /** Asked before so many more bytes are kept, as what is only announced costs nobody anything. False: there is no room. */
  readonly take: (bytes: number) => boolean;
};

const tooLarge = (): Refused => new Refused(problem("too-large", "The body is larger than this call accepts."));
const silent = (): Refused => new Refused(problem("request-timeout", "The body stopped arriving."));
const cutOff = (): Refused => new Refused(problem("invalid-request", "The body ended before it was complete."));

/**
 * Reads a body of any kind to its end; an error is a `Refused`. A body for which there was no room is read as well, to
 * nobody, and is null: a client that still sends when its connection is closed may never see its answer. The function that
 * is returned forgets what has come so far, and what comes from then on: the body is null.
 *
 * What comes is put together as it comes: kept piece by piece, a body in chunks of one byte would take a hundred times
 * its size.
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
  // Node has seen that it is a number, and sees to it that the body is as long.
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) {
    done(tooLarge());
    return forget;
  }
  let size = 0;
  let silence: NodeJS.Timeout | undefined;

  /** `sofar` with the chunk behind it. */
  const longer = (sofar: Buffer, chunk: Buffer): Buffer | null => {
    const next = size + chunk.length;
    let all = sofar;
    if (next > sofar.length) {
      // Most bodies are one piece, which is kept as long as it is; a second one shows that there may be many.
      const length = size === 0 ? next : Math.min(bytesMax, Math.max(next, 2 * sofar.length));
      if (!take(length - sofar.length)) return null;
      all = Buffer.allocUnsafe(length);
      sofar.copy(all, 0, 0, size);
    }
    chunk.copy(all, size);
    return all;
  };
  // Behind an error what still comes is read by nobody, and the connection is closed with the answer.
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
    if (kept !== null) kept = longer(kept, chunk);
    size += chunk.length;
  };
  const end = (): void => finish(null, kept === null ? null : kept.subarray(0, size));
  const fail = (): void => finish(cutOff());
  // Most bodies came in one piece with their headers: there is nothing to wait for.
  if (!request.complete) {
    silence = setTimeout(() => finish(silent()), silenceMs);
  }
  request.on("data", add).on("end", end).on("error", fail);
  return forget;
};
