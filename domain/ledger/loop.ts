import { WINDOW_MS } from "./state.ts";

/** `max_identical` and `window_s` (seconds) are set together or not at all. */
export type LoopRule = {
  readonly max_identical?: number;
  readonly window_s?: number;
  readonly max_per_run?: number;
  /** How deeply agents may be called by agents; 1: not at all. */
  readonly max_depth?: number;
};

export const IDENTICAL_MAX = 1_000;
export const WINDOW_S_MAX = 86_400;
export const PER_RUN_MAX = 1_000_000;
export const DEPTH_MAX = 100;

const S = 1_000;
const SAME = ".same-";
const RUN = ".run-";

/** The window is part of the name, so a policy that changes its window starts a new count. */
export const sameLedger = (policyId: string, windowS: number, digest: string): string =>
  `ledger-${policyId}${SAME}${windowS}-${digest}`;

export const runLedger = (policyId: string, run: string): string => `ledger-${policyId}${RUN}${run}`;

/** True for a ledger of repetitions: asking for a place spends it there, whatever becomes of the request. */
export const isLoopLedger = (stream: string): boolean => /\.(?:same|run)-/.test(stream);

export const windowMsOf = (stream: string): number => {
  const [, windowS] = /\.same-(\d+)-/.exec(stream) ?? [];
  return windowS === undefined ? WINDOW_MS : Number(windowS) * S;
};
