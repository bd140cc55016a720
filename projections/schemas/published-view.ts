import type { ClosedObject } from "./json-schema.ts";

/** A view as analysts find it in MongoDB: a collection of this name, and what its documents are. */
export type PublishedView = {
  readonly view: string;
  readonly description: string;
  /** What `_id` is. */
  readonly id: string;
  /** One kind of document, or several that lie in the collection together. */
  readonly documents: readonly [ClosedObject, ...ClosedObject[]];
};
