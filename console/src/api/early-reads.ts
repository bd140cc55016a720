import { readKey } from "./call-address.ts";

/** As every read is sent, but without the member, who is not known yet: whoever takes the answer compares its member. */
const INIT: RequestInit = { credentials: "same-origin", redirect: "error" };

/**
 * Answers to what a page is going to ask, asked for as soon as its address is known. The page's scripts may not have
 * arrived then, and a read that waits for them is later by as much.
 */
export class EarlyReads {
  readonly #fetch: typeof fetch;
  readonly #answers = new Map<string, Promise<Response>>();
  /** What was taken or asked for otherwise, and is not asked for once more. */
  readonly #asked = new Set<string>();
  #isOver = false;

  constructor(ask: typeof fetch) {
    this.#fetch = ask;
  }

  /** The answer; null if it was asked for already, or the reader has gone on. */
  begin(address: string): Promise<Response> | null {
    const key = readKey(address);
    if (this.#isOver || this.#asked.has(key) || this.#answers.has(key)) return null;
    const answer = this.#fetch(address, INIT);
    // Whoever takes it learns that it failed, and asks again.
    answer.catch(() => undefined);
    this.#answers.set(key, answer);
    return answer;
  }

  /** The answer to what was asked early, once: a second read wants what is true by then. Null if it was not asked. */
  take(address: string): Promise<Response> | null {
    const key = readKey(address);
    const answer = this.#answers.get(key) ?? null;
    this.#answers.delete(key);
    this.#asked.add(key);
    return answer;
  }

  /** Something may have changed since, of which nobody would tell whoever takes an answer. */
  forget(): void {
    this.#answers.clear();
  }

  /** The reader went to another page: an answer that was not taken would be old. */
  end(): void {
    this.#isOver = true;
    this.forget();
    this.#asked.clear();
  }
}
