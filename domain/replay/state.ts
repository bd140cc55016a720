import type { ReplayCursor, ReplayEvent } from "./events.ts";
import type { SkipCount } from "./skips.ts";

export type Started = Extract<ReplayEvent, { type: "ReplayStarted" }>["data"];

export type BegunReplay = {
  readonly phase: "running" | "done" | "cancelled";
  readonly started: Started;
  readonly cursor: ReplayCursor | null;
  readonly skipped: readonly SkipCount[];
  /** The node that works on the replay, and the time of its last report; null before the first report. */
  readonly claim: { readonly node: string; readonly at: string } | null;
};

export type ReplayState =
  /** `abandonedUpTo`: places up to this number can no longer start the replay; 0 for none. */
  { readonly phase: "absent"; readonly abandonedUpTo: number } | BegunReplay;
