import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Document } from "../../domain/ports/view-store.ts";
import { storedDocument } from "../../infra/mongodb/documents.ts";
import { PROJECTIONS } from "../../projections/all.ts";
import { PUBLISHED } from "../../projections/schemas/all.ts";
import type { JsonSchema } from "../../projections/schemas/json-schema.ts";
import type { PublishedView } from "../../projections/schemas/published-view.ts";
import { storedSchema } from "../../projections/schemas/stored.ts";
import { broadHistory } from "../support/broad-history.ts";
import { folded } from "../support/projected.ts";
import { randomHistory } from "../support/random-history.ts";
import { facetsOf, facetsSeen } from "../support/schema-facets.ts";

/** Of the documents as projections fold them, without what a store adds. */
const documentSchema = ({ documents: [first, ...others] }: PublishedView) =>
  others.length === 0 ? first : { oneOf: [first, ...others] };

const test = suite("published views");

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
formats.default(ajv);

/** Compiled once: the walk through a document asks for the same parts again and again. */
const compiled = new Map<JsonSchema, ValidateFunction>();
const validator = (schema: JsonSchema): ValidateFunction => {
  const known = compiled.get(schema) ?? ajv.compile(schema);
  compiled.set(schema, known);
  return known;
};
const conforms = (schema: JsonSchema, value: unknown): boolean => validator(schema)(value) === true;

const documents = (view: string, events: readonly RecordedEvent[]): readonly [string, Document][] => {
  const projection = PROJECTIONS.find(({ schema }) => schema.name === view);
  assert.ok(projection, view);
  return Object.entries(folded(projection, events, 50).all());
};

const check = (schema: JsonSchema, found: readonly [string, Document][]): void => {
  const validate = validator(schema);
  for (const [id, document] of found)
    assert.ok(validate(document), `${id}: ${JSON.stringify(validate.errors)} in ${JSON.stringify(document)}`);
};

test("each view has its schema, in the same order, and no other has one", () => {
  assert.equal(
    PUBLISHED.map(({ view }) => view),
    PROJECTIONS.map(({ schema }) => schema.name),
  );
});

test("each field that a view is searched by is in its schema", () => {
  for (const { schema } of PROJECTIONS) {
    const published = PUBLISHED.find(({ view }) => view === schema.name);
    for (const field of Object.keys(schema.fields))
      assert.ok(
        published?.documents.some(({ properties }) => Object.hasOwn(properties, field)),
        `${schema.name} ${field}`,
      );
  }
});

for (const published of PUBLISHED) {
  const schema = documentSchema(published);

  test(`${published.view}: every document of a broad history conforms, and shows all that the schema has`, () => {
    const found = documents(published.view, broadHistory().events);
    check(schema, found);
    const seen = new Set(found.flatMap(([, document]) => [...facetsSeen(schema, document, conforms)]));
    const unseen = [...facetsOf(schema)].filter((facet) => !seen.has(facet));
    assert.equal(unseen, []);
  });

  test(`${published.view}: each document in MongoDB has the schema's fields and those of the store`, () => {
    const stored = validator(storedSchema(published, `http://localhost/schemas/${published.view}`));
    const fields = PROJECTIONS.find(({ schema: { name } }) => name === published.view)?.schema;
    assert.ok(fields);
    for (const [id, document] of documents(published.view, broadHistory().events)) {
      const inMongo: Record<string, unknown> = JSON.parse(JSON.stringify(storedDocument(fields, id, "0/1", document)));
      assert.ok(stored(inMongo), `${id}: ${JSON.stringify(stored.errors)}`);
      assert.not(stored(document), "without what the store adds");
      assert.not(stored({ ...inMongo, more: 1 }), "with a field that nobody described");
    }
    assert.ok(stored(JSON.parse(JSON.stringify(storedDocument(fields, "x", "0/1", null)))));
  });
}

test("every document of any history conforms", () => {
  fc.assert(
    fc.property(randomHistory, ({ events }) => {
      for (const published of PUBLISHED) check(documentSchema(published), documents(published.view, events));
    }),
    { numRuns: 40 },
  );
});

test("every member is described", () => {
  for (const { view, documents: kinds } of PUBLISHED) {
    for (const { properties } of kinds) {
      for (const [name, { description }] of Object.entries(properties))
        assert.match(String(description), /^[A-Z0-9a-z<].*[.….]$/s, `${view} ${name}: ${description}`);
    }
  }
});

test.run();
