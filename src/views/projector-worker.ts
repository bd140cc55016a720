import { setPriority } from "node:os";
import { inspect } from "node:util";
import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../../infra/clock.ts";
import type { Projection } from "../../projections/projection.ts";
import { openLog, openViews } from "../engine/engines.ts";
import { distanceIn } from "./distance.ts";
import type { FromProjector, ProjectorData, ToProjector } from "./projector-protocol.ts";
import { inlineProjector } from "./view-progress.ts";

/** The thread that folds: its own connections to the engines, of which SQLite's for the views is the only writing one. */

if (parentPort === null) throw new Error("the projector's thread is a worker thread");
const port = parentPort;
// workerData is untyped: this thread is started by projector-thread.ts alone.
const { places, projectionsUrl, options } = workerData as ProjectorData;

/** Whoever waits for an answer comes first: when the processors are short, the views fall behind and catch up. */
const NICE = 5;

/** On Linux a thread has a priority of its own; elsewhere it would be the whole program's, which stays as it is. */
if (process.platform === "linux") setPriority(NICE);

const say = (message: FromProjector): void => port.postMessage(message);

// A module is what it says it is: projections/all.ts, or a test's own.
const { PROJECTIONS: projections } = (await import(projectionsUrl)) as { PROJECTIONS: readonly Projection[] };
const views = await openViews(
  places.views,
  projections.map(({ schema }) => schema),
);
const log = await openLog(places.log, { readOnly: true });
const following = await inlineProjector({
  ...options,
  log,
  views,
  projections,
  clock: systemClock,
  distance: distanceIn(places.log),
  onProgress: (reached) => say({ kind: "reached", reached }),
  onBeat: (progress) => say({ kind: "beat", progress }),
  onDropped: (dropped, reason) => say({ kind: "dropped", views: dropped, reason }),
  onError: ({ error, ...failure }) => say({ kind: "failed", failure: { ...failure, text: inspect(error) } }),
});

port.on("message", async (message: ToProjector) => {
  if (message.kind !== "stop") return;
  await following.stop();
  await views.close();
  await log.close();
  port.close();
});

say({ kind: "started" });
