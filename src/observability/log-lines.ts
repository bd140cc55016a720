import type { FastifyBaseLogger } from "fastify";
import type { ProgramLogger } from "../http/program-logger.ts";
import type { Observer } from "./observer.ts";

export const decisionLines = ({ chosen }: Pick<ProgramLogger, "chosen">): Pick<Observer, "decided" | "attempted"> => ({
  decided: ({ trace_id, id, origin, outcome, gate, code, ms }) =>
    chosen.info({ trace_id, id, origin, outcome, gate, code, ms }, "decided"),
  attempted: ({ trace_id, event_id, endpoint_id, number, outcome, status_code, ms }) =>
    chosen.info({ trace_id, event_id, endpoint_id, number, outcome, status_code, ms }, "attempted"),
});

export const errorLines =
  (log: Pick<FastifyBaseLogger, "error">) =>
  (part: string, doing: string) =>
  (err: unknown): void =>
    log.error({ err, part }, `${part} failed while ${doing}`);

export const observers = (...all: readonly Partial<Observer>[]): Observer => ({
  answered: (call) => {
    for (const it of all) it.answered?.(call);
  },
  decided: (decision) => {
    for (const it of all) it.decided?.(decision);
  },
  attempted: (attempt) => {
    for (const it of all) it.attempted?.(attempt);
  },
  refused: (problem, whose) => {
    for (const it of all) it.refused?.(problem, whose);
  },
  reserved: (batch) => {
    for (const it of all) it.reserved?.(batch);
  },
  appended: (ms, outcome, count) => {
    for (const it of all) it.appended?.(ms, outcome, count);
  },
});
