import type { AppendOutcome, Revision } from "../../domain/ports/event-log.ts";
import { LogUnavailable } from "../log-errors.ts";
import { turnsByKey } from "../turns.ts";
import type { ExactAppends } from "./appends.ts";
import { attempts, unavailable } from "./attempts.ts";
import type { ProposedEvent, StoredEvent } from "./connection.ts";
import { type Deadline, deadlineIn, type Limits } from "./limits.ts";
import type { Pages } from "./pages.ts";
import { positionOf } from "./positions.ts";

const LOOK_BEHIND = 4;

const placeOf = (newest: readonly StoredEvent[], events: readonly ProposedEvent[]): StoredEvent | undefined => {
  const ids = events.map(({ id }) => id).reverse();
  return newest.find((_, start) => ids.every((id, offset) => newest[start + offset]?.id === id));
};

/** An "any" append expects the revision just read, else a repeat after the server's restart would be stored twice. */
export const anyAppends = (exact: ExactAppends, pages: Pages, limits: Limits) => {
  const inTurn = turnsByKey();

  const newestOf = async (stream: string, count: number, deadline: Deadline): Promise<readonly StoredEvent[]> => {
    try {
      return await attempts(limits, deadline.leftMs())((idleMs) => pages.newest(stream, count, idleMs));
    } catch (error) {
      throw unavailable(error);
    }
  };

  const append = async (
    stream: string,
    events: readonly ProposedEvent[],
    deadline: Deadline,
  ): Promise<AppendOutcome> => {
    let actual: Revision | "absent" = "absent";
    while (deadline.leftMs() > 0) {
      const newest = await newestOf(stream, events.length + LOOK_BEHIND, deadline);
      const place = placeOf(newest, events);
      if (place !== undefined) return { outcome: "appended", revision: place.revision, position: positionOf(place.at) };
      const appended = await exact({ stream, expected: newest[0]?.revision ?? actual, events }, deadline);
      if (appended.outcome === "appended") return appended;
      actual = appended.actual;
    }
    throw new LogUnavailable(`${stream} is written by too many at once`);
  };

  return (stream: string, events: readonly ProposedEvent[]): Promise<AppendOutcome> => {
    const deadline = deadlineIn(limits.appendMs);
    return inTurn(stream, () => append(stream, events, deadline));
  };
};
