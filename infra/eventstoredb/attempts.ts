import { LogUnavailable } from "../log-errors.ts";
import { ConnectionFailure } from "./connection.ts";
import { deadlineIn, type Limits, pauses } from "./limits.ts";

export const unavailable = (error: unknown): Error => {
  if (!(error instanceof ConnectionFailure)) return error instanceof Error ? error : new Error(String(error));
  if (error.reason === "position") return new TypeError(`not a position of this log: ${error.message}`);
  return new LogUnavailable(error.message);
};

export type Reading = <T>(read: (idleMs: number) => Promise<T>) => Promise<T>;

export const attempts =
  (limits: Limits, limitMs = limits.readMs): Reading =>
  async (read) => {
    const all = deadlineIn(limitMs);
    const unreachable = deadlineIn(Math.min(limits.unreachableMs, limitMs));
    const pause = pauses();
    for (;;) {
      try {
        return await read(Math.min(limits.readIdleMs, all.leftMs()));
      } catch (error) {
        if (!(error instanceof ConnectionFailure) || error.kind === "refused") throw error;
        if (!(await pause((error.kind === "unsent" ? unreachable : all).leftMs()))) throw error;
      }
    }
  };

export const logAttempts = (limits: Limits): Reading => {
  const attempt = attempts(limits);
  return async (read) => {
    try {
      return await attempt(read);
    } catch (error) {
      throw unavailable(error);
    }
  };
};
