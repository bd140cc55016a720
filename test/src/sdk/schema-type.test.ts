import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { actionsModule } from "../../../src/sdk-types/actions-module.ts";
import { schemaType } from "../../../src/sdk-types/schema-type.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";
import { compile, writeProject } from "./compiler.ts";
import { SCHEMA_CASES, STRANGE } from "./schema-cases.ts";

const folder = temporaryFolder();

/** As the service checks payloads. */
const validator = (schema: unknown): ((value: unknown) => boolean) => {
  const options = { strict: false, ownProperties: true, logger: false } as const;
  const isDraft07 = JSON.stringify(schema).includes("draft-07");
  const validate = (isDraft07 ? new Ajv(options) : new Ajv2020(options)).compile(schema as boolean);
  return (value) => {
    try {
      return validate(value) === true;
    } catch {
      // ajv 8.20 itself fails on members of a pattern beside alternatives one of which is a reference.
      return false;
    }
  };
};

/** Source of a value. In a literal `__proto__` is no member unless its name is computed. */
const source = (value: unknown): string => JSON.stringify(value).replaceAll('"__proto__":', '["__proto__"]:');

const errorsOf = async (files: Readonly<Record<string, string>>): Promise<readonly string[]> => {
  writeProject(folder, files);
  return compile(["-p", folder]);
};

const test = suite("types from schemas");

test.after(() => removeFolder(folder));

test("values that a schema allows compile, and other values are refused where types can express it", async () => {
  const lines: string[] = [];
  for (const [at, { name, schema, right, wrong }] of SCHEMA_CASES.entries()) {
    const isValid = validator(schema);
    lines.push(`// ${name}`, `type T${at} = ${schemaType(schema).text};`);
    for (const value of right) {
      assert.ok(isValid(value), `${name}: ${source(value)}`);
      lines.push(`export const right${lines.length}: T${at} = ${source(value)};`);
    }
    for (const value of wrong) {
      assert.not(isValid(value), `${name}: ${source(value)}`);
      lines.push(`// @ts-expect-error`, `export const wrong${lines.length}: T${at} = ${source(value)};`);
    }
  }
  assert.equal(await errorsOf({ "cases.ts": lines.join("\n") }), []);
});

const NAMES = ["a", "b", "x-y"] as const;

/** Schemas of all the keywords that become types, in any mixture, and some that do not. */
const anySchema = (): fc.Arbitrary<unknown> => {
  const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
    schema: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom<unknown>(true, false, {}, { type: "string" }, { type: "integer" }, { $ref: "#/$defs/one" }),
      fc
        .record(
          {
            type: fc.oneof(
              fc.constantFrom<unknown>("object", "array", "string", "null"),
              fc.uniqueArray(fc.constantFrom("object", "array", "number", "boolean"), { minLength: 1 }),
            ),
            properties: fc.dictionary(fc.constantFrom(...NAMES), tie("schema"), { maxKeys: 3 }),
            required: fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 2 }),
            additionalProperties: tie("schema"),
            patternProperties: fc.record({ "^x": tie("schema") }),
            items: tie("schema"),
            prefixItems: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
            minItems: fc.nat(2),
            maxItems: fc.integer({ min: 1, max: 3 }),
            enum: fc.uniqueArray(fc.constantFrom<unknown>("s", 1, null, true, ["s"], { a: 1 }), { minLength: 1 }),
            const: fc.constantFrom<unknown>("s", 1, null),
            allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
            anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
            oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
            not: tie("schema"),
            $ref: fc.constantFrom("#/$defs/one", "#/$defs/two"),
          },
          { requiredKeys: [] },
        )
        .chain((all) =>
          fc
            .subarray(Object.keys(all), { maxLength: 4 })
            .map((keys) => Object.fromEntries(Object.entries(all).filter(([key]) => keys.includes(key)))),
        ),
    ),
  }));
  const one = { type: "object", properties: { a: { type: "string" } }, additionalProperties: false };
  const two = { type: ["array", "string"], items: { type: "number" } };
  return schema.map((it) => (typeof it === "object" ? { ...it, $defs: { one, two } } : it));
};

const VALUE = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<unknown>("s", "t", 1, 2, null, true),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie("value"), { maxKeys: 3 }),
  ),
})).value;

test("values that any schema allows compile", async () => {
  const SCHEMAS = Number(process.env.SDK_SCHEMAS ?? 120);
  const VALUES = 60;
  const seed = Number(process.env.SDK_SEED ?? Date.now() % 1e9);
  const values = fc.sample(VALUE, { seed, numRuns: VALUES });
  const lines: string[] = [];
  let checked = 0;
  for (const [at, schema] of fc.sample(anySchema(), { seed, numRuns: SCHEMAS }).entries()) {
    const isValid = validator(schema);
    const { text } = schemaType(schema);
    const allowed = [...new Set(values.filter(isValid).map(source))];
    if (text === "unknown" || allowed.length === 0) continue;
    lines.push(`// ${JSON.stringify(schema)}`, `type T${at} = ${text};`);
    for (const value of allowed) lines.push(`export const value${lines.length}: T${at} = ${value};`);
    checked += 1;
  }
  assert.ok(checked > SCHEMAS / 5, `only ${checked} schemas say something`);
  assert.equal((await errorsOf({ "cases.ts": lines.join("\n") })).slice(0, 3), [], `SDK_SEED=${seed}`);
});

test("a schema that leads nowhere, or round in circles, is unknown there and no error", async () => {
  const lines = Object.values(STRANGE).map((schema, at) => `export type T${at} = ${schemaType(schema).text};`);
  assert.equal(await errorsOf({ "cases.ts": lines.join("\n") }), []);
  assert.is(schemaType(STRANGE["a reference to itself"]).text, "unknown");
  assert.is(schemaType(STRANGE["a list of itself"]).text, "readonly unknown[]");
  assert.is(schemaType(STRANGE["a reference to a file"]).text, "unknown");
});

test("references to references that grow by powers end", () => {
  const $defs: Record<string, unknown> = { d0: { type: "string" } };
  for (let level = 1; level < 40; level += 1) {
    const $ref = `#/$defs/d${level - 1}`;
    $defs[`d${level}`] = { type: "object", properties: { a: { $ref }, b: { $ref } } };
  }
  assert.ok(schemaType({ $ref: "#/$defs/d39", $defs }).text.length < 10_000_000);
});

/** What would end a comment or a string, hide what follows, or speak to the compiler. */
const HOSTILE = [
  "*/ export const broken: string = 1; /*",
  "**//",
  "*\u200b/ x",
  "\n*/\nimport 'node:fs';",
  "@ts-expect-error",
  "x\n@ts-ignore",
  "// @ts-nocheck",
  '/// <reference types="node" />',
  `\`\${process.exit()}\``,
  '"; }; export const broken: string = 1; //',
  "\\",
  "\\u002a/",
  "\r*/\r",
  "\u2028*/ broken",
  "\u202e*/ gnp.exe",
  "\ud800",
  "\u0000\u007f\u0085",
];

test("nothing in a schema breaks out of a comment or a string", async () => {
  const properties = Object.fromEntries(
    HOSTILE.map((text) => [text, { description: text, enum: [text], title: text }]),
  );
  const actions = HOSTILE.map((text) => ({
    name: text,
    reversibility: text,
    compensation: text,
    schema: { type: "object", description: text, properties, required: HOSTILE, additionalProperties: false },
  }));
  const text = actionsModule(actions);
  const value = Object.fromEntries(HOSTILE.map((it) => [it, it]));
  const names = `const names: readonly (keyof Actions)[] = ${JSON.stringify(HOSTILE)};`;
  const use = `import type { Actions } from "./actions.ts";
    export ${names}
    export const payload: Actions[(typeof names)[number]]["payload"] = ${JSON.stringify(value)};
    // @ts-expect-error every value is the only one
    export const wrong: Actions["@ts-expect-error"]["payload"]["@ts-expect-error"] = "other";
    // @ts-expect-error nothing else is exported
    export { broken } from "./actions.ts";`;
  const options = {
    target: "es2022",
    module: "nodenext",
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
  };
  writeProject(folder, { "actions.ts": text, "cases.ts": use }, { ...options, types: [] });
  assert.equal(await compile(["-p", folder]), []);
  assert.not.match(text.replaceAll("\n", ""), /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
});

test("the same actions give the same text, in the order of their names", () => {
  const one = { name: "mail.send", reversibility: "irreversible" };
  const schema = { type: "object", description: "Gives money back.", properties: { charge: { type: "string" } } };
  const other = { name: "charge.create", reversibility: "compensable", compensation: "refund.create", schema };
  const expected = `/**
 * Payloads of the actions, from their schemas. Generated by \`countersign sdk types\`: changes to this file get lost.
 */
export type Actions = {
  /**
   * Gives money back.
   * compensable, by refund.create
   */
  readonly "charge.create": {
    readonly payload: {
      readonly "charge"?: string | undefined;
      readonly [name: string]: unknown;
    };
  };
  /**
   * irreversible
   */
  readonly "mail.send": {
    readonly payload: unknown;
  };
};
`;
  assert.is(actionsModule([one, other]), expected);
  assert.is(actionsModule([other, one]), expected);
  assert.match(actionsModule([]), "export type Actions = {\n};");
});

test.run();
