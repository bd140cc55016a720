import { LogUnavailable } from "../log-errors.ts";

const PENDING_APPENDS_MAX = 10_000;
const PENDING_BYTES_MAX = 64 * 1024 * 1024;

export class PendingWrites {
  readonly #pending = new Set<Promise<unknown>>();
  #bytes = 0;
  #refusal: string | null;

  constructor(refusal: string | null) {
    this.#refusal = refusal;
  }

  async run<T>(bytes: number, write: () => Promise<T>): Promise<T> {
    if (this.#refusal !== null) throw new LogUnavailable(this.#refusal);
    if (this.#pending.size >= PENDING_APPENDS_MAX || this.#bytes + bytes > PENDING_BYTES_MAX)
      throw new LogUnavailable("too many appends are waiting");
    const work = write();
    this.#pending.add(work);
    this.#bytes += bytes;
    try {
      return await work;
    } finally {
      this.#pending.delete(work);
      this.#bytes -= bytes;
    }
  }

  refuse(reason: string): void {
    this.#refusal = reason;
  }

  async settled(): Promise<void> {
    await Promise.allSettled([...this.#pending]);
  }
}
