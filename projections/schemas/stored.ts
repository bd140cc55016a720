import { type ClosedObject, type JsonSchema, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";

const POSITION = text(
  "The number of the view's rebuilds and the log position that the document is folded up to: opaque text.",
);

const EXACT = text(
  "The document as JSON text, if MongoDB cannot represent it exactly. The other fields are then approximations: a " +
    "name's first $ and each . are full-width characters, and U+FFFD replaces lone surrogates. " +
    "Missing: the fields are the document.",
);

const withStored = (id: string, { properties, required, ...rest }: ClosedObject): ClosedObject => ({
  ...rest,
  required: ["_id", "_position", ...required],
  properties: { _id: text(id), _position: POSITION, _exact: EXACT, ...properties },
});

/** In MongoDB this time is a date, because the server deletes the document by it. */
const REMOVED = time("When it was removed; in MongoDB a date. The server deletes it a day later.");

/** What remains of a removed document for a day, so that a slower projector does not restore it. */
const removed = (id: string): ClosedObject => ({
  type: "object",
  description: "The remainder of a removed document. Exclude it: {_removed: {$exists: false}}.",
  additionalProperties: false,
  required: ["_id", "_position", "_removed"],
  properties: { _id: text(id), _position: POSITION, _removed: REMOVED },
});

/** The view's schema, with the fields that the MongoDB adapter adds. `address` is the schema's own `$id`. */
export const storedSchema = ({ view, description, id, documents }: PublishedView, address: string): JsonSchema => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: address,
  title: view,
  description,
  oneOf: [...documents.map((document) => withStored(id, document)), removed(id)],
});
