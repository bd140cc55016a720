/**
 * A party may have at most as much as stays free: one party alone gets half, and `n` greedy parties leave 1/(n+1) of
 * the whole to the next (dynamic thresholds, Choudhury and Hahne, 1998).
 */
export class Shares {
  readonly #max: number;
  readonly #partyMax: number;
  readonly #byParty = new Map<string, number>();
  #total = 0;

  constructor(max: number, partyMax = max) {
    this.#max = max;
    this.#partyMax = partyMax;
  }

  get total(): number {
    return this.#total;
  }

  of(party: string): number {
    return this.#byParty.get(party) ?? 0;
  }

  take(parties: readonly string[], amount: number): boolean {
    const free = Math.min(this.#partyMax, this.#max - this.#total - amount);
    if (parties.some((party) => this.of(party) + amount > free)) return false;
    this.#total += amount;
    for (const party of parties) this.#byParty.set(party, this.of(party) + amount);
    return true;
  }

  give(parties: readonly string[], amount: number): void {
    this.#total -= amount;
    for (const party of parties) {
      const left = this.of(party) - amount;
      if (left > 0) this.#byParty.set(party, left);
      else this.#byParty.delete(party);
    }
  }

  /** Moves an amount that `from` has taken, even if the shares of the new parties have no room for it. */
  move(from: readonly string[], to: readonly string[], amount: number): void {
    if (amount === 0) return;
    this.give(from, amount);
    this.#total += amount;
    for (const party of to) this.#byParty.set(party, this.of(party) + amount);
  }
}
