import { createHash, type Hash } from "node:crypto";
import type { JsonObject } from "../../../domain/json.ts";

/** How many indexes an answer names itself; `sha256` binds all of them. */
export const INDEXES_MAX = 20;

/**
 * The records on which an answer rests. `sha256` is hex, over one line for each of them in their order: its index, and
 * for a record that needs others a space and the indexes of those, separated by commas. Each line ends with "\n".
 */
export type RestsOn = {
  readonly records: number;
  readonly first: number | null;
  readonly last: number | null;
  readonly indexes: readonly number[];
  readonly sha256: string;
};

/** `holds` is null if the answer neither meets nor misses an expectation, because there is none or records are missing. */
export type Answer = {
  readonly holds: boolean | null;
  /** The same, asked of the records in the export alone. */
  readonly in_export: boolean | null;
  /** Which records the export lacks that could change the answer, and why; null if there can be none. */
  readonly open: string | null;
  /** Why the question has no answer; null if it has one. */
  readonly unanswered: string | null;
  readonly result: JsonObject;
  readonly rests_on: RestsOn;
};

/** The records that an answer names itself. */
export const namedBy = ({ rests_on, result }: Pick<Answer, "rests_on" | "result">): readonly number[] => {
  // Only `EveryQuestion` gives examples, and of this form.
  const examples = (result.examples ?? []) as readonly { readonly needs: readonly number[] }[];
  return [...rests_on.indexes, ...examples.flatMap(({ needs }) => needs)];
};

export class IndexList {
  #records = 0;
  #first: number | null = null;
  #last: number | null = null;
  readonly #indexes: number[] = [];
  readonly #hash: Hash = createHash("sha256");

  add(index: number, partners: readonly number[] = []): void {
    this.#records += 1;
    this.#first = Math.min(this.#first ?? index, index);
    this.#last = Math.max(this.#last ?? index, index);
    if (this.#indexes.length < INDEXES_MAX) this.#indexes.push(index);
    this.#hash.update(partners.length === 0 ? `${index}\n` : `${index} ${partners.join(",")}\n`);
  }

  get records(): number {
    return this.#records;
  }

  restsOn(): RestsOn {
    return {
      records: this.#records,
      first: this.#first,
      last: this.#last,
      indexes: this.#indexes,
      sha256: this.#hash.copy().digest("hex"),
    };
  }
}
