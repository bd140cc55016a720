import type { Answer } from "./answer.ts";
import type { Coverage } from "./coverage.ts";
import type { Leaf } from "./leaf.ts";

/** A query under way: it is given each record of the export once, in the order of the indexes. */
export type Question = {
  /** Types of the records that it needs to see; null for all. */
  readonly types: ReadonlySet<string> | null;
  /** Throws `Unanswerable`. */
  see(leaf: Leaf): void;
  answer(coverage: Coverage): Answer;
};

/** The question exceeds a limit. Its claim then has no answer, and the pack says why. */
export class Unanswerable extends Error {
  override readonly name = "Unanswerable";
}

export type Room = { left: number; readonly max: number };

/** What one question takes of the room that all questions of a pack have together, counted in records remembered. */
export class KeyBudget {
  readonly #room: Room;
  #taken = 0;

  constructor(room: Room) {
    this.#room = room;
  }

  take(count = 1): void {
    if (this.#room.left < count) {
      throw new Unanswerable(`the questions would remember more than ${this.#room.max} records together (KEYS_MAX)`);
    }
    this.#room.left -= count;
    this.#taken += count;
  }

  give(count: number): void {
    this.#room.left += count;
    this.#taken -= count;
  }

  giveAll(): void {
    this.give(this.#taken);
  }
}
