import * as assert from "uvu/assert";
import type { Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Document } from "../../domain/ports/view-store.ts";
import type { DocumentChange, Projection } from "../../projections/projection.ts";

export type Projected = {
  /** Folds a page as the projector does; what is at or below the checkpoint is skipped. */
  apply(page: readonly RecordedEvent[]): void;
  /** A document, which the view's projection alone has written. */
  get<D>(id: string): D | null;
  all(): Record<string, Document>;
  /** What is committed now, as JSON text by id. */
  texts(): ReadonlyMap<string, string>;
};

/**
 * Documents and checkpoint, kept as JSON text: a fold cannot change what was committed, and what JSON does not carry is
 * lost. A fold that asks for a document which it did not name in `idsOf` fails.
 */
export const projected = (projection: Projection): Projected => {
  const committed = new Map<string, string>();
  let checkpoint: Position | null = null;
  const parse = (text: string | undefined): Document | null => (text === undefined ? null : JSON.parse(text));

  return {
    apply(page) {
      const fresh = page.filter(({ position }) => checkpoint === null || position > checkpoint);
      const touched = new Map<string, Document | null>();
      for (const event of fresh) for (const id of projection.idsOf(event)) touched.set(id, parse(committed.get(id)));
      const changes: DocumentChange[] = [];
      for (const event of fresh) {
        const named = projection.idsOf(event);
        if (named.length === 0) continue;
        projection.apply(event, {
          get(id) {
            assert.ok(named.includes(id), `${id} was not named in idsOf`);
            return touched.get(id) ?? null;
          },
          put(id, document) {
            changes.push({ id, position: event.position, before: touched.get(id) ?? null, after: document });
            touched.set(id, document);
          },
        });
      }
      const { totals } = projection;
      if (totals !== undefined) {
        for (const [id, document] of touched) if (document !== null && totals.isFinal(document)) touched.set(id, null);
        const summed = totals.sum(changes);
        const loaded = summed.ids.map((id) => [id, { document: parse(committed.get(id)), position: null }] as const);
        for (const [id, document] of summed.fold(new Map(loaded))) touched.set(id, document);
      }
      for (const [id, document] of touched) {
        if (document === null) committed.delete(id);
        else committed.set(id, JSON.stringify(document));
      }
      checkpoint = fresh.at(-1)?.position ?? checkpoint;
    },
    // The tests know what their view writes.
    get: <D>(id: string) => parse(committed.get(id)) as D | null,
    texts: () => new Map(committed),
    all: () => Object.fromEntries([...committed.keys()].sort().map((id) => [id, parse(committed.get(id)) ?? {}])),
  };
};

const isSame = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean => {
  if (a.size !== b.size) return false;
  for (const [id, text] of a) if (b.get(id) !== text) return false;
  return true;
};

/** Folds a history and each page once more, which has to change nothing. */
export const folded = (projection: Projection, history: readonly RecordedEvent[], pageSize = 3): Projected => {
  const view = projected(projection);
  const pages = Array.from({ length: Math.ceil(history.length / pageSize) }, (_, page) =>
    history.slice(page * pageSize, (page + 1) * pageSize),
  );
  for (const page of pages) {
    view.apply(page);
    const once = view.texts();
    view.apply(page);
    assert.ok(isSame(view.texts(), once), `${projection.schema.name}: the same page again changes the view`);
  }
  return view;
};
