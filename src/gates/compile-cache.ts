import type { Clock } from "../../domain/ports/clock.ts";
import { AccountWork } from "./account-work.ts";

export type CompilePace = (account: string, definition: object) => boolean;

/** Compiling takes 8 µs a byte at worst, so an account may use a tenth of each second of the main thread. */
export const COMPILED_BYTES_PER_S = 12_288;
const COMPILED_BYTES_MIN = 256;

export const bytesToCompile = (definition: object): number =>
  Math.max(COMPILED_BYTES_MIN, Buffer.byteLength(JSON.stringify(definition)));

/** Bytes. Compiling a longer definition would block the main thread for over 50 ms at worst. */
const COMPILED_BYTES_MAX = 6_144;

export const compilePace = (clock: Clock): CompilePace => {
  const work = new AccountWork(COMPILED_BYTES_PER_S, clock);
  return (account, definition) => {
    if (!work.has(account)) return false;
    const bytes = bytesToCompile(definition);
    if (bytes > COMPILED_BYTES_MAX) return false;
    work.add(account, bytes);
    return true;
  };
};

/** So many compiled definitions are kept, each of some 100 kB. */
export const COMPILED_MAX = 500;

/** A full cache drops a definition of the account that has most, so that no account evicts those of another. */
export class CompileCache<Compiled> {
  readonly #byAccount = new Map<string, Map<string, Compiled>>();
  #size = 0;

  get(account: string, key: string): Compiled | undefined {
    const own = this.#byAccount.get(account);
    const compiled = own?.get(key);
    if (own === undefined || compiled === undefined) return undefined;
    own.delete(key);
    own.set(key, compiled);
    return compiled;
  }

  add(account: string, key: string, compiled: Compiled): void {
    const own = this.#byAccount.get(account) ?? new Map<string, Compiled>();
    this.#byAccount.set(account, own.set(key, compiled));
    this.#size += 1;
    if (this.#size > COMPILED_MAX) this.#dropOne();
  }

  #dropOne(): void {
    let [most = ["", new Map<string, Compiled>()] as const] = this.#byAccount;
    for (const entry of this.#byAccount) if (entry[1].size > most[1].size) most = entry;
    const [account, own] = most;
    for (const oldest of own.keys()) {
      own.delete(oldest);
      this.#size -= 1;
      break;
    }
    if (own.size === 0) this.#byAccount.delete(account);
  }
}
