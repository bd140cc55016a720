import type { Timings } from "../../domain/delivery/attempt-end.ts";

export type Phase = "dns" | "connect" | "tls" | "answer" | "body";

export type Stopwatch = {
  enter(phase: Phase): void;
  readonly phase: () => Phase;
  timings(): Timings;
};

export const stopwatch = (now: () => number = () => performance.now()): Stopwatch => {
  const startedAt = now();
  const spent = { dns: 0, connect: 0, tls: 0, answer: 0, body: 0 };
  let phase: Phase = "answer";
  let since = startedAt;
  let firstByteAt: number | null = null;

  const enter = (next: Phase): void => {
    const at = now();
    spent[phase] += at - since;
    since = at;
    phase = next;
    if (next === "body") firstByteAt ??= at;
  };

  return {
    enter,
    phase: () => phase,
    timings() {
      enter(phase);
      return {
        dns: Math.round(spent.dns),
        connect: Math.round(spent.connect),
        tls: Math.round(spent.tls),
        first_byte: firstByteAt === null ? null : Math.round(firstByteAt - startedAt),
        total: Math.round(since - startedAt),
      };
    },
  };
};
