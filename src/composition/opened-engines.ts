import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Feed } from "../../domain/ports/feed.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import type { SpanExporter } from "../../domain/ports/span-exporter.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import type { Config } from "../config.ts";
import type { EngineLocations } from "../engine/open-engines.ts";
import type { RecentRecords } from "../following/recent-records.ts";
import type { ProgramLogger } from "../http/program-logger.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { Readings } from "../observability/readings.ts";
import type { ViewProgress } from "../views/view-progress.ts";
import type { OpenedEvidence } from "./opened-evidence.ts";

export type OpenedEngines = {
  readonly config: Config;
  readonly locations: EngineLocations;
  /** The data key of the log (`key-ring.ts`), 32 bytes. */
  readonly key: Uint8Array;
  readonly log: EventLog;
  /** Null: each follower reads the log by itself. */
  readonly recent: RecentRecords | null;
  readonly views: ViewStore;
  readonly projector: ViewProgress;
  /** Null if this process publishes nothing to Kafka. */
  readonly feed: Feed | null;
  /** Null if traces are sent nowhere. */
  readonly exporter: SpanExporter | null;
  readonly meters: Metrics;
  readonly logger: ProgramLogger;
  /** The reason why nothing is written: this machine's clock differs from the log server's. Null while they agree. */
  readonly clockProblem: () => string | null;
  /** Reads the appends to the log that have no answer yet. */
  readonly appends: Readings["appends"];
  /** Null or absent on a node that answers no requests and folds no views. */
  readonly evidence?: OpenedEvidence | null;
  readonly clock: Clock;
  readonly randomness: Randomness;
};
