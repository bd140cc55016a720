import { errorMessage } from "../error-message.ts";

export type LimitedCall = {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly body?: string;
  /** Milliseconds for everything, from the look-up of the name to the last byte. */
  readonly timeoutMs: number;
  readonly bytesMax: number;
};

export type LimitedAnswer =
  | { readonly ok: true; readonly status: number; readonly body: string }
  /** `problem` completes a sentence that begins with who was called. */
  | { readonly ok: false; readonly problem: string };

/**
 * Calls an address that the operator has configured, which may be private. Redirects are not followed, and an answer
 * beyond the limits is given up.
 */
export const limitedCall = async ({ url, method, body, timeoutMs, bytesMax }: LimitedCall): Promise<LimitedAnswer> => {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { method, redirect: "manual", signal, ...(body === undefined ? {} : { body }) });
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
    if (signal.aborted) return { ok: false, problem: `does not answer within ${timeoutMs} ms` };
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    return { ok: false, problem: `cannot be reached: ${errorMessage(cause)}` };
  }
};
