import type { EventLog } from "../../domain/ports/event-log.ts";
import { LogReader } from "../following/log-reader.ts";
import { RecentRecords, type Span, type Types } from "../following/recent-records.ts";

/** Ms between two reports to the main thread that nothing was appended. */
const LOOKED_MS = 500;

export type RecordsMessage =
  | ({ readonly kind: "records"; readonly choice: number } & Span)
  | { readonly kind: "looked"; readonly choice: number; readonly at: Span["after"] };

export type SharedReader = {
  /** The log whose newest records are read once, for this thread and for the main thread. */
  readonly log: EventLog;
  choose(types: Types, choice: number): void;
  wake(): void;
  stop(): Promise<void>;
};

/** The projector's thread reads each record of a log on a server once, and gives the main thread what it follows. */
export const sharedReader = (log: EventLog, say: (message: RecordsMessage) => void): SharedReader => {
  const recent = new RecentRecords(log);
  let chosen: { readonly types: ReadonlySet<string> | null; readonly choice: number } | null = null;
  let saidAt = Number.NEGATIVE_INFINITY;
  const reader = new LogReader({
    log,
    onPage(after, page) {
      const upTo = page.at(-1)?.position;
      if (upTo === undefined) return;
      recent.offer({ after, upTo, records: page });
      if (chosen === null) return;
      const { types, choice } = chosen;
      const records = types === null ? page : page.filter(({ type }) => types.has(type));
      say({ kind: "records", choice, after, upTo, records });
      saidAt = performance.now();
    },
    onLooked(at) {
      recent.looked(at);
      if (chosen === null || performance.now() - saidAt < LOOKED_MS) return;
      say({ kind: "looked", choice: chosen.choice, at });
      saidAt = performance.now();
    },
  });
  // All records are chosen before the first is read.
  const stopFollowing = recent.follow(null, () => undefined);
  reader.start();
  return {
    log: {
      ...log,
      readAll: (after, limit, what = "everything") =>
        what === "records" ? recent.readAll(after, limit) : log.readAll(after, limit, what),
      onAppended: (wake) => recent.onGrowth(wake),
    },
    choose(types, choice) {
      chosen = { types: types === null ? null : new Set(types), choice };
      saidAt = Number.NEGATIVE_INFINITY;
      reader.wake();
    },
    wake: () => reader.wake(),
    async stop() {
      stopFollowing();
      await reader.stop();
    },
  };
};
