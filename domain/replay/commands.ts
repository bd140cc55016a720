import type { Replayer } from "../delivery/events.ts";
import type { ReplayCursor } from "./events.ts";
import type { Started } from "./state.ts";

export type ReplayCommand =
  /** `place`: the number of the account's place that this request has taken for it. */
  | { readonly type: "StartReplay"; readonly replay: Omit<Started, "at">; readonly place: number; readonly at: string }
  /** Keeps a request that has taken a place, and was not heard of since, from starting the replay with it. */
  | { readonly type: "AbandonReplay"; readonly replayId: string; readonly place: number; readonly at: string }
  | {
      readonly type: "ProgressReplay";
      readonly cursor: ReplayCursor | null;
      readonly skipped: number;
      readonly node: string;
      readonly at: string;
    }
  | {
      readonly type: "CancelReplay";
      readonly account: string;
      readonly by: Replayer;
      readonly reason: string | null;
      readonly at: string;
    }
  | { readonly type: "FinishReplay"; readonly at: string };

export type ReplayRejection = "not-found" | "conflict" | "ended" | "overtaken" | "abandoned" | "started";
