import type { PresentEndpoint } from "../../domain/endpoint/decider.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { Timers } from "../following/timers.ts";
import { AttemptWindow } from "./attempt-window.ts";
import type { Job, JobKey } from "./job.ts";
import { OrderedAdmissions } from "./ordered-admissions.ts";
import { OrderedOverflow } from "./ordered-overflow.ts";
import { Pace } from "./pace.ts";

/** This node's memory of one endpoint. Only `Lanes` changes the queue and its counts. */
export class EndpointLane {
  readonly endpointId: string;
  readonly account: string;
  seen: PresentEndpoint | null = null;
  readonly pace: Pace;
  readonly attempts = new AttemptWindow();
  readonly admissions = new OrderedAdmissions();
  readonly overflow = new OrderedOverflow();
  /** The id of the last probed event if the receiver works and refused that event; null otherwise. */
  refusedProbe: string | null = null;
  readonly waiting: Job[] = [];
  running = 0;
  bodyBytes = 0;
  hasMoreOnDisk = false;

  constructor({ endpointId, account }: Pick<JobKey, "endpointId" | "account">, clock: Clock, timers: Timers) {
    this.endpointId = endpointId;
    this.account = account;
    this.pace = new Pace(clock, timers);
  }
}

/** With one request at a time, events are sent in the order of their admission. */
export const isOrdered = ({ settings }: PresentEndpoint): boolean => settings.concurrency === 1;
