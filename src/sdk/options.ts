import type { Fetch } from "./platform.ts";

// `undefined` is the same as left out, so that options can be handed on under any compiler setting.

export type Options = {
  /** Where the service is, as `https://countersign.example.com`. */
  readonly baseUrl: string;
  /** Of the agent: `csa_…`. */
  readonly key: string;
  /** Left out: the platform's. */
  readonly fetch?: Fetch | undefined;
  /** How often one call is sent at most, while it fails in a way that may pass; 6. */
  readonly attemptsMax?: number | undefined;
};

export type CallOptions = {
  /** Aborted: the call ends with the signal's reason. Whether the action happens is then not known. */
  readonly signal?: AbortSignal | undefined;
  /** A W3C trace context to go on in. */
  readonly traceparent?: string | undefined;
};

export type ExecuteOptions = CallOptions & {
  /** The run that this belongs to: limits of a run count by it. */
  readonly runId?: string | undefined;
  /** How long to wait for the end; 10,000. What is held for a person is told at once. */
  readonly waitMs?: number | undefined;
  /** Names this one action: whatever is sent with it happens once. Left out: a new one for each call. */
  readonly idempotencyKey?: string | undefined;
  /** What the agent expects it to cost; counts when it is more than the policy says. */
  readonly costEur?: number | undefined;
  /** How deep in agents that call agents: the `countersign-depth` that this one was called with, passed on as it came. */
  readonly depth?: number | undefined;
  /** For everything, repetitions too; a minute more than `waitMs`. */
  readonly timeoutMs?: number | undefined;
};

export type BundleOptions = Omit<ExecuteOptions, "costEur"> & {
  /** What people call it. */
  readonly name?: string | undefined;
};

export type ExecutionOptions = CallOptions & {
  /** How long to wait for the end, at most 30,000; 0. */
  readonly waitMs?: number | undefined;
};

export type WaitOptions = CallOptions & {
  /** Left out: as long as it takes. What is seen last may be under way for some seconds more. */
  readonly timeoutMs?: number | undefined;
};
