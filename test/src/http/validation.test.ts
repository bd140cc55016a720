import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Route } from "../../../src/http/route.ts";
import { bearer, testApp } from "../../support/http-app.ts";

/** What a caller is told of a field that is not as the schema has it. */
const test = suite("validation");

const ROUTE: Route = {
  method: "POST",
  path: "/v1/things",
  who: { key: "viewer" },
  summary: "",
  tag: "test",
  body: {
    type: "object",
    additionalProperties: false,
    properties: {
      name: { type: "string", minLength: 1, maxLength: 5, pattern: "\\S" },
      mail: { type: "string", minLength: 3 },
      policy_id: { type: ["string", "null"] },
      header: { type: "string", pattern: "^[a-z]+$" },
      at: { type: "string", format: "date-time" },
      count: { type: "integer", minimum: 1, maximum: 9 },
      list: { type: "array", minItems: 1, maxItems: 2, uniqueItems: true },
      headers: { type: "object", maxProperties: 2, propertyNames: { minLength: 1, maxLength: 3 } },
    },
  },
  answers: { 200: null },
  handle: async () => ({ status: 200, body: {} }),
};

const SAID: readonly (readonly [object, string])[] = [
  [{ name: 5 }, "/name must be of type string"],
  [{ name: "" }, "/name must not be empty"],
  [{ name: "  " }, "/name must not be blank"],
  [{ name: "123456" }, "/name must have at most 5 characters"],
  [{ mail: "a" }, "/mail must have at least 3 characters"],
  [{ policy_id: 5 }, "/policy_id must be of type string or null"],
  [{ header: "A" }, "/header must match the pattern ^[a-z]+$"],
  [{ at: "tomorrow" }, "/at must be a time with its zone, such as 2026-01-31T12:00:00Z"],
  [{ count: 0 }, "/count must be at least 1"],
  [{ count: 10 }, "/count must be at most 9"],
  [{ list: [] }, "/list must not be empty"],
  [{ list: [1, 2, 3] }, "/list must have at most 2 items"],
  [{ list: [1, 1] }, "/list must not have the same item twice"],
  [{ headers: { a: 1, b: 1, c: 1 } }, "/headers must have at most 2 members"],
  [{ headers: { "": 1 } }, "/headers has a name that must not be empty"],
  [{ headers: { abcd: 1 } }, "/headers has a name that must have at most 3 characters"],
  [{ nmae: "x" }, "/nmae is not a known field"],
];

test("a refused field is explained in words without the schema", async () => {
  const app = await testApp([ROUTE]);
  for (const [payload, said] of SAID) {
    const answer = await app.inject({ method: "POST", url: "/v1/things", payload, headers: bearer("csk_viewer") });
    assert.equal([answer.statusCode, answer.json().detail], [400, `In the body: ${said}.`]);
  }
  await app.close();
});

test("a compressed body is refused as what it is, and not as bad JSON", async () => {
  const app = await testApp([ROUTE]);
  const send = (encoding: string, payload: Buffer) =>
    app.inject({
      method: "POST",
      url: "/v1/things",
      payload,
      headers: { ...bearer("csk_viewer"), "content-type": "application/json", "content-encoding": encoding },
    });
  for (const encoding of ["gzip", "GZIP", "identity, br"]) {
    const answer = await send(encoding, Buffer.from([0x1f, 0x8b, 8, 0]));
    assert.equal([answer.statusCode, answer.json().code], [415, "unsupported-media-type"], encoding);
    assert.match(answer.json().detail, "Content-Encoding");
  }
  for (const encoding of ["identity", "utf-8"])
    assert.is((await send(encoding, Buffer.from("{}"))).statusCode, 200, encoding);
  await app.close();
});

test.run();
