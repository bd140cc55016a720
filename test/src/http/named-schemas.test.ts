import { suite } from "uvu";
import * as assert from "uvu/assert";
import { named, referring } from "../../../src/http/named-schemas.ts";
import type { JsonSchema } from "../../../src/http/route.ts";

const test = suite("schemas with names");

const THING = named("Thing", { type: "object", description: "A thing", properties: { id: { type: "string" } } });
const REFERENCE = { $ref: "#/components/schemas/Thing" };

const referred = (schema: JsonSchema) => {
  const found = new Map<string, JsonSchema>();
  return { schema: referring(schema, found), found };
};

test("each place refers to the schema, and the schema is kept once, without its name inside", () => {
  const { schema, found } = referred({ type: "array", items: THING });
  assert.equal(schema, { type: "array", items: REFERENCE });
  const { title: _, ...thing } = THING;
  assert.equal([...found], [["Thing", thing]]);
});

test("a place that may be null, or has a description of its own, still refers to the one schema", () => {
  const { schema, found } = referred({
    properties: {
      first: THING,
      other: { ...THING, description: "The other one" },
      none: { ...THING, type: ["object", "null"] },
    },
  });
  assert.equal(schema, {
    properties: {
      first: REFERENCE,
      other: { ...REFERENCE, description: "The other one" },
      none: { anyOf: [REFERENCE, { type: "null" }] },
    },
  });
  assert.is(found.size, 1);
});

test("names are found inside of named schemas, and a member that is called title is no name", () => {
  const { found } = referred(
    named("Shelf", { type: "object", properties: { title: { type: "string" }, first: THING } }),
  );
  assert.equal([...found.keys()], ["Thing", "Shelf"]);
  assert.equal(found.get("Shelf")?.properties, { title: { type: "string" }, first: REFERENCE });
});

test("two different schemas of one name are an error", () => {
  const other = named("Thing", { type: "object", properties: {} });
  assert.throws(() => referred({ anyOf: [THING, other] }), /two different schemas have the name Thing/);
});

test.run();
