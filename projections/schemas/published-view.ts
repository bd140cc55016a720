import type { ClosedObject } from "./json-schema.ts";

/** A view as analysts find it in MongoDB, in the collection named `view`. */
export type PublishedView = {
  readonly view: string;
  readonly description: string;
  /** A description of the documents' `_id`. */
  readonly id: string;
  readonly documents: readonly [ClosedObject, ...ClosedObject[]];
};
