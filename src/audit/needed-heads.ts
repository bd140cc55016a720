import { parseNote } from "../../domain/evidence/signed-note.ts";

type Head = {
  readonly size: number;
  /** The instance checkpoint in which it was cosigned, as a signed note. */
  readonly note: string;
};

/** The indexes one by one, with a look at the next one. */
class Indexes {
  readonly #pages: AsyncIterator<readonly number[]>;
  #page: readonly number[] = [];
  #at = 0;

  constructor(pages: AsyncIterable<readonly number[]>) {
    this.#pages = pages[Symbol.asyncIterator]();
  }

  /** The first index from `from` on; null if there is none. `from` only grows. */
  async firstFrom(from: number): Promise<number | null> {
    for (;;) {
      for (; this.#at < this.#page.length; this.#at += 1) {
        const index = this.#page[this.#at];
        if (index !== undefined && index >= from) return index;
      }
      const next = await this.#pages.next();
      if (next.done === true) return null;
      [this.#page, this.#at] = [next.value, 0];
    }
  }
}

/** Those who signed the note, by the beginning of their lines: the name and the key's id. */
const signersOf = ({ note }: Head): readonly string[] =>
  (parseNote(note)?.signatures ?? []).map(({ name, keyId }) => `${name}+${Buffer.from(keyId).toString("hex")}`);

/**
 * Of the trees that witnesses saw, those that say something about these records: for each record the first tree that
 * has it and the last one that does not yet, the newest tree of all, and the newest that each witness saw. One tree an
 * hour is kept, and an export of a few records needs few of them. `heads` come with the smallest size first.
 */
export async function* neededHeads<H extends Head>(
  heads: AsyncIterable<H>,
  indexes: AsyncIterable<readonly number[]>,
): AsyncGenerator<H, void> {
  const wanted = new Indexes(indexes);
  const newestOf = new Map<string, H>();
  const given = new Set<H>();
  let before: H | null = null;
  for await (const head of heads) {
    const index = await wanted.firstFrom(before?.size ?? 0);
    if (index !== null && index < head.size) {
      if (before !== null && !given.has(before)) yield before;
      yield head;
      // Older ones are never looked at again, unless they are the newest of a witness.
      for (const it of given) if (![...newestOf.values()].includes(it)) given.delete(it);
      if (before !== null) given.add(before);
      given.add(head);
    }
    for (const signer of signersOf(head)) newestOf.set(signer, head);
    before = head;
  }
  const last = new Set([...newestOf.values(), ...(before === null ? [] : [before])]);
  for (const head of [...last].sort((a, b) => a.size - b.size)) if (!given.has(head)) yield head;
}
