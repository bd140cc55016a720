import type { AccountEvidence } from "./account-evidence.ts";

/** Indexes that are in memory at a time; of a chain, one index is remembered for each so many records. */
const BLOCK = 4_096;

export type KeyChain = {
  readonly account: string;
  readonly key: string;
  readonly number: number;
  readonly last: number;
};

/**
 * All indexes of a key's records, in pages, the oldest first. A record knows only the one before it, so the chain is
 * walked backwards once to find where each page ends, and then page by page.
 */
export async function* indexesOf(
  evidence: Pick<AccountEvidence, "chain">,
  { account, key, number, last }: KeyChain,
): AsyncGenerator<readonly number[], void> {
  const ends: number[] = [];
  for (let left = number, from: number | undefined = last; left > 0 && from !== undefined; left -= BLOCK) {
    ends.push(from);
    // One more than a page: the first index of the page before.
    const indexes: readonly number[] = left > BLOCK ? await evidence.chain(account, key, from, BLOCK + 1) : [];
    from = indexes[BLOCK];
  }
  for (let i = ends.length - 1; i >= 0; i -= 1) {
    const count = Math.min(BLOCK, number - i * BLOCK);
    yield [...(await evidence.chain(account, key, ends[i] ?? 0, count))].reverse();
  }
}
