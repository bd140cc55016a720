import type { EventLog, Position } from "../../domain/ports/event-log.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import type { Projection } from "../../projections/projection.ts";
import { Projector, type ProjectorOptions } from "./projector.ts";
import type { ViewPosition } from "./view-positions.ts";

export type RebuildOptions = Omit<ProjectorOptions, "onError">;

const LOOK_MS = 200;

const isBefore = (position: Position | null, target: Position): boolean => position === null || position < target;

/** Drops the views and folds the log up to its present end. A service may run meanwhile; its readers see them fill. */
export const rebuildViews = async (
  log: EventLog,
  views: ViewStore,
  projections: readonly Projection[],
  options: RebuildOptions = {},
): Promise<void> => {
  const identity = await log.identity();
  for (const { schema } of projections) await views.drop(schema.name, identity);
  const end = await log.head();
  if (end === null) return;

  let check: () => void = () => undefined;
  const folded = new Promise<void>((resolve, reject) => {
    const following = new Projector(log, views, projections, {
      ...options,
      onProgress(reached: readonly ViewPosition[]) {
        options.onProgress?.(reached);
        check();
      },
      onError: ({ error }) => finish(error),
    });
    const look = async (): Promise<void> => {
      const [least = ""] = following
        .positions()
        .map(({ position }) => position ?? "")
        .sort();
      const [next] = await log.readAll(least === "" ? null : least, 1, "records");
      if (next === undefined || next.position > end) finish();
    };
    let timer: NodeJS.Timeout | undefined;
    let isOver = false;
    const finish = (error?: unknown): void => {
      isOver = true;
      clearInterval(timer);
      check = () => undefined;
      following.stop().then(() => (error === undefined ? resolve() : reject(error)), reject);
    };
    check = () => {
      if (!following.positions().some(({ position }) => isBefore(position, end))) finish();
    };
    following
      .start()
      .then(look)
      .then(() => {
        if (!isOver) timer = setInterval(() => look().catch(finish), LOOK_MS);
      })
      .catch(finish);
  });
  await folded;
};
