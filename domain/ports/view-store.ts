import type { JsonObject } from "../json.ts";
import type { Position, RecordedEvent } from "./event-log.ts";

/** Plain JSON. A view can be searched by its declared fields alone, which are top-level members. */
export type Document = JsonObject;

/**
 * "word": text of few different values, compared for equality alone, so that an engine may number the values. "time":
 * as `Date.toISOString` writes it. "position": in the log. "subject": what follows the first dash of the member `stream`.
 */
export type Packed = "word" | "time" | "position" | "subject" | "text" | "number";

/** How an engine may keep documents in less space. What is read from it stays the same. */
type Packing = {
  /** Fields or other members. */
  readonly members: Readonly<Record<string, Packed>>;
  /** The word and the number of which a document's id is made: `acc_x/000000000012`. Searches name the word. */
  readonly numbered?: readonly [group: string, number: string];
  /** True if a document has some dozens of bytes. */
  readonly isSmall?: boolean;
};

export type ViewSchema = {
  readonly name: string;
  readonly fields: Readonly<Record<string, "text" | "number">>;
  /** Each index lists the fields compared for equality, then the sort; the document's id is always its last. */
  readonly indexes: readonly (readonly string[])[];
  readonly packing?: Packing;
};

export type Condition = {
  readonly field: string;
  readonly is: "=" | "<" | "<=" | ">" | ">=";
  readonly value: string | number;
};

export type ViewQuery = {
  readonly where: readonly Condition[];
  readonly sort: { readonly field: string; readonly order: "asc" | "desc" };
  readonly after?: { readonly value: string | number; readonly id: string };
  /** The field whose condition the fewest documents match, for a store that cannot choose an index by itself. */
  readonly lead?: string;
  readonly limit: number;
};

export type FoundDocument = { readonly id: string; readonly document: Document };

/** The name of one record of one log: another log has a record with another id at the same position. */
export type RecordName = Pick<RecordedEvent, "stream" | "revision" | "id">;

/** The log from which a view is folded. `isEmptied` is false until the `drop` that assigned the view has ended. */
export type ViewOrigin = {
  readonly log: string;
  readonly isEmptied: boolean;
  readonly last: (RecordName & { readonly position: Position }) | null;
};

/**
 * A null document is removed. `leading`: how many are written first. `record`: the one at the new checkpoint. `absent`:
 * true for a document that `load` has not found, so that an engine with transactions need not remove it.
 */
type Folded = {
  readonly documents: ReadonlyMap<string, Document | null>;
  readonly leading?: number;
  readonly record?: RecordName;
  readonly absent?: (id: string) => boolean;
};

/** `position`: how far the document is folded; null if as far as the view's checkpoint. */
export type LoadedDocument = { readonly document: Document | null; readonly position: Position | null };

/** Nothing is decided on views, which lag and can be rebuilt. Adapters throw `ViewsUnavailable`. */
export type ViewStore = {
  get(view: string, id: string): Promise<Document | null>;
  getMany(view: string, ids: readonly string[]): Promise<ReadonlyMap<string, Document>>;
  page(view: string, query: ViewQuery): Promise<readonly FoundDocument[]>;
  count(view: string, where: readonly Condition[], atMost: number): Promise<number>;
  /** The least value greater than `after` of a text field with which an index begins; null if there is none. */
  next(view: string, field: string, after: string): Promise<string | null>;
  /** The checkpoint, up to which the view is folded; null before the first commit. */
  position(view: string): Promise<Position | null>;
  origin(view: string): Promise<ViewOrigin | null>;
  /** "stale" if the checkpoint is not `after`. Without transactions a document may be ahead of the checkpoint. */
  load(
    view: string,
    after: Position | null,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, LoadedDocument> | "stale">;
  /**
   * Writes nothing if the checkpoint is not `after`. An engine without transactions writes the first `folded.leading`
   * documents, then the rest, then the checkpoint; if that fails in between, `load` tells how far each document is.
   */
  commit(view: string, after: Position | null, upTo: Position, folded: Folded): Promise<"committed" | "stale">;
  /** Removes documents and checkpoint, and assigns the view to the log with this identity. */
  drop(view: string, log: string): Promise<void>;
  close(): Promise<void>;
};
