import type { IncomingMessage } from "node:http";
import { problem } from "../streams/problems.ts";
import { Refused } from "./refused.ts";

export type BodyLimits = {
  readonly bytesMax: number;
  /** The longest time without a byte. */
  readonly silenceMs: number;
  /** Called before so many more bytes are stored; announced bytes do not count. False if there is no room. */
  readonly take: (bytes: number) => boolean;
};

const tooLarge = (): Refused => new Refused(problem("too-large", "The body is larger than this call accepts."));
const silent = (): Refused => new Refused(problem("request-timeout", "The body stopped arriving."));
const cutOff = (): Refused => new Refused(problem("invalid-request", "The body ended before it was complete."));

/**
 * Reads a body to its end; an error is a `Refused`. A body without room is read and discarded, and is null: a client that
 * is still sending when its connection closes may never see its answer. The returned function discards what has arrived
 * and all that follows, so that the body is null.
 *
 * Chunks are joined as they arrive: stored one by one, a body in chunks of one byte would take a hundred times its size.
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
  // Node has checked that it is a number and enforces that length.
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) {
    done(tooLarge());
    return forget;
  }
  let size = 0;
  let silence: NodeJS.Timeout | undefined;

  /** Null if there is no room. */
  const longer = (sofar: Buffer, chunk: Buffer): Buffer | null => {
    const next = size + chunk.length;
    let all = sofar;
    if (next > sofar.length) {
      // Most bodies are one chunk, stored at its own size. From the second chunk on the buffer doubles.
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
    if (kept !== null) kept = longer(kept, chunk);
    size += chunk.length;
  };
  const end = (): void => finish(null, kept === null ? null : kept.subarray(0, size));
  const fail = (): void => finish(cutOff());
  // Most bodies arrived with their headers and need no timer.
  if (!request.complete) {
    silence = setTimeout(() => finish(silent()), silenceMs);
  }
  request.on("data", add).on("end", end).on("error", fail);
  return forget;
};
