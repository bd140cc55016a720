import { setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../../infra/clock.ts";
import { sqliteEvidenceStore } from "../../infra/sqlite/evidence-store.ts";
import type { Projection } from "../../projections/projection.ts";
import { openLog, openViews } from "../engine/open-engines.ts";
import { EVIDENCE, EvidenceFollower } from "../evidence/evidence-follower.ts";
import { KEY_MAPS, KeyMapKeeper } from "../evidence/key-map-keeper.ts";
import { KeyMaps } from "../evidence/key-maps.ts";
import { type Unsealed, unsealedRoots } from "../evidence/unsealed.ts";
import type { FromProjector, ProjectorData, ToProjector } from "./projector-protocol.ts";
import { sharedReader } from "./projector-records.ts";
import { eventsBetweenIn } from "./view-lag.ts";
import { inlineProjector } from "./view-progress.ts";

if (parentPort === null) throw new Error("the projector's thread is a worker thread");
const port = parentPort;
const { locations, evidence: evidenceFile, projectionsUrl, options } = workerData as ProjectorData;

/** The thread's lower priority: when processors are scarce, requests go first and the views catch up later. */
const NICE = 5;

/** Milliseconds in which a seal waits for records that are appended but not folded; later ones are sealed next. */
const FOLDED_MAX_MS = 300;
const FOLDED_LOOK_MS = 4;

/** Only Linux has priorities of threads; elsewhere this call would change that of the whole process. */
if (process.platform === "linux") setPriority(NICE);

const say = (message: FromProjector): void => port.postMessage(message);

const { PROJECTIONS: projections } = (await import(projectionsUrl)) as { PROJECTIONS: readonly Projection[] };
const views = await openViews(
  locations.views,
  projections.map(({ schema }) => schema),
);
const log = await openLog(locations.log, { readOnly: true });
const evidence = evidenceFile === null ? null : sqliteEvidenceStore(evidenceFile);
// A read of the embedded log costs less than a message, so there each thread reads by itself.
const shared = locations.log.engine === "sqlite" ? null : sharedReader(log, say);
const followed = shared?.log ?? log;
const follower = evidence === null ? null : new EvidenceFollower(followed, evidence);
const keyMaps =
  evidence === null
    ? null
    : new KeyMapKeeper(evidence.maps, new KeyMaps(evidence.maps), {
        onCandidate: (candidate) => say({ kind: "map", candidate }),
        onError: (error, retryInMs) =>
          say({ kind: "failed", failure: { view: KEY_MAPS, position: null, text: inspect(error), retryInMs } }),
      });
const following = await inlineProjector({
  ...options,
  log: followed,
  also: follower === null ? [] : [follower],
  views,
  projections,
  clock: systemClock,
  eventsBetween: eventsBetweenIn(locations.log),
  onProgress: (reached) => {
    if (reached.some(({ view }) => view === EVIDENCE)) keyMaps?.wake();
    say({ kind: "reached", reached });
  },
  onBeat: (progress) => say({ kind: "beat", progress }),
  onDropped: (dropped, reason) => say({ kind: "dropped", views: dropped, reason }),
  onError: ({ error, ...failure }) => say({ kind: "failed", failure: { ...failure, text: inspect(error) } }),
});

keyMaps?.start();

/** Folds what the log has now, so that a record waits for no more than one seal. */
const unsealed = async (): Promise<Unsealed | null> => {
  if (evidence === null || follower === null) return null;
  const upTo = await log.head("records");
  const end = performance.now() + FOLDED_MAX_MS;
  while (upTo !== null && (follower.position() ?? "") < upTo && performance.now() < end) {
    shared?.wake();
    following.hurry();
    await sleep(FOLDED_LOOK_MS);
  }
  return unsealedRoots(evidence);
};

port.on("message", async (message: ToProjector) => {
  if (message.kind === "hurry") return following.hurry();
  if (message.kind === "appended") return shared?.wake();
  if (message.kind === "choose") return shared?.choose(message.types, message.choice);
  if (message.kind === "unsealed") {
    const found = await unsealed().catch(() => null);
    return say({ kind: "unsealed", question: message.question, unsealed: found });
  }
  await keyMaps?.stop();
  await following.stop();
  await shared?.stop();
  await views.close();
  await evidence?.close();
  await log.close();
  port.close();
});

say({ kind: "started" });
