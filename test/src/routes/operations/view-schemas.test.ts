import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PROJECTIONS } from "../../../../projections/all.ts";
import { viewSchemaRoutes } from "../../../../src/routes/operations/view-schemas.ts";
import { PUBLIC_URL, testApp } from "../../../support/http-app.ts";

const opened = () => testApp(viewSchemaRoutes(() => PUBLIC_URL));

const test = suite("schemas of the views");

test("anyone is told which views there are, and where their schemas are", async () => {
  const answer = await (await opened()).inject({ url: "/schemas" });
  assert.is(answer.statusCode, 200);
  assert.is(answer.headers["cache-control"], "public, max-age=3600");
  const { data, next_cursor } = answer.json();
  assert.is(next_cursor, null);
  assert.equal(
    data.map(({ view, url }: { view: string; url: string }) => [view, url]),
    PROJECTIONS.map(({ schema: { name } }) => [name, `${PUBLIC_URL}/schemas/${name}`]),
  );
});

test("each is a schema that a validator takes, under its own address, and may be kept for an hour", async () => {
  const app = await opened();
  const ajv = formats.default(new Ajv2020({ strict: true, allowUnionTypes: true }));
  for (const { schema } of PROJECTIONS) {
    const answer = await app.inject({ url: `/schemas/${schema.name}` });
    assert.is(answer.statusCode, 200, schema.name);
    assert.is(answer.headers["content-type"], "application/schema+json");
    assert.is(answer.headers["cache-control"], "public, max-age=3600");
    ajv.addSchema(answer.json());
    const validate = ajv.getSchema(`${PUBLIC_URL}/schemas/${schema.name}`);
    assert.ok(validate?.({ _id: "x", _position: "1", _removed: "2026-03-01T12:00:00.000Z" }), schema.name);
    assert.not(validate?.({ _id: "x" }), schema.name);
  }
});

test("a view that is not there is not found, whatever its name looks like", async () => {
  const app = await opened();
  for (const name of ["events.v4", "constructor", "__proto__", "EVENTS.V2", "events.v3%00", "..%2fpackage.json"]) {
    const answer = await app.inject({ url: `/schemas/${name}` });
    assert.is(answer.statusCode, 404, name);
    assert.is(answer.headers["cache-control"], "no-store", name);
  }
});

test("the description of the interface leads to them, and says their media type", async () => {
  const document = (await (await opened()).inject({ url: "/openapi.json" })).json();
  assert.is(document.externalDocs.url, "/schemas");
  const { get } = document.paths["/schemas/{view}"];
  assert.equal(Object.keys(get.responses["200"].content), ["application/schema+json"]);
  assert.equal(get.security, []);
});

test.run();
