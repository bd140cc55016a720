import type { ViewStore } from "../../domain/ports/view-store.ts";
import type { EngineLocations } from "./open-engines.ts";

export type EarlierTraces = { readonly keyFile: string | null; readonly hasFolded: boolean };

export const hasFolded = async (views: Pick<ViewStore, "position">, names: readonly string[]): Promise<boolean> => {
  const positions = await Promise.all(names.map((name) => views.position(name)));
  return positions.some((position) => position !== null);
};

/**
 * Tells the operator that an earlier log was lost or not moved, so no new one may be begun. Null if nothing is left of
 * an earlier log.
 */
export const lossOf = ({ log, views }: EngineLocations, { keyFile, hasFolded }: EarlierTraces): string | null => {
  const viewsFile = views.engine === "sqlite" ? views.path : null;
  const files = [keyFile, hasFolded ? viewsFile : null].filter((path) => path !== null);
  const isInMongodb = hasFolded && viewsFile === null;
  const left = [...files, ...(isInMongodb ? ["the views at MONGODB_URL"] : [])].join(" and ");
  if (left === "") return null;
  const lost =
    log.engine === "sqlite" ? `${log.path} is missing or has no records` : "EVENTSTORE_URL names an empty log";
  const away = [
    ...(files.length === 0 ? [] : [`move ${files.join(" and ")} away`]),
    ...(isInMongodb ? ["name another database in MONGODB_URL"] : []),
  ].join(" and ");
  return (
    `The event log is lost: ${lost}, but an earlier log has left ${left}. ` +
    `Restore the log from a backup or copy it there (countersign log copy); to begin a new log, ${away}.`
  );
};
