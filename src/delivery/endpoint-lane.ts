import type { PresentEndpoint } from "../../domain/endpoint/decider.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { Timers } from "../following/timers.ts";
import { Arrivals } from "./arrivals.ts";
import { AttemptWindow } from "./attempt-window.ts";
import type { Job, JobKey } from "./job.ts";
import { Pace } from "./pace.ts";

/** All that this node has in memory about one endpoint. Only `Lanes` changes the queue and its counts. */
export class EndpointLane {
  readonly endpointId: string;
  readonly account: string;
  /** The endpoint as this node read it last; null until then. */
  seen: PresentEndpoint | null = null;
  readonly pace: Pace;
  readonly attempts = new AttemptWindow();
  readonly arrivals = new Arrivals();
  /** The event of this process's last probe if the receiver refused it; null otherwise. */
  refusedProbe: string | null = null;
  readonly waiting: Job[] = [];
  /** Requests under way. */
  running = 0;
  /** Bytes of the bodies that wait with the jobs. */
  bodyBytes = 0;
  /** More jobs are, or may be, on disk than `waiting` has. */
  hasMoreOnDisk = false;

  constructor({ endpointId, account }: Pick<JobKey, "endpointId" | "account">, clock: Clock, timers: Timers) {
    this.endpointId = endpointId;
    this.account = account;
    this.pace = new Pace(clock, timers);
  }
}

/** With one request at a time, events are sent in the order of their admission. */
export const isOrdered = ({ settings }: PresentEndpoint): boolean => settings.concurrency === 1;
