/** Where the service's views were before a read: the answer shows everything up to there, or more. */
const POSITION = "countersign-view-position";
/** Names the member whose session was accepted. */
const MEMBER = "countersign-member";
/** That there is nothing is true of a position as well; another failure says nothing. */
const NOT_FOUND = 404;

/**
 * Asks, and keeps the lowest position of the answers. The stream of changes that begins there tells whatever one of them
 * does not show, so that nothing has to be read twice.
 */
export class ReadPositions {
  readonly #ask: typeof fetch;
  #lowest: string | null = null;
  /** A read failed, or its answer has no position. */
  #isUnknown = false;
  #underWay = 0;
  /** Called when no read is under way. */
  #onQuiet = (): void => undefined;

  constructor(ask: typeof fetch) {
    this.#ask = ask;
  }

  fetch: typeof fetch = async (input, init) => {
    if ((init?.method ?? "GET") !== "GET") return this.#ask(input, init);
    this.#underWay += 1;
    try {
      const response = await this.#ask(input, init);
      this.#note(response);
      return response;
    } catch (error) {
      this.#isUnknown = true;
      throw error;
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#onQuiet();
    }
  };

  /** Once no read is under way; null if a position is unknown, or one is still under way after `limitMs`. */
  async lowest(limitMs: number): Promise<string | null> {
    if (this.#underWay > 0)
      await new Promise<void>((resolve) => {
        this.#onQuiet = resolve;
        setTimeout(resolve, limitMs);
      });
    return this.#underWay > 0 || this.#isUnknown ? null : this.#lowest;
  }

  #note({ ok, status, headers }: Response): void {
    // Of no member: what everybody may read tells nothing of the account.
    if (ok && !headers.has(MEMBER)) return;
    const position = ok || status === NOT_FOUND ? headers.get(POSITION) : null;
    if (position === null) this.#isUnknown = true;
    else if (this.#lowest === null || position < this.#lowest) this.#lowest = position;
  }
}
