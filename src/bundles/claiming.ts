import type { Bundle } from "../../domain/bundle/decider.ts";
import type { Json, Position } from "../../domain/ports.ts";
import type { Trace } from "../envelope.ts";
import type { ExecuteDeps } from "../execute/executing.ts";
import type { Problem } from "../problems.ts";
import type { Known } from "../run-command.ts";

/** Several actions that an agent asks for as one. */
export type BundleAsk = {
  readonly account: string;
  readonly agentId: string;
  /** Names the bundle: sent again with it, it is the same. */
  readonly key: string;
  readonly name: string | null;
  /** 1 to `STEPS_MAX`. */
  readonly steps: readonly { readonly action: string; readonly payload: Json }[];
  readonly runId: string | null;
  /** How many agents called each other before this one was called. */
  readonly depth: number;
  readonly userAgent: string;
  readonly trace: Trace;
};

/** Admitted or held, by this request or by one with the same key before. */
export type BundleBegun = {
  readonly bundleId: string;
  readonly known: Known<Bundle>;
  readonly replayed: boolean;
  /** Of the record that admitted it, when this request did. */
  readonly position?: Position;
};

/** Rejects with the log's errors. */
export type BeginBundle = (ask: BundleAsk) => Promise<BundleBegun | Problem>;

export type BundlingDeps = Omit<ExecuteDeps, "deliver">;

/** Takes a bundle to its verdict, once however often it is asked for; what it does then is the runner's. */
export const bundling = (_deps: BundlingDeps): BeginBundle => {
  return async () => ({ problem: "unavailable", detail: "Not yet." });
};
