import { WINDOW_MS } from "./state.ts";

/** What a policy stops as a loop. Each of them may be missing; `max_identical` and `window_s` come together. */
export type LoopRule = {
  /** So many requests with the same digest in any `window_s` seconds. */
  readonly max_identical?: number;
  readonly window_s?: number;
  /** So many requests of one run. */
  readonly max_per_run?: number;
  /** So deep may agents be called by what agents have called; 1: not at all. */
  readonly max_depth?: number;
};

/** Each place in a window is remembered. */
export const IDENTICAL_MAX = 1_000;
/** A day. */
export const WINDOW_S_MAX = 86_400;
export const PER_RUN_MAX = 1_000_000;
export const DEPTH_MAX = 100;

const S = 1_000;
const SAME = ".same-";
const RUN = ".run-";

/**
 * The ledger of all requests with one digest under a policy: small, of no day, and asked by nobody else. Its window is
 * part of the name, so a policy that changes its window begins to count anew.
 */
export const sameLedger = (policyId: string, windowS: number, digest: string): string =>
  `ledger-${policyId}${SAME}${windowS}-${digest}`;

/** The ledger of all requests of one run under a policy. `run` is short, and safe in a name. */
export const runLedger = (policyId: string, run: string): string => `ledger-${policyId}${RUN}${run}`;

/** Whether its places are spent by being asked for: a repetition is one whatever becomes of it. */
export const isLoopLedger = (stream: string): boolean => /\.(?:same|run)-/.test(stream);

/** The window of a ledger by the name of its stream. */
export const windowMsOf = (stream: string): number => {
  const [, windowS] = /\.same-(\d+)-/.exec(stream) ?? [];
  return windowS === undefined ? WINDOW_MS : Number(windowS) * S;
};
