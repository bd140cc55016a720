/**
 * What pages showed last, so that one is drawn at once when the reader returns to it, and then read again. Only in the
 * memory of this tab: no data of an account is stored, and a page that is loaded anew begins with nothing.
 */
export class KeptAnswers {
  readonly #most: number;
  /** The one that was used longest ago comes first. */
  readonly #byName = new Map<string, unknown>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Whoever put it under this name knows its type; null if nothing is kept. */
  of<T>(name: string): T | null {
    if (!this.#byName.has(name)) return null;
    const found = this.#byName.get(name) as T;
    this.#byName.delete(name);
    this.#byName.set(name, found);
    return found;
  }

  keep(name: string, it: unknown): void {
    this.#byName.delete(name);
    this.#byName.set(name, it);
    for (const [oldest] of this.#byName) {
      if (this.#byName.size <= this.#most) return;
      this.#byName.delete(oldest);
    }
  }

  /** After one's own change, nothing of before is shown again. */
  clear(): void {
    this.#byName.clear();
  }
}

const MOST = 40;
export const keptAnswers = new KeptAnswers(MOST);
