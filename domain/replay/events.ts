import type { Replayer } from "../delivery/events.ts";
import type { Words } from "../personal/words.ts";
import type { Position } from "../ports/event-log.ts";
import type { SkipCount } from "./skips.ts";

export type ReplayFilter = {
  readonly status: "failed" | "blocked";
  readonly source_id?: string;
  readonly endpoint_id?: string;
  /** When an event first came in, ISO-8601 UTC with milliseconds: from `from` (included) to `to` (excluded). */
  readonly from?: string;
  readonly to?: string;
};

/** The last event that a replay has handled; a replay takes events in the order of receipt and id. */
export type ReplayCursor = { readonly received_at: string; readonly id: string };

/** Stream `replay-<rpl_…>`: the filter and the progress. Each event's own stream has its outcome. */
export type ReplayEvent =
  | {
      readonly type: "ReplayStarted";
      readonly data: {
        readonly replay_id: string;
        readonly account: string;
        readonly filter: ReplayFilter;
        /** All events of the filter, those of `excluded` included. */
        readonly total: number;
        /** Events of the filter that nothing can send, as a bundle's steps; they are never asked. Absent: none. */
        readonly excluded?: readonly SkipCount[];
        readonly rate_per_second: number;
        readonly by: Replayer;
        readonly reason: Words | null;
        /** Events that end after this position are not replayed; null if the log was empty. */
        readonly up_to: Position | null;
        /** The log that `up_to` belongs to: a copy has other positions. */
        readonly log: string;
        readonly at: string;
      };
    }
  | {
      readonly type: "ReplayProgressed";
      readonly data: {
        readonly replay_id: string;
        readonly cursor: ReplayCursor | null;
        /** Events that were asked and could not be replayed. */
        readonly skipped: number;
        /** The parts of `skipped`; absent in older records. */
        readonly skipped_by?: readonly SkipCount[];
        readonly node: string;
        readonly at: string;
      };
    }
  | {
      readonly type: "ReplayCancelled";
      readonly data: {
        readonly replay_id: string;
        readonly by: Replayer;
        readonly reason: Words | null;
        readonly at: string;
      };
    }
  /** Every event was handled; deliveries may still be under way. */
  | { readonly type: "ReplayFinished"; readonly data: { readonly replay_id: string; readonly at: string } }
  /** Requests that took this place or an earlier one can no longer start the replay. */
  | {
      readonly type: "ReplayAbandoned";
      readonly data: { readonly replay_id: string; readonly place: number; readonly at: string };
    };
