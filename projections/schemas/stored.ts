import { type ClosedObject, type JsonSchema, text } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";

const POSITION = text(
  "How far in the log the document is folded: text, opaque, which sorts as the log does. Not for anything but comparing.",
);

const EXACT = text(
  "The document as JSON text, where BSON cannot hold it exactly, such as a number or a name of a field that MongoDB " +
    "knows otherwise. Missing: the fields beside it are the document.",
);

const withStored = (id: string, { properties, required, ...rest }: ClosedObject): ClosedObject => ({
  ...rest,
  required: ["_id", "_position", ...required],
  properties: { _id: text(id), _position: POSITION, _exact: EXACT, ...properties },
});

/** Left in the place of a document that was removed, so that an older event, folded late, does not bring it back. */
const removed = (id: string): ClosedObject => ({
  type: "object",
  description: "In the place of a document that was removed. Leave it out: {_removed: {$exists: false}}.",
  additionalProperties: false,
  required: ["_id", "_position", "_removed"],
  properties: { _id: text(id), _position: POSITION, _removed: { const: true, description: "Always true." } },
});

/** Of the documents as they lie in MongoDB, with what its adapter adds. `id`: the schema's own address. */
export const storedSchema = ({ view, description, id, documents }: PublishedView, address: string): JsonSchema => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: address,
  title: view,
  description,
  oneOf: [...documents.map((document) => withStored(id, document)), removed(id)],
});
