import { suite } from "uvu";
import * as assert from "uvu/assert";
import { programLogger } from "../../../src/http/program-logger.ts";
import { bearer, echo, testApp } from "../../support/http-app.ts";

const recorded = () => {
  const lines: string[] = [];
  const stream = { write: (line: string) => void lines.push(line), flush: () => undefined };
  return { lines, logger: programLogger({ logLevel: "info" }, stream) };
};

const test = suite("log lines");

test("a call is one line: route and trace id, and neither its path, query, headers nor body", async () => {
  const { lines, logger } = recorded();
  const app = await testApp([echo({ path: "/v1/things/{id}", query: { q: { type: "string" } } })], { logger });
  await app.inject({
    method: "POST",
    url: "/v1/things/hunter1?q=hunter2",
    headers: { ...bearer("csk_admin"), "content-type": "application/json", "x-hub-signature-256": "hunter3" },
    payload: '{"name":"hunter4"}',
  });
  assert.is(lines.length, 1);
  const { trace_id, method, route, status, ms } = JSON.parse(lines[0] ?? "");
  assert.match(trace_id, /^[0-9a-f]{32}$/);
  assert.equal([method, route, status], ["POST", "/v1/things/:id", 201]);
  assert.type(ms, "number");
  assert.not.match(lines.join(""), /hunter|csk_/);
});

test("an unexpected error is in the log with its stack, under the trace id of the answer", async () => {
  const { lines, logger } = recorded();
  const broken = echo({
    handle: async () => {
      throw new Error("boom");
    },
  });
  const app = await testApp([broken], { logger });
  const request = { method: "POST", url: "/v1/things", headers: bearer("csk_admin"), payload: { name: "a" } } as const;
  const answer = (await app.inject(request)).json();
  const line = JSON.parse(lines.find((text) => text.includes("boom")) ?? "{}");
  assert.is(line.trace_id, answer.trace_id);
  assert.match(line.err.stack, /Error: boom/);
});

test("a secret that is logged under its usual name is redacted", async () => {
  const { lines, logger } = recorded();
  const app = await testApp([], { logger });
  app.log.info({ secret: "hunter1", source: { key: "hunter2" }, req: { headers: { authorization: "hunter3" } } }, "x");
  assert.not.match(lines.join(""), /hunter/);
});

test.run();
