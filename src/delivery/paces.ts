import { LRUCache } from "lru-cache";
import { catchUpRate } from "../../domain/endpoint/circuit.ts";
import type { PresentEndpoint } from "../../domain/endpoint/decider.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { Timers } from "../following/timers.ts";

/** An endpoint as this node has seen it last, and when the next request to it may begin. */
type Paced = {
  state: PresentEndpoint;
  /** By its rate; ms since 1970. */
  notBefore: number;
  isWaiting: boolean;
};

export type Paces = {
  /** The endpoint as it is now; answers how it was when it was last seen, null for the first time. */
  see(endpointId: string, state: PresentEndpoint): PresentEndpoint | null;
  seen(endpointId: string): PresentEndpoint | null;
  /** Whether a request may begin beside `running`, and if so counts it. When it is the rate that says no, `wake` follows. */
  mayBegin(endpointId: string, running: number, wake: () => void): boolean;
};

/** Until an endpoint's own settings have been read, which its first attempt does. */
const FIRST_CONCURRENCY = 1;
/** A timer that is late, or shorter than a millisecond, is made up for within this: else a high rate would never be reached. */
const SLACK_MS = 20;
/** A clock that is set meanwhile is looked at again by then. */
const TIMER_MAX_MS = 1_000;
/** Endpoints remembered; the one that was seen first goes, and begins again as at its first attempt. */
const ENDPOINTS_MAX = 10_000;

/** How many requests an endpoint gets at once and in a second: its own limits, and below them what it is ready for. */
export const paces = (clock: Clock, timers: Timers): Paces => {
  const byEndpoint = new LRUCache<string, Paced>({ max: ENDPOINTS_MAX });

  const rateOf = ({ settings, wellAt }: PresentEndpoint, nowMs: number): number | null => {
    const catchUp = catchUpRate(wellAt, nowMs);
    const { rate_per_second: own } = settings;
    return own === null || catchUp === null ? (own ?? catchUp) : Math.min(own, catchUp);
  };

  return {
    see(endpointId, state) {
      const paced = byEndpoint.get(endpointId);
      if (paced !== undefined) {
        const before = paced.state;
        paced.state = state;
        return before;
      }
      byEndpoint.set(endpointId, { state, notBefore: 0, isWaiting: false });
      return null;
    },
    seen: (endpointId) => byEndpoint.get(endpointId)?.state ?? null,
    mayBegin(endpointId, running, wake) {
      const paced = byEndpoint.get(endpointId);
      if (paced === undefined) return running < FIRST_CONCURRENCY;
      if (running >= paced.state.settings.concurrency) return false;
      const now = clock.now();
      const rate = rateOf(paced.state, now);
      if (rate === null) return true;
      // So far ahead only where the clock was set back, or the rate was lower before.
      if (paced.notBefore - now > 1_000 / rate + SLACK_MS) paced.notBefore = now;
      if (paced.notBefore <= now) {
        const turn = now - paced.notBefore <= SLACK_MS ? paced.notBefore : now;
        paced.notBefore = turn + 1_000 / rate;
        return true;
      }
      if (!paced.isWaiting) {
        paced.isWaiting = true;
        timers.after(Math.min(paced.notBefore - now, TIMER_MAX_MS), () => {
          paced.isWaiting = false;
          wake();
        });
      }
      return false;
    },
  };
};
