import type { Fetch } from "./platform.ts";

// Every option allows `undefined`, so that options can be passed on under any compiler setting.

export type Options = {
  readonly baseUrl: string;
  /** The agent's key, which begins with `csa_`. */
  readonly key: string;
  readonly fetch?: Fetch | undefined;
  /** Maximum number of attempts of a call that fails temporarily. Default: 6. */
  readonly attemptsMax?: number | undefined;
};

export type CallOptions = {
  /** On abort the call rejects with the signal's reason. An action that was already sent may still happen. */
  readonly signal?: AbortSignal | undefined;
  readonly traceparent?: string | undefined;
};

export type ExecuteOptions = CallOptions & {
  /** The id of the agent's run. The policy's limits per run count all requests with the same id. */
  readonly runId?: string | undefined;
  /** Milliseconds to wait for the execution's end. Default: 10,000. A held request is returned at once. */
  readonly waitMs?: number | undefined;
  /** Requests with the same key execute the action only once. Default: a new key for each call. */
  readonly idempotencyKey?: string | undefined;
  /** The expected cost in euros. It counts if it is higher than the policy's estimate. */
  readonly costEur?: number | undefined;
  /** The header `countersign-depth` of the request that called this agent, unchanged. */
  readonly depth?: number | undefined;
  /** Milliseconds for all attempts of the call together. Default: a minute more than `waitMs`. */
  readonly timeoutMs?: number | undefined;
};

export type BundleOptions = Omit<ExecuteOptions, "costEur"> & {
  readonly name?: string | undefined;
};

export type ExecutionOptions = CallOptions & {
  /** Milliseconds to wait for the execution's end, at most 30,000. Default: 0. */
  readonly waitMs?: number | undefined;
};

export type WaitOptions = CallOptions & {
  /** Milliseconds to wait for the end. Default: no limit. The last request may take some seconds longer. */
  readonly timeoutMs?: number | undefined;
};
