import { Gauge, type Registry } from "prom-client";
import { withTimeout } from "../../infra/with-timeout.ts";
import type { ViewLag } from "../views/view-lag.ts";

export type Readings = {
  readonly parts: () => Promise<Readonly<Record<string, boolean>>>;
  /** Rejects while no process folds, because the views' last known lag would be misleading then. */
  readonly projections: () => Promise<readonly Pick<ViewLag, "view" | "lag_events" | "lag_s">[]>;
  readonly queue: () => Promise<QueueReading>;
  readonly endpoints: () => Promise<Readonly<Record<string, number>>>;
  readonly appends: () => AppendsReading;
};

export type AppendsReading = {
  readonly count: number;
  /** Seconds since the oldest append without an answer was called; 0 if there is none. */
  readonly oldestS: number;
};

export type QueueReading = {
  /** Number of events that wait for an attempt or are being attempted, counted up to a limit. */
  readonly depth: number;
  /** Seconds since the oldest event of the queue was admitted; 0 if the queue is empty. */
  readonly oldestS: number;
};

/** Prometheus waits 10 s by default, so a reading that hangs is given up and the others are still reported. */
const READING_MS = 2_000;

type Figure = { readonly set: (value: number, of?: string) => void; readonly clear: () => void };

const figure = (registry: Registry, name: string, help: string, label?: string): Figure => {
  const labelNames = label === undefined ? [] : [label];
  const it = new Gauge({ name: `countersign_${name}`, help, labelNames, registers: [registry] });
  return label === undefined
    ? { set: (value) => it.set(value), clear: () => it.remove() }
    : { set: (value, of = "") => it.set({ [label]: of }, value), clear: () => it.reset() };
};

/** If a reading fails, its figures are absent from the scrape, so that an alert on missing figures fires. */
const refresh = async <T>(figures: readonly Figure[], read: () => T | Promise<T>, set: (reading: T) => void) => {
  const late = withTimeout(READING_MS, "a reading is late", Promise.resolve().then(read));
  const reading = await late.then((value) => ({ value })).catch(() => null);
  for (const { clear } of figures) clear();
  if (reading !== null) set(reading.value);
};

/** The returned function reads all figures and never rejects. */
export const readFigures = (registry: Registry): ((readings: Readings) => Promise<void>) => {
  const parts = figure(registry, "part_up", "1 where the part of this process works, else 0", "part");
  const lagEvents = figure(registry, "projection_lag_events", "Events of the log that the view has not folded", "view");
  const lagSeconds = figure(registry, "projection_lag_seconds", "The age of the oldest of them", "view");
  const depth = figure(registry, "delivery_queue_events", "Events that wait for an attempt or are in one");
  const oldest = figure(registry, "delivery_queue_oldest_seconds", "Since the oldest of them was admitted");
  const endpoints = figure(registry, "endpoints", "Endpoints by the state of their health", "state");
  const waiting = figure(registry, "log_appends_waiting", "Appends to the log that have no answer yet");
  const waitingOldest = figure(registry, "log_appends_oldest_seconds", "Since the call of the oldest of them");

  return async (readings) => {
    await Promise.all([
      refresh([parts], readings.parts, (all) => {
        for (const [part, works] of Object.entries(all)) parts.set(works ? 1 : 0, part);
      }),
      refresh([lagEvents, lagSeconds], readings.projections, (views) => {
        for (const { view, lag_events, lag_s } of views) {
          lagEvents.set(lag_events, view);
          lagSeconds.set(lag_s, view);
        }
      }),
      refresh([depth, oldest], readings.queue, (queue) => {
        depth.set(queue.depth);
        oldest.set(queue.oldestS);
      }),
      refresh([endpoints], readings.endpoints, (states) => {
        for (const [state, count] of Object.entries(states)) endpoints.set(count, state);
      }),
      refresh([waiting, waitingOldest], readings.appends, ({ count, oldestS }) => {
        waiting.set(count);
        waitingOldest.set(oldestS);
      }),
    ]);
  };
};
