import type { Commitment } from "../../domain/evidence/commitment.ts";
import type { Client } from "../../domain/personal/events.ts";
import type { Actor } from "../../domain/ports/event-log.ts";
import type { Fact, Trace } from "../streams/envelope.ts";

/** The client of the first counted call. The commitment to this personal data is null until the first write. */
export type Sample = { readonly client: Client; commitment: Commitment | null };

export type Draft = { readonly samples: readonly Sample[]; readonly facts: () => readonly Fact[] };

export type Tally = {
  readonly account: string;
  readonly stream: string;
  readonly actor: Actor;
  readonly trace: Trace;
  /**
   * True: a minute's first count is recorded at the next flush, the rest after the minute. False: each flush records
   * all.
   */
  readonly isOfMinute: boolean;
  take(at: string): Draft | null;
};

export const COUNTS_ACTOR: Actor = { kind: "system", id: "counts" };
