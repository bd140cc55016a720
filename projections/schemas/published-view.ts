import type { ClosedObject } from "./json-schema.ts";

/** A view as analysts find it in MongoDB, in a collection of this name. */
export type PublishedView = {
  readonly view: string;
  readonly description: string;
  /** Describes `_id`. */
  readonly id: string;
  readonly documents: readonly [ClosedObject, ...ClosedObject[]];
};
