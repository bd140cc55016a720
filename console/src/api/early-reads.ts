import { readKey } from "./call-address.ts";

/** As every read is sent, but without the member, who is not known yet: whoever takes the answer compares its member. */
const INIT: RequestInit = { credentials: "same-origin", redirect: "error" };

/**
 * Answers to what a page is going to ask, asked for as soon as its address is known. The page's scripts may not have
 * arrived then, and a read that waits for them is later by as much.
 */
export class EarlyReads {
  readonly #fetch: typeof fetch;
  readonly #heard: () => number;
  readonly #answers = new Map<string, { readonly answer: Promise<Response>; readonly heard: number }>();
  /** What was taken or asked for otherwise, and is not asked for once more. */
  readonly #asked = new Set<string>();
  #isOver = false;

  /** `heard` grows with each change that the page hears of. */
  constructor(ask: typeof fetch, heard: () => number) {
    this.#fetch = ask;
    this.#heard = heard;
  }

  /** The answer; null if it was asked for already, or the reader has gone on. */
  begin(address: string): Promise<Response> | null {
    const key = readKey(address);
    if (this.#isOver || this.#asked.has(key) || this.#answers.has(key)) return null;
    const answer = this.#fetch(address, INIT);
    // Whoever takes it learns that it failed, and asks again.
    answer.catch(() => undefined);
    this.#answers.set(key, { answer, heard: this.#heard() });
    return answer;
  }

  /**
   * The answer to what was asked early, once: a second read wants what is true by then. Null if it was not asked, or
   * something has changed since, of which nobody would tell whoever takes the answer.
   */
  take(address: string): Promise<Response> | null {
    const key = readKey(address);
    const early = this.#answers.get(key);
    this.#answers.delete(key);
    this.#asked.add(key);
    return early !== undefined && early.heard === this.#heard() ? early.answer : null;
  }

  /** The reader went to another page: an answer that was not taken would be old. */
  end(): void {
    this.#isOver = true;
    this.#answers.clear();
    this.#asked.clear();
  }
}
