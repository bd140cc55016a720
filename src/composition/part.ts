import type { Role } from "../config.ts";

/**
 * What a failed check means: "unready" takes the node out of service, "degraded" shows on the public status page, and
 * "informational" is shown to operators alone.
 */
export type Consequence = "unready" | "degraded" | "informational";

type Health = { readonly consequence: Consequence; check(): boolean | Promise<boolean> };

export type Part = {
  readonly name: string;
  /** Only processes with this role run the part; null means that every process runs it. */
  readonly role: Role | null;
  start?(): void;
  /** Finishes the work in flight, waiting for it at most `graceMs`. */
  stop?(graceMs: number): void | Promise<void>;
  readonly health?: Health;
};

export type Parts = {
  checks(...of: readonly Consequence[]): Readonly<Record<string, () => Promise<boolean>>>;
  start(): void;
  /** Stops parts that were never started as well, because they may hold connections. */
  stop(graceMs: number): Promise<void>;
};

export const parts = (all: readonly Part[], roles: readonly Role[]): Parts => {
  const own = all.filter(({ role }) => role === null || roles.includes(role));
  return {
    checks(...of) {
      const checked = own.flatMap(({ name, health }) =>
        health !== undefined && of.includes(health.consequence) ? [[name, async () => health.check()] as const] : [],
      );
      return Object.fromEntries(checked);
    },
    start() {
      for (const part of own) part.start?.();
    },
    async stop(graceMs) {
      for (const part of all.toReversed()) await part.stop?.(graceMs);
    },
  };
};

/**
 * Runs `work` every `ms`, and once more after `firstMs` if that is given. No run begins while another one goes on, and
 * the stop waits for the run in progress, because the engines are closed afterwards.
 */
export const timer = (
  { name, role, ms, firstMs }: { readonly name: string; readonly role: Role | null; ms: number; firstMs?: number },
  work: (isStopping: () => boolean) => Promise<void>,
  onError: (error: unknown) => void,
): Part => {
  const timers: NodeJS.Timeout[] = [];
  let isStopping = false;
  let running: Promise<void> | null = null;
  const run = (): void => {
    running ??= work(() => isStopping)
      .catch(onError)
      .finally(() => {
        running = null;
      });
  };
  return {
    name,
    role,
    start() {
      if (firstMs !== undefined) timers.push(setTimeout(run, firstMs).unref());
      timers.push(setInterval(run, ms).unref());
    },
    async stop() {
      isStopping = true;
      for (const it of timers) clearInterval(it);
      await running;
    },
  };
};
