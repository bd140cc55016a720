import type { JsonObject } from "../json.ts";
import type { Position, RecordedEvent } from "./event-log.ts";

/** Plain JSON. A view can be searched by its declared fields alone, which are top-level members. */
export type Document = JsonObject;

export type ViewSchema = {
  /** The collection's name with its version, as `events.v2`: a changed shape is a new view. */
  readonly name: string;
  readonly fields: Readonly<Record<string, "text" | "number">>;
  /** Lists of fields, equality first, then the sort; the document's id is always the last. */
  readonly indexes: readonly (readonly string[])[];
};

export type Condition = {
  readonly field: string;
  readonly is: "=" | "<" | "<=" | ">" | ">=";
  readonly value: string | number;
};

export type ViewQuery = {
  readonly where: readonly Condition[];
  readonly sort: { readonly field: string; readonly order: "asc" | "desc" };
  /** The sort value and id of the last document seen: the page begins after it. */
  readonly after?: { readonly value: string | number; readonly id: string };
  /**
   * The condition that the fewest documents match, if several have an index. A store that cannot tell uses that index.
   */
  readonly lead?: string;
  readonly limit: number;
};

export type FoundDocument = { readonly id: string; readonly document: Document };

/** Identifies one record of a log: another log has a record with another id at the same place. */
export type RecordName = Pick<RecordedEvent, "stream" | "revision" | "id">;

/**
 * `isEmptied`: false while the drop that assigned the view to this log is under way or was interrupted. `last`: the
 * record at the checkpoint; null before the first commit, or if that commit did not name its record.
 */
export type ViewOrigin = {
  readonly log: string;
  readonly isEmptied: boolean;
  readonly last: (RecordName & { readonly position: Position }) | null;
};

/** A null document removes one. `leading`: how many are written first, 0 if left out. `record`: at the new checkpoint. */
type Folded = {
  readonly documents: ReadonlyMap<string, Document | null>;
  readonly leading?: number;
  readonly record?: RecordName;
};

/** `position`: how far the document is folded; null: up to the view's checkpoint. */
export type LoadedDocument = { readonly document: Document | null; readonly position: Position | null };

/**
 * Read models may lag, and may be dropped and folded again; nothing is decided from them. Adapters throw
 * `ViewsUnavailable` (`infra/view-errors.ts`) if the storage fails: the call may be repeated.
 */
export type ViewStore = {
  get(view: string, id: string): Promise<Document | null>;
  getMany(view: string, ids: readonly string[]): Promise<ReadonlyMap<string, Document>>;
  page(view: string, query: ViewQuery): Promise<readonly FoundDocument[]>;
  /** Counts up to `atMost`. */
  count(view: string, where: readonly Condition[], atMost: number): Promise<number>;
  /** The checkpoint: the position up to which the view is folded; null before the first commit. */
  position(view: string): Promise<Position | null>;
  /** Null if the view was never assigned to a log. */
  origin(view: string): Promise<ViewOrigin | null>;
  /**
   * The documents to fold from the checkpoint `after`, null where there is none; "stale" if the checkpoint is
   * different. In an engine without transactions a document may be ahead of the checkpoint, up to its own position.
   */
  load(
    view: string,
    after: Position | null,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, LoadedDocument> | "stale">;
  /**
   * Writes the documents as folded at `upTo` and the checkpoint, if the checkpoint is still `after`; otherwise writes
   * nothing and returns "stale". An engine without transactions writes the first `leading` documents, then the
   * others, then the checkpoint: it may return "stale", or fail, with some of them written; `load` then tells which.
   * The record's name is part of the checkpoint (`ViewOrigin`).
   */
  commit(view: string, after: Position | null, upTo: Position, folded: Folded): Promise<"committed" | "stale">;
  /** Removes documents and checkpoint, and assigns the view to the log with this identity. */
  drop(view: string, log: string): Promise<void>;
  close(): Promise<void>;
};
