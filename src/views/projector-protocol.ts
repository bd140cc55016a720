import type { Position } from "../../domain/ports/event-log.ts";
import type { EngineLocations } from "../engine/open-engines.ts";
import type { MapCandidate } from "../evidence/key-maps.ts";
import type { Unsealed } from "../evidence/unsealed.ts";
import type { Types } from "../following/recent-records.ts";
import type { ProjectorOptions } from "./projector.ts";
import type { RecordsMessage } from "./projector-records.ts";
import type { DropReason } from "./view-follower.ts";
import type { ViewLag } from "./view-lag.ts";
import type { ViewPosition } from "./view-positions.ts";

export type ProjectorData = {
  readonly locations: EngineLocations;
  /** The file into which the evidence is folded; null if the thread does not fold it. */
  readonly evidence: string | null;
  readonly projectionsUrl: string;
  readonly options: Omit<ProjectorOptions, "also" | "onProgress" | "onError" | "onDropped">;
};

/** A failure between threads: its error is sent as text, as what it carries may not be cloneable. */
type FailureText = {
  readonly view: string | null;
  readonly position: Position | null;
  readonly text: string;
  readonly retryInMs: number;
};

export type FromProjector =
  | { readonly kind: "started" }
  | { readonly kind: "reached"; readonly reached: readonly ViewPosition[] }
  | { readonly kind: "beat"; readonly progress: readonly ViewLag[] }
  | { readonly kind: "dropped"; readonly views: readonly string[]; readonly reason: DropReason }
  | { readonly kind: "failed"; readonly failure: FailureText }
  | { readonly kind: "map"; readonly candidate: MapCandidate }
  /** The answer to `unsealed`; null if it could not be found out. */
  | { readonly kind: "unsealed"; readonly question: number; readonly unsealed: Unsealed | null }
  | RecordsMessage;

/**
 * `unsealed`: the main thread is about to seal. `appended`: this process has appended to the log. `choose`: the main thread
 * follows these types of records.
 */
export type ToProjector =
  | { readonly kind: "stop" | "hurry" | "appended" }
  | { readonly kind: "unsealed"; readonly question: number }
  | { readonly kind: "choose"; readonly types: Types; readonly choice: number };
