import type { IncomingMessage } from "node:http";
import { problem } from "../problems.ts";
import { Refused } from "./refused.ts";

export type BodyLimits = {
  readonly bytesMax: number;
  /** A body that brings no byte for so long is given up. */
  readonly silenceMs: number;
  /** Asked before so many more bytes are kept, as what is only announced costs nobody anything. Throws when there is no room. */
  readonly take: (bytes: number) => void;
};

const tooLarge = (): Refused => new Refused(problem("too-large", "The body is larger than this call accepts."));
const silent = (): Refused => new Refused(problem("request-timeout", "The body did not go on arriving."));
const cutOff = (): Refused => new Refused(problem("invalid-request", "The body ended before it was complete."));

/**
 * Reads a body of any kind to its end; an error is a `Refused`. What comes is put together as it comes: kept piece by
 * piece, a body in chunks of one byte would take a hundred times its size.
 */
export const readBody = (
  request: Pick<IncomingMessage, "headers" | "complete" | "on" | "off">,
  { bytesMax, silenceMs, take }: BodyLimits,
  done: (error: Error | null, body?: Buffer) => void,
): void => {
  // Node has seen that it is a number, and sees to it that the body is as long.
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) {
    done(tooLarge());
    return;
  }
  let kept = Buffer.alloc(0);
  let size = 0;
  let silence: NodeJS.Timeout | undefined;

  const keep = (chunk: Buffer): void => {
    const next = size + chunk.length;
    if (next > bytesMax) throw tooLarge();
    if (next > kept.length) {
      // Most bodies are one piece, which is kept as long as it is; a second one shows that there may be many.
      const length = size === 0 ? next : Math.min(bytesMax, Math.max(next, 2 * kept.length));
      take(length - kept.length);
      const longer = Buffer.allocUnsafe(length);
      kept.copy(longer, 0, 0, size);
      kept = longer;
    }
    chunk.copy(kept, size);
    size = next;
  };
  // Behind an error what still comes is read by nobody, and the connection is closed with the answer.
  const leave = (): void => {
    clearTimeout(silence);
    request.off("data", add).off("end", end).off("error", fail);
  };
  const add = (chunk: Buffer): void => {
    silence?.refresh();
    try {
      keep(chunk);
    } catch (error) {
      leave();
      // Both throw nothing else.
      done(error as Refused);
    }
  };
  const end = (): void => {
    leave();
    done(null, kept.subarray(0, size));
  };
  const fail = (): void => {
    leave();
    done(cutOff());
  };
  // Most bodies came in one piece with their headers: there is nothing to wait for.
  if (!request.complete) {
    silence = setTimeout(() => {
      leave();
      done(silent());
    }, silenceMs);
  }
  request.on("data", add).on("end", end).on("error", fail);
};
