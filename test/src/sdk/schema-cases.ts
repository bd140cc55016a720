/** Schemas as authors write them: what they allow has to compile, what is listed as wrong must not. */
export type SchemaCase = {
  readonly name: string;
  readonly schema: unknown;
  readonly right: readonly unknown[];
  readonly wrong: readonly unknown[];
};

const DRAFT_07 = "http://json-schema.org/draft-07/schema#";
const MONEY = {
  type: "object",
  properties: { eur: { type: "number" } },
  required: ["eur"],
  additionalProperties: false,
};

export const SCHEMA_CASES: readonly SchemaCase[] = [
  {
    name: "an object, closed, with what is required and what is not",
    schema: {
      type: "object",
      properties: { charge: { type: "string" }, amount: { type: "integer" }, 'it\'s-"odd"': { type: "boolean" } },
      required: ["charge"],
      additionalProperties: false,
    },
    right: [{ charge: "ch_1" }, { charge: "ch_1", amount: 3, 'it\'s-"odd"': true }],
    wrong: [{}, { charge: 1 }, { charge: "a", amont: 3 }, { charge: "a", amount: "3" }, "ch_1", null, []],
  },
  {
    name: "an object that others may be added to",
    schema: { type: "object", properties: { a: { type: "string" } }, required: ["a", "b"] },
    right: [
      { a: "x", b: null },
      { a: "x", b: 1, c: [1] },
    ],
    wrong: [{ a: "x" }, { a: 1, b: 1 }, []],
  },
  {
    name: "others of one type",
    schema: { type: "object", additionalProperties: { type: "number" } },
    right: [{}, { a: 1 }],
    wrong: [{ a: "1" }, 1],
  },
  {
    name: "others of one type beside some with names",
    schema: { type: "object", properties: { a: { type: "string" } }, additionalProperties: { type: "number" } },
    right: [{ a: "x", b: 1 }, { b: 1 }],
    wrong: [{ a: 1 }],
  },
  {
    name: "others by a pattern in a closed object",
    schema: {
      type: "object",
      properties: { a: { type: "string" } },
      patternProperties: { "^x-": { type: "number" } },
      additionalProperties: false,
    },
    right: [{ a: "x", "x-1": 1 }],
    wrong: [{ a: 1 }],
  },
  {
    name: "nothing at all may be in it",
    schema: { type: "object", additionalProperties: false },
    right: [{}],
    wrong: [{ a: 1 }],
  },
  {
    name: "members without the type of object: whatever is none is allowed",
    schema: { properties: { a: { type: "string" } }, required: ["a"] },
    right: [{ a: "x" }, 5, "x", null, [1], { a: "x", b: 1 }],
    wrong: [{ a: 1 }, {}],
  },
  {
    name: "a member that must not be there",
    schema: { type: "object", properties: { a: false, b: true } },
    right: [{}, { b: { c: 1 } }],
    wrong: [{ a: 1 }],
  },
  {
    name: "several types, and null",
    schema: { type: "object", properties: { a: { type: ["string", "null"] }, b: { type: "integer", nullable: true } } },
    right: [
      { a: null, b: null },
      { a: "x", b: 1 },
    ],
    wrong: [{ a: 1 }, { b: "x" }],
  },
  {
    name: "values that are listed",
    schema: {
      type: "object",
      properties: {
        currency: { enum: ["EUR", 'a"b\\', "*/", -1, 0.5, true, null] },
        kind: { const: "refund" },
        some: { type: "string", enum: ["a", 1] },
        many: { enum: [["a"], { b: 1 }] },
      },
    },
    right: [
      { currency: "EUR", kind: "refund" },
      { currency: 'a"b\\', some: "a" },
      { currency: "*/" },
      { currency: -1 },
      { currency: 0.5 },
      { currency: true },
      { currency: null, many: ["a"] },
      { many: { b: 1 } },
    ],
    wrong: [{ currency: "USD" }, { kind: "return" }, { some: 1 }, { currency: false }],
  },
  {
    name: "lists",
    schema: {
      type: "object",
      properties: {
        ids: { type: "array", items: { type: "string" }, minItems: 1 },
        mixed: { type: "array", items: { type: ["string", "number"] } },
        deep: { type: "array", items: { type: "array", items: { enum: ["a", "b"] } } },
        any: { type: "array" },
        none: { type: "array", items: false },
      },
    },
    right: [{ ids: ["a"] }, { mixed: ["a", 1] }, { deep: [["a"], ["b", "a"]] }, { any: [1, {}] }, { none: [] }],
    wrong: [{ ids: [1] }, { ids: "a" }, { mixed: [null] }, { deep: [["c"]] }, { any: {} }, { none: [1] }],
  },
  {
    name: "tuples",
    schema: {
      type: "object",
      properties: {
        open: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }] },
        two: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], minItems: 2, items: false },
        full: { type: "array", prefixItems: [{ type: ["string", "null"] }], maxItems: 1 },
        rest: { type: "array", prefixItems: [{ type: "string" }], minItems: 1, items: { type: ["number", "null"] } },
      },
    },
    right: [
      { open: [] },
      { open: ["a"] },
      { open: ["a", 1, null] },
      { two: ["a", 1] },
      { full: [null] },
      { rest: ["a", 1, null] },
    ],
    wrong: [
      { open: [1] },
      { two: ["a"] },
      { two: ["a", 1, 2] },
      { full: ["a", "b"] },
      { rest: ["a", "b"] },
      { rest: [] },
    ],
  },
  {
    name: "tuples of draft-07",
    schema: {
      $schema: DRAFT_07,
      type: "array",
      items: [{ type: "string" }, { type: "number" }],
      additionalItems: { type: "boolean" },
    },
    right: [[], ["a"], ["a", 1, true]],
    wrong: [[1], ["a", "b"], ["a", 1, 2], {}],
  },
  {
    name: "references, in both of their places, with other keywords beside them",
    schema: {
      type: "object",
      properties: {
        price: { $ref: "#/$defs/money" },
        tax: { $ref: "#/definitions/a~1b%25" },
        net: { $ref: "#/properties/price", description: "As the price." },
        gross: { $ref: "#/$defs/open", properties: { note: { type: "string" } } },
      },
      $defs: { money: MONEY, open: { type: "object", properties: { eur: { type: "number" } } } },
      definitions: { "a/b%": { anyOf: [{ $ref: "#/$defs/money" }, { type: "null" }] } },
    },
    right: [
      { price: { eur: 1 }, tax: null },
      { tax: { eur: 2 }, net: { eur: 1 } },
      { gross: { eur: 1, note: "x", z: 1 } },
    ],
    wrong: [{ price: { eur: "1" } }, { price: {} }, { tax: 1 }, { net: { usd: 1 } }, { gross: { note: 1 } }],
  },
  {
    name: "one of several",
    schema: {
      oneOf: [
        {
          type: "object",
          properties: { by: { const: "card" }, last4: { type: "string" } },
          required: ["by", "last4"],
          additionalProperties: false,
        },
        {
          type: "object",
          properties: { by: { const: "bank" }, iban: { type: "string" } },
          required: ["by", "iban"],
          additionalProperties: false,
        },
      ],
    },
    right: [
      { by: "card", last4: "1" },
      { by: "bank", iban: "DE" },
    ],
    wrong: [{ by: "card", iban: "DE" }, { by: "cash" }, "card"],
  },
  {
    name: "any of several requirements of one object",
    schema: {
      type: "object",
      properties: { mail: { type: "string" }, phone: { type: "string" } },
      anyOf: [{ required: ["mail"] }, { required: ["phone"] }],
      additionalProperties: false,
    },
    right: [{ mail: "a" }, { phone: "1" }, { mail: "a", phone: "1" }],
    wrong: [{}, { mail: 1 }, { mail: "a", fax: "1" }],
  },
  {
    name: "all of several",
    schema: {
      allOf: [
        { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
        { properties: { b: { type: "number" } }, required: ["b"] },
      ],
    },
    right: [
      { a: "x", b: 1 },
      { a: "x", b: 1, c: 1 },
    ],
    wrong: [{ a: "x" }, { b: 1 }, { a: "x", b: "1" }, 5],
  },
  {
    name: "what types cannot say",
    schema: {
      type: "object",
      properties: {
        a: { type: "string", pattern: "^a", minLength: 2, format: "email" },
        b: { not: { type: "string" } },
        c: JSON.parse('{"if": {"type": "string"}, "then": {"minLength": 3}, "else": {"type": "number"}}'),
      },
      minProperties: 0,
      dependentRequired: { a: ["b"] },
    },
    right: [{ b: 1, c: "long" }],
    wrong: [{ a: 1 }],
  },
  { name: "a number that no double holds", schema: JSON.parse('{"enum": [1e999, "a"]}'), right: ["a"], wrong: ["b"] },
  { name: "anything", schema: {}, right: [1, null, { a: [] }], wrong: [] },
  { name: "anything by true", schema: true, right: [1, null], wrong: [] },
  { name: "nothing", schema: false, right: [], wrong: [1, null, {}] },
  {
    name: "names of Object's own members",
    schema: JSON.parse(
      '{"type": "object", "properties": {"__proto__": {"type": "string"}, "constructor": {"type": "number"}}, "required": ["toString"]}',
    ),
    right: [JSON.parse('{"toString": 1, "constructor": 1}')],
    wrong: [{ constructor: "x", toString: 1 }],
  },
];

/** Schemas that the service refuses, in case another one does not: they have to be harmless. */
export const STRANGE: Readonly<Record<string, unknown>> = {
  "a reference to itself": { $ref: "#" },
  "a reference round a corner": { anyOf: [{ $ref: "#/$defs/a" }], $defs: { a: { allOf: [{ $ref: "#" }] } } },
  "a list of itself": { type: "array", items: { $ref: "#" } },
  "a reference to nothing": { $ref: "#/$defs/none" },
  "a reference to another document": { $ref: "https://example.com/schema.json" },
  "a reference to a file": { $ref: "file:///etc/passwd" },
  "a reference that is no pointer": { $ref: "#/%" },
  "a reference to a member of a prototype": { $ref: "#/constructor/prototype" },
  "keywords of the wrong type": {
    type: 3,
    properties: [1],
    required: "a",
    items: 3,
    enum: "a",
    allOf: {},
    anyOf: [3, null, "a"],
    description: {},
  },
  "a text": "schema",
  "a list": [{ type: "string" }],
  null: null,
};
