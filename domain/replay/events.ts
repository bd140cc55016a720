import type { Replayer } from "../delivery/events.ts";
import type { Position } from "../ports/event-log.ts";

/** Which events: those of the account that have ended so, and to which all of the rest applies. */
export type ReplayFilter = {
  readonly status: "failed" | "blocked";
  readonly source_id?: string;
  readonly endpoint_id?: string;
  /** When they were first received, ISO-8601 UTC with milliseconds; `from` belongs to it, `to` does not. */
  readonly from?: string;
  readonly to?: string;
};

/** Where in the list of events: in the order in which they were received, by id where that was at once. */
export type ReplayCursor = { readonly received_at: string; readonly id: string };

/** Stream `replay-<rpl_…>`: what was to be sent again, and how far that is. What became of each event is in its own stream. */
export type ReplayEvent =
  | {
      readonly type: "ReplayStarted";
      readonly data: {
        readonly replay_id: string;
        readonly account: string;
        readonly filter: ReplayFilter;
        /** Events that the filter chose when it began. */
        readonly total: number;
        readonly rate_per_second: number;
        readonly by: Replayer;
        readonly reason: string | null;
        /** What fails or is blocked behind it is no part of this; null when the log was empty. */
        readonly up_to: Position | null;
        /** The identity of the log that `up_to` is a position of: a copy has others. */
        readonly log?: string;
        readonly at: string;
      };
    }
  /** A checkpoint, and the claim of the node that wrote it to go on. */
  | {
      readonly type: "ReplayProgressed";
      readonly data: {
        readonly replay_id: string;
        /** Of the last event that was dealt with; null before the first. */
        readonly cursor: ReplayCursor | null;
        /** So far: events that could not be replayed. */
        readonly skipped: number;
        readonly node: string;
        readonly at: string;
      };
    }
  | {
      readonly type: "ReplayCancelled";
      readonly data: {
        readonly replay_id: string;
        readonly by: Replayer;
        readonly reason: string | null;
        readonly at: string;
      };
    }
  /** Every event was dealt with; the deliveries may still be under way. */
  | { readonly type: "ReplayFinished"; readonly data: { readonly replay_id: string; readonly at: string } }
  /** Before its start: a request that took the place with this number, or an earlier one, can no longer start it. */
  | {
      readonly type: "ReplayAbandoned";
      readonly data: { readonly replay_id: string; readonly place: number; readonly at: string };
    };
