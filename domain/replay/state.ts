import type { ReplayCursor, ReplayEvent } from "./events.ts";

export type Started = Extract<ReplayEvent, { type: "ReplayStarted" }>["data"];

export type BegunReplay = {
  readonly phase: "running" | "done" | "cancelled";
  readonly started: Started;
  readonly cursor: ReplayCursor | null;
  readonly skipped: number;
  /** The node that works on it, and when it reported last; null before the first. */
  readonly claim: { readonly node: string; readonly at: string } | null;
};

/** Stream `replay-<id>`. */
export type ReplayState =
  /** `abandonedUpTo`: the place with this number, and every earlier one, can no longer start it; 0 for none. */
  { readonly phase: "absent"; readonly abandonedUpTo: number } | BegunReplay;
