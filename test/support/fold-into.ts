import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Document, ViewStore } from "../../domain/ports/view-store.ts";
import type { DocumentChange, Projection } from "../../projections/projection.ts";

const PAGE = 500;

/** Folds the first page of a log into views, each event twice in a row: applying one again must change nothing. */
export const foldInto = async (log: EventLog, views: ViewStore, projections: readonly Projection[]): Promise<void> => {
  const events = await log.readAll(null, PAGE);
  const upTo = events.at(-1)?.position;
  if (upTo === undefined) return;
  for (const { schema, idsOf, apply, totals } of projections) {
    const changes: DocumentChange[] = [];
    const documents = new Map<string, Document | null>();
    for (const event of events.flatMap((it) => [it, it])) {
      if (idsOf(event).length === 0) continue;
      apply(event, {
        get: (id) => documents.get(id) ?? null,
        put(id, document) {
          changes.push({ id, position: event.position, before: documents.get(id) ?? null, after: document });
          documents.set(id, document);
        },
      });
    }
    if (totals !== undefined) for (const [id, total] of totals.sum(changes).fold(new Map())) documents.set(id, total);
    await views.drop(schema.name, await log.identity());
    await views.commit(schema.name, null, upTo, { documents });
  }
};
