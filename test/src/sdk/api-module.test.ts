import { suite } from "uvu";
import * as assert from "uvu/assert";
import { apiModule } from "../../../src/sdk-types/api-module.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";
import { compile, writeProject } from "./compiler.ts";

const test = suite("types of the whole API");
const folder = temporaryFolder();
test.after(() => removeFolder(folder));

const DOCUMENT = {
  components: { schemas: { Thing: { type: "object", required: ["id"], properties: { id: { type: "string" } } } } },
  paths: {
    "/v1/things/{id}": {
      get: {
        summary: "One thing */ alert",
        parameters: [
          { in: "path", name: "id", required: true, schema: { type: "string" } },
          { in: "query", name: "limit", schema: { type: "integer" } },
        ],
        responses: {
          200: { content: { "application/json": { schema: { $ref: "#/components/schemas/Thing" } } } },
          404: { content: { "application/problem+json": { schema: { type: "boolean" } } } },
        },
      },
      delete: { responses: { 204: { description: "No content" } } },
    },
    "/v1/things": {
      post: {
        requestBody: {
          content: {
            "application/json": {
              schema: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
            },
          },
        },
        responses: {
          201: { content: { "application/json": { schema: { $ref: "#/components/schemas/Thing" } } } },
          202: { content: { "application/json": { schema: { type: "null" } } } },
        },
      },
    },
  },
};

test("a call has its parameters, its query, its body and its answers, with references looked up in the document", async () => {
  writeProject(folder, {
    "api.ts": apiModule(DOCUMENT),
    "good.ts": `import type { Api } from "./api.ts";
export const params: Api["GET /v1/things/{id}"]["params"] = { id: "a" };
export const query: Api["GET /v1/things/{id}"]["query"] = { limit: 3 };
export const thing: Api["GET /v1/things/{id}"]["answer"] = { id: "a" };
export const body: Api["POST /v1/things"]["body"] = { name: "a" };
export const made: Api["POST /v1/things"]["answer"] = Math.random() > 0.5 ? { id: "a" } : null;
export const gone: Api["DELETE /v1/things/{id}"]["answer"] = null;
`,
  });
  assert.equal(await compile(["-p", folder]), []);
  writeProject(folder, {
    "api.ts": apiModule(DOCUMENT),
    "good.ts": `import type { Api } from "./api.ts";\nexport const thing: Api["GET /v1/things/{id}"]["answer"] = { id: 1 };\n`,
  });
  assert.ok((await compile(["-p", folder])).some((it) => it.includes("TS2322")));
});

test("what is no document has no calls", () => {
  assert.match(apiModule(null), /export type Api = \{\n\};/);
});

test.run();
