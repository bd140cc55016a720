import type { Replayer } from "../delivery/events.ts";
import type { Words } from "../personal/words.ts";
import type { ReplayCursor } from "./events.ts";
import type { SkipCount } from "./skips.ts";
import type { Started } from "./state.ts";

export type ReplayCommand =
  /** `place`: the number of the place (`ReplayPlace`) that the request took. */
  | { readonly type: "StartReplay"; readonly replay: Omit<Started, "at">; readonly place: number; readonly at: string }
  /** A request that took the place but has not reported since can no longer start the replay, so the place is free. */
  | { readonly type: "AbandonReplay"; readonly replayId: string; readonly place: number; readonly at: string }
  | {
      readonly type: "ProgressReplay";
      readonly cursor: ReplayCursor | null;
      readonly skipped: readonly SkipCount[];
      readonly node: string;
      readonly at: string;
    }
  | {
      readonly type: "CancelReplay";
      readonly account: string;
      readonly by: Replayer;
      readonly reason: Words | null;
      readonly at: string;
    }
  | { readonly type: "FinishReplay"; readonly at: string };

export type ReplayRejection = "not-found" | "conflict" | "ended" | "overtaken" | "abandoned" | "started";
