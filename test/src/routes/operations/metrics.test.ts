import Fastify from "fastify";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { metricsRoute } from "../../../../src/routes/operations/metrics.ts";
import { testApp } from "../../../support/http-app.ts";

const test = suite("GET /metrics");

const TOKEN = "a-token-for-the-scraper";
const readings = {
  parts: async () => ({}),
  projections: async () => [],
  queue: async () => ({ depth: 0, oldestS: 0 }),
  endpoints: async () => ({}),
  appends: () => ({ count: 0, oldestS: 0 }),
};

type From = { readonly remoteAddress?: string; readonly headers?: Record<string, string> };

const statusOf = async (token: string | null, { remoteAddress = "127.0.0.1", headers = {} }: From): Promise<number> => {
  const app = Fastify();
  const meters = { scrape: async () => "countersign_up 1\n", contentType: "text/plain; version=0.0.4; charset=utf-8" };
  await app.register(metricsRoute({ meters, readings, token }));
  const answer = await app.inject({ method: "GET", url: "/metrics", remoteAddress, headers });
  await app.close();
  assert.is(answer.payload.includes("countersign_up"), answer.statusCode === 200);
  if (answer.statusCode === 200) {
    assert.match(String(answer.headers["content-type"]), /^text\/plain; version=0\.0\.4/);
    assert.is(answer.headers["cache-control"], "no-store");
  }
  return answer.statusCode;
};

test("whoever is on this machine may scrape, by any of its loopback addresses", async () => {
  for (const remoteAddress of ["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"]) {
    assert.is(await statusOf(null, { remoteAddress }), 200, remoteAddress);
  }
});

test("nobody else is told that it is there, unless there is a token", async () => {
  for (const remoteAddress of ["192.0.2.1", "10.0.0.7", "2001:db8::1", "::ffff:192.0.2.1"]) {
    assert.is(await statusOf(null, { remoteAddress }), 404, remoteAddress);
    assert.is(await statusOf(TOKEN, { remoteAddress }), 401, remoteAddress);
    const headers = { authorization: `Bearer ${TOKEN}` };
    assert.is(await statusOf(TOKEN, { remoteAddress, headers }), 200, remoteAddress);
    assert.is(await statusOf(null, { remoteAddress, headers: { authorization: "Bearer null" } }), 404, remoteAddress);
  }
});

test("what a proxy on this machine forwards comes from elsewhere, however it names that", async () => {
  for (const name of ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via"]) {
    assert.is(await statusOf(null, { headers: { [name]: "127.0.0.1" } }), 404, name);
    assert.is(await statusOf(TOKEN, { headers: { [name]: "127.0.0.1" } }), 401, name);
  }
});

test("it is described as the text that it is", async () => {
  const meters = { scrape: async () => "", contentType: "text/plain" };
  const app = await testApp([], { register: (scope) => metricsRoute({ meters, readings, token: TOKEN })(scope) });
  const { get } = (await app.inject({ url: "/openapi.json" })).json().paths["/metrics"];
  assert.equal([Object.keys(get.responses["200"].content), get.security], [["text/plain"], [{}, { metricsToken: [] }]]);
});

test("the token is the whole of it, as a bearer", async () => {
  const wrong = ["", TOKEN, `Basic ${TOKEN}`, `Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(1)}`, `bearer ${TOKEN} `];
  for (const authorization of wrong) {
    assert.is(await statusOf(TOKEN, { remoteAddress: "192.0.2.1", headers: { authorization } }), 401, authorization);
  }
});

test.run();
