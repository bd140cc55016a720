import { errorMessage } from "../error-message.ts";

export type LimitedCall = {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly body?: string;
  /** Milliseconds for everything, from the look-up of the name to the last byte. */
  readonly timeoutMs: number;
  readonly bytesMax: number;
  /** Ends the call at once. */
  readonly signal?: AbortSignal;
};

export type LimitedAnswer =
  | { readonly ok: true; readonly status: number; readonly body: string }
  /** `problem` completes a sentence that begins with who was called. */
  | { readonly ok: false; readonly problem: string };

/**
 * Calls an address that the operator has configured, which may be private. Redirects are not followed, and an answer
 * beyond the limits is given up.
 */
export const limitedCall = async ({
  url,
  method,
  body,
  timeoutMs,
  bytesMax,
  ...given
}: LimitedCall): Promise<LimitedAnswer> => {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    end();
  }, timeoutMs);
  // Not AbortSignal.any, which on some releases of Node keeps a little of each call as long as the given signal lives.
  given.signal?.addEventListener("abort", end);
  if (given.signal?.aborted) end();
  try {
    const response = await fetch(url, {
      method,
      redirect: "manual",
      signal: ending.signal,
      ...(body === undefined ? {} : { body }),
    });
    const chunks: Uint8Array[] = [];
    let size = 0;
    // Leaving the loop early ends the connection.
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > bytesMax) return { ok: false, problem: `answers with over ${bytesMax} bytes` };
      chunks.push(chunk);
    }
    return { ok: true, status: response.status, body: Buffer.concat(chunks).toString("utf8") };
  } catch (error) {
    if (isLate) return { ok: false, problem: `does not answer within ${timeoutMs} ms` };
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    return { ok: false, problem: `cannot be reached: ${errorMessage(cause)}` };
  } finally {
    clearTimeout(timer);
    given.signal?.removeEventListener("abort", end);
  }
};
