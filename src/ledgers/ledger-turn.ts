import { type Answer, LedgerBatch } from "../../domain/ledger/batch.ts";
import type { LedgerCommand } from "../../domain/ledger/commands.ts";
import type { LedgerEvent } from "../../domain/ledger/events.ts";
import type { Revision } from "../../domain/ports/event-log.ts";
import type { Trace } from "../streams/envelope.ts";
import type { LedgerCopy, LedgerDraft } from "./ledger-copy.ts";

export type Reserve = Extract<LedgerCommand, { type: "Reserve" }>;
export type Settle = Extract<LedgerCommand, { type: "Settle" }>;

/** "reload": it is unknown what the log has, so the ledger is read again. */
export type TurnEnd = "appended" | "cancelled" | "conflicted" | "reload";

type TurnOf = {
  readonly copy: LedgerCopy;
  readonly nowMs: number;
  /** Commands that are appended together with the reservations. */
  readonly settlements: readonly Settle[];
  readonly onEnd: (end: TurnEnd, reservations: number) => void;
};

/** The right to append to a ledger together with other streams. It is held until one of its ends is reported. */
export class LedgerTurn {
  readonly #copy: LedgerCopy;
  readonly #batch: LedgerBatch;
  readonly #onEnd: TurnOf["onEnd"];
  #reservations = 0;
  #facts: readonly LedgerEvent[] = [];

  constructor({ copy, nowMs, settlements, onEnd }: TurnOf) {
    this.#copy = copy;
    this.#batch = new LedgerBatch(copy.ledger, nowMs);
    this.#onEnd = onEnd;
    for (const settlement of settlements) this.#batch.decide(settlement);
  }

  reserve(command: Reserve): Answer {
    const answer = this.#batch.decide(command);
    if (answer.reservation !== undefined) this.#reservations += 1;
    return answer;
  }

  /** Undoes the reservation that was made last. */
  retract({ reservation }: Answer): void {
    if (reservation === undefined) return;
    this.#batch.retract(reservation);
    this.#reservations -= 1;
  }

  /** Null if nothing was reserved: settlements alone are not worth an append. */
  draft(trace: Trace): LedgerDraft | null {
    if (this.#reservations === 0) return null;
    this.#facts = this.#batch.events();
    return this.#copy.draft(this.#facts, trace);
  }

  /** `revision` is that of the last record of `draft`. */
  appended(revision: Revision): void {
    this.#copy.appended(this.#facts, revision);
    this.#onEnd("appended", this.#reservations);
  }

  end(how: Exclude<TurnEnd, "appended">): void {
    this.#onEnd(how, this.#reservations);
  }
}
