import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Config } from "../config.ts";
import type { EngineLocations } from "../engine/open-engines.ts";
import { followedLog } from "../following/followed-log.ts";
import { readerSource } from "../following/log-reader.ts";
import { HINT_MS, RecentRecords } from "../following/recent-records.ts";

export type FollowedLog = { readonly log: EventLog; readonly recent: RecentRecords };

/**
 * What the followers of this process share. On the embedded log this process's own appends tell which records have
 * come. On a server one reader gives them to all: that of the projector's thread, or else one in this thread.
 */
export const followLog = (
  log: EventLog,
  { roles }: Pick<Config, "roles">,
  { log: { engine } }: EngineLocations,
): FollowedLog => {
  const isEmbedded = engine === "sqlite";
  const recent = new RecentRecords(log, isEmbedded ? { hintMs: HINT_MS } : {});
  const followed = followedLog(log, recent, isEmbedded);
  if (isEmbedded || roles.includes("projector")) return { log: followed, recent };
  const source = readerSource(log, recent);
  recent.feedFrom(source);
  return {
    recent,
    log: {
      ...followed,
      async close() {
        await source.stop();
        await log.close();
      },
    },
  };
};
