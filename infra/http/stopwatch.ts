import type { Timings } from "../../domain/delivery/attempt-end.ts";

export type Phase = "dns" | "connect" | "tls" | "answer" | "body";

export class Stopwatch {
  /** By `performance.now()`. */
  readonly startedAt = performance.now();
  #phase: Phase = "answer";
  #since = this.startedAt;
  #firstByteAt: number | null = null;
  #dns = 0;
  #connect = 0;
  #tls = 0;

  get phase(): Phase {
    return this.#phase;
  }

  enter(next: Phase): void {
    const at = performance.now();
    const passed = at - this.#since;
    if (this.#phase === "dns") this.#dns += passed;
    else if (this.#phase === "connect") this.#connect += passed;
    else if (this.#phase === "tls") this.#tls += passed;
    this.#since = at;
    this.#phase = next;
    if (next === "body") this.#firstByteAt ??= at;
  }

  timings(): Timings {
    this.enter(this.#phase);
    return {
      dns: Math.round(this.#dns),
      connect: Math.round(this.#connect),
      tls: Math.round(this.#tls),
      first_byte: this.#firstByteAt === null ? null : Math.round(this.#firstByteAt - this.startedAt),
      total: Math.round(this.#since - this.startedAt),
    };
  }
}
