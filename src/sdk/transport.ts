import { CountersignError, type ErrorFacts } from "./errors.ts";
import { isObject, parseJson, type Read } from "./json.ts";
import type { FetchAnswer, Platform } from "./platform.ts";
import { problemFacts } from "./problem.ts";

/** Every attempt of a call sends the same bytes, so that the service recognizes a repeat. */
export type Call = {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly idempotencyKey?: string;
  /** Milliseconds that the service may wait before its answer, as the call has asked it to. */
  readonly waitMs: number;
  readonly attemptsMax: number;
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
};

export type Transport = <T>(call: Call, read: Read<T>) => Promise<T>;

type Tried<T> = { readonly value: T } | { readonly facts: ErrorFacts; readonly cause?: unknown };

/** Milliseconds for an answer in addition to `waitMs`, enough for a slow network. */
export const ANSWER_MS = 10_000;
const BACKOFF_MS = 500;
const BACKOFF_MS_MAX = 10_000;

/**
 * Of the gates' refusals only a rate limit is waited for: a budget does not return within seconds, and the loop gate
 * stops repetitions.
 */
const isWorthRepeating = ({ retryable, code, serverCode }: ErrorFacts): boolean =>
  retryable && (code === "gate-rate" || !serverCode?.startsWith("gate-"));

export const transport = ({ fetch, now, after, random }: Platform): Transport => {
  const exchange = async ({ method, url, headers, body }: Call, signal: AbortSignal) => {
    const init = { method, headers, ...(body === undefined ? {} : { body }), redirect: "manual", signal } as const;
    const answer: FetchAnswer = await fetch(url, init);
    return { answer, text: await answer.text() };
  };

  const reach = async (call: Call) => {
    const { signal, waitMs, deadline } = call;
    signal?.throwIfAborted();
    const ended = new AbortController();
    const limitMs = Math.min(waitMs + ANSWER_MS, deadline - now());
    try {
      // The wait ends by itself, because some implementations of fetch ignore the signal.
      const reached = await within({ after }, limitMs, signal, exchange(call, ended.signal));
      return reached ?? { facts: { code: "timeout", detail: "No answer came in time.", retryable: true } as const };
    } catch (cause) {
      signal?.throwIfAborted();
      return {
        facts: { code: "network", detail: "The service could not be reached.", retryable: true } as const,
        cause,
      };
    } finally {
      ended.abort();
    }
  };

  const attempt = async <T>(call: Call, read: Read<T>): Promise<Tried<T>> => {
    const reached = await reach(call);
    if ("facts" in reached) return reached;
    const { status, headers } = reached.answer;
    const body = parseJson(reached.text);
    const value = isObject(body) ? read(body, headers.get("idempotent-replayed") === "true") : null;
    return value === null ? { facts: problemFacts(status, body, headers.get("retry-after")) } : { value };
  };

  return async (call, read) => {
    const { attemptsMax, deadline, signal, idempotencyKey = null } = call;
    for (let failures = 0; ; ) {
      const tried = await attempt(call, read);
      if ("value" in tried) return tried.value;
      const { facts, cause } = tried;
      const { retryAfterMs = null } = facts;
      // The pause is random from 0 on ("full jitter"), so that callers which failed together do not return together.
      const jitter = random() * Math.min(BACKOFF_MS_MAX, BACKOFF_MS * 2 ** failures);
      const pause = retryAfterMs === null ? jitter : retryAfterMs + random() * BACKOFF_MS;
      // "in-progress": an earlier attempt is being processed, so only the deadline limits the wait.
      if (facts.code !== "in-progress") failures += 1;
      if (!isWorthRepeating(facts) || failures >= attemptsMax || now() + pause >= deadline)
        throw new CountersignError({ ...facts, idempotencyKey }, cause);
      await within({ after }, pause, signal);
    }
  };
};

export const within = async <T>(
  { after }: Pick<Platform, "after">,
  ms: number,
  signal: AbortSignal | undefined,
  work?: Promise<T>,
): Promise<T | undefined> => {
  let leave = (): void => {};
  try {
    return await new Promise((resolve, reject) => {
      const abort = (): void => reject(signal?.reason);
      const cancel = after(ms, () => resolve(undefined));
      leave = () => {
        cancel();
        signal?.removeEventListener("abort", abort);
      };
      signal?.addEventListener("abort", abort);
      if (signal?.aborted) abort();
      work?.then(resolve, reject);
    });
  } finally {
    leave();
  }
};
