import type { Position } from "../../domain/ports/event-log.ts";
import type { StoredDocument } from "../../infra/mongodb/documents.ts";
import type { Collections, ViewCheckpoint } from "../../infra/mongodb/folding.ts";

/** Called before each read and each single write; what it throws is a crash at that place, what it awaits is a pause. */
export type Step = (what: "read" | "write") => Promise<void>;

/** What a database without transactions keeps; several `stepwiseCollections` may share it, as several nodes do. */
export type Kept = {
  readonly checkpoints: Map<string, ViewCheckpoint>;
  readonly documents: Map<string, Map<string, StoredDocument>>;
};

export const nothingKept = (): Kept => ({ checkpoints: new Map(), documents: new Map() });

const BEGINNING: ViewCheckpoint = { generation: 0, position: null, origin: null };

/** A database in memory in which nothing but the write of one document is done at once, as seen by one of its clients. */
export const stepwiseCollections = ({ checkpoints, documents }: Kept, step: Step): Collections => {
  const documentsOf = (view: string): Map<string, StoredDocument> => {
    const kept = documents.get(view) ?? new Map<string, StoredDocument>();
    documents.set(view, kept);
    return kept;
  };
  const checkpointOf = (view: string): ViewCheckpoint => checkpoints.get(view) ?? BEGINNING;

  return {
    async checkpoint(view) {
      await step("read");
      return checkpointOf(view);
    },
    async find(view, ids) {
      const found: StoredDocument[] = [];
      for (const id of ids) {
        await step("read");
        const stored = documentsOf(view).get(id);
        if (stored !== undefined) found.push(stored);
      }
      return found;
    },
    /** As an unordered bulk write: a refused document keeps none of the others back. */
    async write(view, wanted) {
      let isWritten = true;
      for (const stored of wanted) {
        await step("write");
        const there = documentsOf(view).get(stored._id);
        if (there !== undefined && there._position >= stored._position) isWritten = false;
        else documentsOf(view).set(stored._id, stored);
      }
      return isWritten;
    },
    async advance(view, { generation, position }, upTo: Position, record) {
      await step("write");
      const there = checkpointOf(view);
      if (there.generation === generation && there.position === position) {
        const last = record === null ? null : { ...record, position: upTo };
        const origin = there.origin === null ? null : { ...there.origin, last };
        checkpoints.set(view, { generation, position: upTo, origin });
        return true;
      }
      // As where several were set by one command: whose write it was cannot be told afterwards.
      await step("read");
      const kept = checkpointOf(view);
      return kept.generation === generation && kept.position === upTo;
    },
    async startAgain(view, log) {
      await step("write");
      const generation = checkpointOf(view).generation + 1;
      checkpoints.set(view, { generation, position: null, origin: { log, isEmptied: false, last: null } });
      return generation;
    },
    ensure: async () => undefined,
    async emptied(view, generation) {
      await step("write");
      const there = checkpointOf(view);
      if (there.generation !== generation || there.origin === null) return;
      checkpoints.set(view, { ...there, origin: { ...there.origin, isEmptied: true } });
    },
    async removeBelow(view, position) {
      for (const id of [...documentsOf(view).keys()]) {
        await step("write");
        const stored = documentsOf(view).get(id);
        if (stored !== undefined && stored._position < position) documentsOf(view).delete(id);
      }
    },
  };
};
