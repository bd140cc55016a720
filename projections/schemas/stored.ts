import { type ClosedObject, type JsonSchema, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";

const POSITION = text(
  "How far in the log the document is folded, behind the number of times that the view was begun anew: opaque text.",
);

const EXACT = text(
  "The whole document as JSON text, where MongoDB cannot hold it as it is. The fields beside it are then as near as can " +
    "be: a name's first $ and each . in it have their full width, and what is no character is U+FFFD. " +
    "Missing: the fields are the document.",
);

const withStored = (id: string, { properties, required, ...rest }: ClosedObject): ClosedObject => ({
  ...rest,
  required: ["_id", "_position", ...required],
  properties: { _id: text(id), _position: POSITION, _exact: EXACT, ...properties },
});

/** In MongoDB this time is a date, by which the server deletes the document. */
const REMOVED = time("When it was removed; in MongoDB a date. A day later the server takes it away.");

/** The remainder of a removed document, which keeps a slower projector from restoring it. */
const removed = (id: string): ClosedObject => ({
  type: "object",
  description: "In the place of a document that was removed. Leave it out: {_removed: {$exists: false}}.",
  additionalProperties: false,
  required: ["_id", "_position", "_removed"],
  properties: { _id: text(id), _position: POSITION, _removed: REMOVED },
});

/** The documents with the fields that the MongoDB adapter adds. `id`: the schema's address. */
export const storedSchema = ({ view, description, id, documents }: PublishedView, address: string): JsonSchema => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: address,
  title: view,
  description,
  oneOf: [...documents.map((document) => withStored(id, document)), removed(id)],
});
