import type { PositionRule } from "./append.ts";
import type { Misbehaviours } from "./misbehaviour.ts";
import type { Proposed, State, StoredRecord } from "./state.ts";
import type { LiveSubscription } from "./subscriptions.ts";

/** What the handlers of one double share, and the connection that a call came on. */
export type Context = {
  readonly state: State;
  readonly positions: PositionRule;
  /** The sum of `sizeOf` of the events of one append may not be more. */
  readonly appendBytesMax: number;
  readonly sizeOf: (event: Proposed) => number;
  /** How many events may wait for the client of a live subscription. */
  readonly liveBuffer: number;
  /** Whether the batch path is among the supported methods. */
  readonly withBatch: boolean;
  readonly misbehaviours: Misbehaviours;
  readonly subscriptions: Set<LiveSubscription>;
  /** What the last read of each kind gave, for a page that is given again. */
  readonly lastPage: Map<"read" | "readAll", readonly StoredRecord[]>;
  /** How many events reads and subscriptions were given. */
  readonly given: Map<"read" | "readAll" | "subscribe", number>;
  /** Cuts the connection. */
  readonly cut: () => void;
  /** Runs something after so many milliseconds, unless the double is stopped before. */
  readonly later: (ms: number, run: () => void) => void;
};
