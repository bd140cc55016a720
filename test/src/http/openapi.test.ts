import { Validator } from "@seriousme/openapi-schema-validator";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { operationId } from "../../../src/http/openapi.ts";
import { echo, testApp } from "../../support/http-app.ts";

const { body: _none, ...READ } = echo({
  method: "GET",
  path: "/v1/things/{id}",
  query: { limit: { type: "integer", minimum: 1, maximum: 100 } },
  reads: ["things.v1"],
});
const GONE = { ...READ, method: "DELETE", who: { session: "admin" }, answers: { 204: null } } as const;

const described = async () => {
  const app = await testApp([echo(), READ, GONE, echo({ path: "/v1/open", who: "anyone" })], {
    register: (scope) => {
      const schema = { operationId: "ingest", summary: "Send a webhook", tags: ["ingest"] };
      scope.post("/v1/webhooks/:provider/:source_id", { schema }, async () => ({}));
    },
  });
  const answer = await app.inject({ url: "/openapi.json" });
  assert.is(answer.statusCode, 200);
  assert.is(answer.headers["content-type"], "application/json; charset=utf-8");
  return { app, document: answer.json() };
};

const test = suite("the description");

test("the description is valid OpenAPI 3.1", async () => {
  const { document } = await described();
  assert.match(document.openapi, /^3\.1\./);
  const { valid, errors } = await new Validator().validate(document);
  assert.ok(valid, JSON.stringify(errors));
});

test("every operation has its own id, a tag, and the problem as what else may come", async () => {
  const { document } = await described();
  const operations = Object.values<object>(document.paths).flatMap((item) => Object.values(item));
  assert.is(operations.length, 5);
  assert.is(new Set(operations.map(({ operationId: id }) => id)).size, 5);
  for (const operation of operations) {
    assert.is(operation.tags.length, 1);
    assert.equal(operation.responses.default, { $ref: "#/components/responses/Problem" });
  }
  assert.is(document.paths["/v1/webhooks/{provider}/{source_id}"].post.operationId, "ingest");
  assert.is(operationId("POST", "/v1/events/{id}/replay"), "replayEvent");
  assert.is(operationId("POST", "/v1/things/{id}/turn"), "postV1ThingsByIdTurn");
});

test("the description lists the credentials, parameters and answers of each call", async () => {
  const { document } = await described();
  const { post } = document.paths["/v1/things"];
  assert.equal(post.security, [{ session: [] }, { apiKey: [] }]);
  assert.equal(post.requestBody.content["application/json"].schema, {
    $ref: "#/components/schemas/PostV1ThingsBody",
  });
  assert.is(document.components.schemas.PostV1ThingsBody.additionalProperties, false);
  assert.equal(
    post.parameters.map(({ name }: { name: string }) => name),
    ["idempotency-key"],
  );
  const { get, delete: gone } = document.paths["/v1/things/{id}"];
  const names = get.parameters.map(({ name, in: place }: { name: string; in: string }) => `${place} ${name}`);
  assert.equal(names.sort(), ["path id", "query after", "query limit"]);
  assert.equal(gone.security, [{ session: [] }]);
  assert.is(gone.responses["204"].content, undefined);
  assert.equal(document.paths["/v1/open"].post.security, []);
  assert.equal(document.components.securitySchemes.session, { type: "apiKey", in: "cookie", name: "__Host-session" });
});

test("the description requires an Idempotency-Key where one is needed and shows no internal member", async () => {
  const app = await testApp([echo(), echo({ path: "/v1/once", answersRepeats: true, headers: { "x-depth": {} } })]);
  const document = (await app.inject({ url: "/openapi.json" })).json();
  const headers = (path: string): unknown[] =>
    document.paths[path].post.parameters.map((it: { name: string; required?: boolean }) => [
      it.name,
      it.required ?? false,
    ]);
  assert.equal(headers("/v1/things"), [["idempotency-key", false]]);
  assert.equal(headers("/v1/once"), [
    ["idempotency-key", true],
    ["x-depth", false],
  ]);
  assert.not(JSON.stringify(document).includes("needed"));
  assert.ok((await new Validator().validate(document)).valid);
});

test("the description lists for each status the problems of the row and the shared ones", async () => {
  const route = echo({
    path: "/v1/things/{id}",
    problems: ["plan-limit", "conflict"],
    answers: { 409: { type: "object" } },
  });
  const app = await testApp([route]);
  const { responses } = (await app.inject({ url: "/openapi.json" })).json().paths["/v1/things/{id}"].post;
  const codesAt = (status: number): unknown => responses[status]?.content["application/problem+json"]?.schema;
  const refer = (...names: readonly string[]) => names.map((name) => ({ $ref: `#/components/schemas/${name}Problem` }));
  assert.equal(codesAt(401), refer("Unauthenticated")[0]);
  assert.equal(codesAt(403), { oneOf: refer("CrossSite", "Forbidden", "PlanLimit") });
  assert.equal(codesAt(404), refer("NotFound")[0]);
  assert.equal(codesAt(409), { oneOf: refer("InProgress", "Conflict") });
  assert.equal(responses[409].content["application/json"].schema, { type: "object", additionalProperties: true });
  assert.equal(codesAt(410), undefined);
  assert.not.match(JSON.stringify(responses), /x-problems/);
  await app.close();
});

test.run();
