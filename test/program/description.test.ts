import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 as Ajv } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { OPERATION_IDS } from "../../src/http/operation-ids.ts";
import { ANSWER_EXAMPLES } from "../../src/routes/answer-examples/all.ts";
import { PROBLEMS } from "../../src/streams/problems.ts";
import { killPrograms, type Program, removeFolder, startProgram } from "../support/program.ts";

type JsonObject = Readonly<Record<string, unknown>>;
type Answer = { readonly $ref?: string; readonly description?: string; readonly content?: JsonObject };
type Operation = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly security?: readonly JsonObject[];
  readonly requestBody?: { readonly required: boolean; readonly content: JsonObject };
  readonly responses: Readonly<Record<string, Answer>>;
};
type Description = {
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonObject>> };
};

const test = suite("the whole description");
let program: Program;
let document: Description;

test.before(async () => {
  program = await startProgram();
  // The program's own answer; each of these tests checks a part of its shape.
  document = (await (await fetch(`${program.url}/openapi.json`)).json()) as Description;
});
test.after(async () => {
  await program.stop();
  killPrograms();
  removeFolder(program.dir);
});

const operations = (): readonly (readonly [call: string, operation: Operation])[] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, it]) => [`${method.toUpperCase()} ${path}`, it] as const),
  );

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const VALUES = ["enum", "const", "default", "examples", "example"];

/** All schemas below a value, with where they are. Values that only look like schemas, such as examples, are left out. */
function* schemasIn(value: unknown, where: string): Generator<readonly [where: string, schema: JsonObject]> {
  if (Array.isArray(value)) {
    for (const [index, it] of value.entries()) yield* schemasIn(it, `${where}/${index}`);
    return;
  }
  if (!isObject(value)) return;
  yield [where, value];
  for (const [name, it] of Object.entries(value)) {
    if (!VALUES.includes(name) || where.endsWith("/properties")) yield* schemasIn(it, `${where}/${name}`);
  }
}

test("it is valid OpenAPI 3.1, and every reference leads to something", async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  assert.ok(valid, JSON.stringify(errors));
  const references = [...schemasIn(document, "#")].flatMap(([where, { $ref }]) =>
    typeof $ref === "string" ? [[where, $ref] as const] : [],
  );
  assert.ok(references.length > 500, `${references.length} references`);
  for (const [where, ref] of references) {
    let found: unknown = document;
    for (const name of ref.split("/").slice(1)) found = isObject(found) ? found[name] : undefined;
    assert.ok(isObject(found), `${where} refers to ${ref}`);
  }
});

test("the ids of operations are those that were chosen for clients, one for each call", () => {
  assert.equal(Object.fromEntries(operations().map(([call, { operationId }]) => [call, operationId])), OPERATION_IDS);
});

test("every operation has an id of its own, a tag, a summary, a success and the problems that it may answer", () => {
  const all = operations();
  assert.ok(all.length > 100, `${all.length} operations`);
  assert.is(new Set(all.map(([, { operationId }]) => operationId)).size, all.length);
  for (const [call, { operationId, tags, summary, responses, security }] of all) {
    assert.match(operationId, /^[a-z][A-Za-z0-9]+$/, call);
    assert.is(tags.length, 1, call);
    assert.ok(summary.length > 0, call);
    assert.ok(Array.isArray(security), `${call} does not say who may call it`);
    const statuses = Object.keys(responses);
    assert.ok(
      statuses.some((status) => status.startsWith("2")),
      call,
    );
    for (const status of ["400", "500", "default"]) assert.ok(statuses.includes(status), `${call} has no ${status}`);
    assert.not(
      Object.keys(responses).some((status) => responses[status]?.description === ""),
      `${call} has an answer without a description`,
    );
  }
});

test("every answer with a body says of what it is made", () => {
  for (const [call, { responses, requestBody }] of operations()) {
    for (const [status, { content = {} }] of Object.entries(responses)) {
      for (const [type, it] of Object.entries(content)) {
        assert.ok(isObject(it) && isObject(it.schema), `${call}: ${status}`);
        // Of a range of types nothing is known but that.
        assert.ok(type.endsWith("/*") || Object.keys(it.schema).length > 0, `${call}: ${status}`);
      }
    }
    for (const it of Object.values(requestBody?.content ?? {})) assert.ok(isObject(it) && "schema" in it, call);
  }
});

test("it names the service's own address, and describes the tags that its calls have, and no other", () => {
  assert.is(new URL(document.servers[0]?.url ?? "").port, new URL(program.url).port);
  const used = new Set(operations().flatMap(([, { tags }]) => tags));
  assert.equal(document.tags.map(({ name }) => name).sort(), [...used].sort());
  for (const { description } of document.tags) assert.match(description, /\.$/);
});

const describedAjv = () =>
  addFormats.default(new Ajv({ strict: false, schemas: { description: { components: document.components } } }));

test("every success has an example that its schema allows", () => {
  const ajv = describedAjv();
  let checked = 0;
  for (const [call, { responses }] of operations()) {
    for (const [status, { content = {} }] of Object.entries(responses)) {
      if (!status.startsWith("2")) continue;
      for (const [type, media] of Object.entries(content)) {
        if (type === "application/problem+json") continue;
        assert.ok(isObject(media) && isObject(media.schema), `${call}: ${status}`);
        const { $ref } = media.schema;
        const name = typeof $ref === "string" ? ($ref.split("/").at(-1) ?? "") : "";
        const examples = media.example === undefined ? document.components.schemas[name]?.examples : [media.example];
        assert.ok(Array.isArray(examples) && examples.length > 0, `${call} has no example of its answer ${status}`);
        const schema = typeof $ref === "string" ? { $ref: `description${$ref}` } : media.schema;
        for (const it of examples) assert.ok(ajv.validate(schema, it), `${call}: ${ajv.errorsText()}`);
        checked += 1;
      }
    }
  }
  assert.ok(checked > 100, `${checked} answers`);
});

test("each example is that of an answer, has no field that its schema does not name, and shows no secret", () => {
  const { schemas } = document.components;
  const { bodies, texts } = ANSWER_EXAMPLES;
  const ids = operations().map(([, { operationId }]) => operationId);
  for (const id of Object.keys(texts)) assert.ok(ids.includes(id), id);
  for (const [name, example] of Object.entries(bodies)) {
    const schema = schemas[name];
    assert.ok(schema, `no answer is called ${name}`);
    if (!isObject(schema.properties) || !isObject(example)) continue;
    const unnamed = Object.keys(example).filter((member) => !Object.hasOwn(schema.properties as object, member));
    assert.equal(unnamed, [], name);
  }
  assert.not.match(JSON.stringify(ANSWER_EXAMPLES), /cs[kas]_[A-Za-z0-9]{8}|localhost:(?!3000|8080)\d/);
});

test("schemas are named by what they are, and not by the call that uses them", () => {
  const mechanical = Object.keys(document.components.schemas).filter((name) =>
    /^(Get|Post|Put|Patch|Delete)(V1)?[A-Z]\w*(Body|Answer\d+)$/.test(name),
  );
  assert.equal(mechanical, []);
});

test("every body of JSON has an example that its schema allows", () => {
  const ajv = describedAjv();
  for (const [call, { requestBody }] of operations()) {
    const media = requestBody?.content["application/json"];
    if (!isObject(media) || !isObject(media.schema)) continue;
    const { $ref } = media.schema;
    const known = typeof $ref === "string" ? document.components.schemas[$ref.split("/").at(-1) ?? ""] : media.schema;
    const examples = media.example === undefined ? known?.examples : [media.example];
    assert.ok(Array.isArray(examples) && examples.length > 0, `${call} has no example of its body`);
    const schema = typeof $ref === "string" ? { $ref: `description${$ref}` } : media.schema;
    for (const it of examples) assert.ok(ajv.validate(schema, it), `${call}: ${ajv.errorsText()}`);
  }
});

test("an object that occurs in several places has a name, and each name stands for one", () => {
  const places = new Map<string, string[]>();
  for (const [where, schema] of schemasIn({ paths: document.paths, schemas: document.components.schemas }, "#")) {
    if (!isObject(schema.properties) || where.endsWith("/properties")) continue;
    const { description: _, ...shape } = schema;
    const text = JSON.stringify(shape);
    places.set(text, [...(places.get(text) ?? []), where]);
  }
  const repeated = [...places.values()].filter((where) => where.length > 1);
  assert.equal(repeated, []);
  for (const name of Object.keys(document.components.schemas)) assert.match(name, /^[A-Z][A-Za-z0-9]+$/);
});

test("every problem of the program has a schema with its code, its status and an example", () => {
  const { schemas } = document.components;
  for (const [code, { status }] of Object.entries(PROBLEMS)) {
    const name = `${code.replaceAll(/(^|-)([a-z])/g, (_match, _dash, letter: string) => letter.toUpperCase())}Problem`;
    const schema = schemas[name];
    assert.ok(schema, name);
    const [example] = schema.examples as readonly JsonObject[];
    assert.is(example?.code, code);
    assert.is(example?.status, status);
    assert.is(example?.type, `/problems/${code}`);
  }
});

test("the answers to a webhook are all there", () => {
  const operation = document.paths["/v1/webhooks/{provider}/{source_id}"]?.post;
  assert.ok(operation);
  assert.equal(operation.security, []);
  assert.equal(
    Object.keys(operation.responses).filter((status) => /^[24]/.test(status)),
    ["200", "202", "400", "401", "403", "404", "408", "409", "413", "422", "429", "431"],
  );
  assert.equal(Object.keys(operation.requestBody?.content ?? {}), ["application/json", "application/octet-stream"]);
});

test("a policy's definition has the types of its values, although the handler checks them", () => {
  const { PolicyDefinition: schema } = document.components.schemas;
  const properties = (schema?.properties ?? {}) as Readonly<Record<string, JsonObject>>;
  assert.is(properties.budget_eur_day?.type, "number");
  assert.equal(properties.approval, { $ref: "#/components/schemas/ApprovalRule" });
  const content = document.paths["/v1/policies"]?.post?.requestBody?.content["application/json"];
  assert.equal(isObject(content) && content.schema, { $ref: "#/components/schemas/NewPolicy" });
});

test("a body that may be left out is not required, and pages for people are not calls", () => {
  assert.is(document.paths["/v1/events/{id}/replay"]?.post?.requestBody?.required, false);
  assert.is(document.paths["/v1/policies"]?.post?.requestBody?.required, true);
  assert.is(document.paths["/overview"], undefined);
  assert.is(document.paths["/"], undefined);
});

test("the page of the API shows every call, ours first, in less than 500 kB", async () => {
  const page = await (await fetch(`${program.url}/docs`)).text();
  assert.ok(Buffer.byteLength(page) < 500_000, `${Buffer.byteLength(page)} bytes`);
  for (const [, { operationId }] of operations()) assert.ok(page.includes(`id="${operationId}"`), operationId);
  const bodies = operations().filter(([, { requestBody }]) => isObject(requestBody?.content["application/json"]));
  assert.ok(page.split("<pre>").length > bodies.length, "an example of each body, and one of a call");
  assert.match(page, /<details id="Statistics">.*?<pre>/s, "an example of an answer");
  assert.not.match(page, /(?:src|href)="(?:https?:)?\/\//);
  assert.ok(page.indexOf('<h2 id="introduction">') < page.indexOf('<h2 id="sources">'));
  assert.ok(page.indexOf('<h2 id="sources">') < page.indexOf('<h2 id="operations">'));
});

test.run();
