import type { ViewStore } from "../../domain/ports.ts";
import { unknownProgress, type ViewProgress } from "./view-progress.ts";

/** Between two looks at a view that another process writes. */
const LOOK_MS = 25;

/** The progress of views that a projector in another process writes: seen by looking at their checkpoints. */
export const watchedViews = (views: ViewStore, names: readonly string[]): ViewProgress => ({
  healthy: () => true,
  progress: () => unknownProgress(names.map((view) => ({ view, position: null }))),
  onProgress: () => () => undefined,
  async waitFor(wanted, position, timeoutMs) {
    const end = performance.now() + timeoutMs;
    for (;;) {
      const reached = await Promise.all(wanted.map((view) => views.position(view)));
      if (reached.every((at) => at !== null && at >= position)) return true;
      if (performance.now() >= end) return false;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  },
  stop: async () => undefined,
});
