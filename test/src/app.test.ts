import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { shareConnections } from "../../src/http/connection-limits.ts";
import { API_BODY_BYTES_MAX } from "../../src/http/limits.ts";
import { bearer, echo, testApp } from "../support/http-app.ts";
import { until } from "../support/program.ts";
import { printSkipped } from "../support/skipped.ts";

const ROUTE = echo({
  path: "/v1/things/{id}",
  handle: async ({ params, envelope }) => ({ status: 200, body: { params, trace: envelope.trace } }),
});
const { body: _none, ...GET_ROUTE } = { ...ROUTE, method: "GET" as const, who: "anyone" as const };
/** One that takes its time, to close the server under it. */
const SLOW_MS = 150;
const SLOW = {
  ...GET_ROUTE,
  path: "/v1/slow",
  handle: async () => {
    await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
    return { status: 200, body: { done: true } };
  },
};

/** A test that fails before it closes its server must not keep the file from ending. */
const open = new Set<FastifyInstance>();

const listening = async (limits: NonNullable<Parameters<typeof testApp>[1]>["limits"] = {}) => {
  const app = await testApp([ROUTE, GET_ROUTE, SLOW], { limits });
  await app.listen({ host: "127.0.0.1", port: 0 });
  open.add(app);
  return app;
};

const portOf = (app: FastifyInstance): number => {
  const [address] = app.addresses();
  return typeof address === "object" ? address.port : 0;
};

/** Sends the bytes and gives back all that comes until the other side closes. */
const raw = (app: FastifyInstance, text: string | Buffer, halfClose = false): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: portOf(app), allowHalfOpen: true });
    const chunks: Buffer[] = [];
    socket.setTimeout(5_000, () => {
      socket.destroy();
      reject(new Error(`not closed within 5 s: ${Buffer.concat(chunks)}`));
    });
    socket.on("data", (chunk) => chunks.push(chunk));
    const done = () => {
      socket.destroy();
      resolve(Buffer.concat(chunks).toString());
    };
    socket.on("end", done);
    socket.on("error", done);
    socket.write(text);
    if (halfClose) socket.end();
  });

const parsed = (answer: string) => {
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  const [line = "", ...headers] = head.split("\r\n");
  const type = headers.find((header) => /^content-type:/i.test(header))?.split(": ")[1];
  return { status: Number(line.split(" ")[1]), type, headers, body };
};

const END = "Connection: close\r\n\r\n";
const HOST = "Host: localhost\r\n";

/** Each is answered with a problem of this status, and the server lives. */
const MALFORMED: Readonly<Record<string, readonly [number, string | Buffer]>> = {
  "content-length beside transfer-encoding": [
    400,
    `POST /v1/things/1 HTTP/1.1\r\n${HOST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n${END}0\r\n\r\n`,
  ],
  "two content-lengths": [400, `POST / HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 2\r\n${END}ab`],
  "a content-length that is no number": [400, `POST / HTTP/1.1\r\n${HOST}Content-Length: +1\r\n${END}a`],
  "an unknown transfer-encoding": [400, `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: xchunked\r\n${END}`],
  "a chunk size that is no number": [
    400,
    `POST /v1/things/1 HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n${END}zz\r\nab\r\n0\r\n\r\n`,
  ],
  "a header line that ends in a bare line feed": [400, `GET / HTTP/1.1\r\n${HOST}A: b\nC: d\r\n${END}`],
  "a header folded over two lines": [400, `GET / HTTP/1.1\r\n${HOST}A: b\r\n c\r\n${END}`],
  "a space before the colon": [400, `GET / HTTP/1.1\r\n${HOST}A : b\r\n${END}`],
  "a header without a name": [400, `GET / HTTP/1.1\r\n${HOST}: b\r\n${END}`],
  "a NUL in a header": [400, `GET / HTTP/1.1\r\n${HOST}A: b\0c\r\n${END}`],
  "a NUL in the path": [400, `GET /\0 HTTP/1.1\r\n${HOST}${END}`],
  "no path": [400, `GET HTTP/1.1\r\n${HOST}${END}`],
  "an unknown method": [400, `BREW / HTTP/1.1\r\n${HOST}${END}`],
  "an unknown version": [400, `GET / HTTP/9.9\r\n${HOST}${END}`],
  "a TLS greeting": [400, Buffer.from("160301020001000001fc0303", "hex")],
  "no host": [400, `GET /v1/things/1 HTTP/1.1\r\n${END}`],
  "two hosts": [400, `GET /v1/things/1 HTTP/1.1\r\n${HOST}Host: other\r\n${END}`],
  "20 kB of header": [431, `GET / HTTP/1.1\r\n${HOST}A: ${"x".repeat(20_000)}\r\n${END}`],
  "20 kB of path": [431, `GET /${"x".repeat(20_000)} HTTP/1.1\r\n${HOST}${END}`],
  "1,500 headers": [431, `GET /v1/things/1 HTTP/1.1\r\n${HOST}${"a: b\r\n".repeat(1_500)}${END}`],
  "a connection through us": [405, `CONNECT other:443 HTTP/1.1\r\nHost: other:443\r\n\r\n`],
  "a bad percent-escape": [400, `GET /v1/things/%zz HTTP/1.1\r\n${HOST}${END}`],
  "a percent-escape that is not UTF-8": [400, `GET /v1/things/%ff HTTP/1.1\r\n${HOST}${END}`],
  "a path of slashes": [404, `GET // HTTP/1.1\r\n${HOST}${END}`],
  "two slashes": [404, `GET //v1/things/1 HTTP/1.1\r\n${HOST}${END}`],
  "a path parameter trick": [404, `GET /v1/..;/things/1 HTTP/1.1\r\n${HOST}${END}`],
  "a body that is not chunked at all": [
    400,
    `POST /v1/things/1 HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n${END}{}`,
  ],
};

const test = suite("the app");

test.after.each(async () => {
  await Promise.all([...open].map((app) => app.close()));
  open.clear();
});

test("whatever is malformed is answered with a problem, and the server lives", async () => {
  const app = await listening();
  for (const [name, [status, bytes]] of Object.entries(MALFORMED)) {
    const answer = parsed(await raw(app, bytes));
    assert.is(answer.status, status, `${name}: ${JSON.stringify(answer)}`);
    assert.is(answer.type, "application/problem+json", name);
    const problem = JSON.parse(answer.body);
    assert.is(problem.status, status, name);
    assert.match(problem.trace_id, /^[0-9a-f]{32}$/, name);
  }
  assert.is(parsed(await raw(app, `GET /v1/things/1 HTTP/1.1\r\n${HOST}${END}`)).status, 200);
  await app.close();
});

test("an id is taken as it stands in the path: nothing is decoded twice or resolved", async () => {
  const app = await listening();
  const get = async (path: string) => JSON.parse(parsed(await raw(app, `GET ${path} HTTP/1.1\r\n${HOST}${END}`)).body);
  const idOf = async (path: string) => (await get(path)).params?.id;
  assert.is(await idOf("/v1/things/%2e%2e"), "..");
  assert.is(await idOf("/v1/things/%252e"), "%2e");
  assert.is(await idOf("/v1/things/a%2Fb"), "a/b");
  assert.is(await idOf("/v1/things/%00"), "\0");
  for (const path of ["/v1/things/1/", "/v1/things//1", "/V1/things/1", `/v1/things/${"x".repeat(257)}`])
    assert.is((await get(path)).code, "not-found", path);
  await app.close();
});

test("HTTP/1.0 without a host, an unknown expectation and an upgrade are ordinary requests", async () => {
  const app = await listening();
  assert.is(parsed(await raw(app, "GET /v1/things/1 HTTP/1.0\r\n\r\n")).status, 200);
  assert.is(parsed(await raw(app, `GET /v1/things/1 HTTP/1.1\r\n${HOST}Expect: wonders\r\n${END}`)).status, 200);
  const upgrade = `GET /v1/things/1 HTTP/1.1\r\n${HOST}Connection: close, Upgrade\r\nUpgrade: websocket\r\n\r\n`;
  assert.is(parsed(await raw(app, upgrade)).status, 200);
  await app.close();
});

/** Sends the headers, and the body when a 100 asks for it. */
const withExpectation = (
  app: FastifyInstance,
  lines: readonly string[],
  { body, length = body.length }: { readonly body: string; readonly length?: number },
): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: portOf(app) });
    let received = "";
    socket.setTimeout(5_000, () => socket.destroy(new Error(`not closed within 5 s: ${received}`)));
    socket.on("data", (chunk) => {
      const wasAsked = received.includes(CONTINUE);
      received += chunk;
      if (!wasAsked && received.includes(CONTINUE)) socket.write(body);
    });
    socket.on("end", () => resolve(received));
    socket.on("error", reject);
    socket.write(
      [...lines, "Host: localhost", "Expect: 100-Continue", `Content-Length: ${length}`, "", ""].join("\r\n"),
    );
  });
const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";

test("every answer says that it is not guessed at, not embedded elsewhere, and uses no device", async () => {
  const config = { version: "0.0.0-test", trustProxy: false };
  for (const [publicUrl, strict] of [
    ["https://hooks.example", "max-age=31536000"],
    ["http://localhost:8080", undefined],
  ] as const) {
    const app = await testApp([ROUTE, GET_ROUTE], {
      config: { ...config, publicUrl: () => publicUrl },
      register: (scope) => {
        scope.get("/page", async (_request, reply) => reply.type("text/html").send("<p>"));
      },
    });
    open.add(app);
    for (const [method, url, status] of [
      ["GET", "/page", 200],
      ["GET", "/docs", 200],
      ["GET", "/openapi.json", 200],
      ["GET", "/nothing", 404],
      ["PUT", "/page", 405],
      ["POST", "/v1/things/1", 401],
      ["GET", "/v1/%zz", 400],
    ] as const) {
      const { statusCode, headers } = await app.inject({ method, url });
      const what = `${method} ${url}`;
      assert.is(statusCode, status, what);
      assert.is(headers["x-content-type-options"], "nosniff", what);
      assert.is(headers["cross-origin-resource-policy"], "same-origin", what);
      assert.match(String(headers["permissions-policy"]), "camera=()", what);
      assert.is(headers["strict-transport-security"], strict, what);
    }
    await app.listen({ host: "127.0.0.1", port: 0 });
    for (const [name, [, bytes]] of Object.entries(MALFORMED)) {
      const { headers } = parsed(await raw(app, bytes));
      const names = headers.map((line) => line.split(":")[0]?.toLowerCase());
      for (const header of ["x-content-type-options", "cross-origin-resource-policy", "permissions-policy"])
        assert.ok(names.includes(header), `${name}: ${header}`);
      assert.is(names.includes("strict-transport-security"), strict !== undefined, name);
    }
  }
});

test("a client that waits for a 100 gets it when its body is read, and none when it is refused", async () => {
  const taken: string[] = [];
  const app = await testApp([ROUTE, GET_ROUTE], {
    register: (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
      scope.post("/raw", async ({ body }) => taken.push(String(body)));
    },
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  open.add(app);
  const json = ["Content-Type: application/json", "Connection: close"];
  const known = "Authorization: Bearer csk_admin";

  const answered = await withExpectation(app, ["POST /v1/things/1 HTTP/1.1", known, ...json], { body: '{"name":"a"}' });
  assert.is(answered.slice(0, CONTINUE.length), CONTINUE);
  assert.is(parsed(answered.slice(CONTINUE.length)).status, 200);
  await withExpectation(app, ["POST /raw HTTP/1.1", ...json], { body: "abc" });
  assert.equal(taken, ["abc"]);

  for (const [status, ...lines] of [
    [401, "POST /v1/things/1 HTTP/1.1"],
    [403, "POST /v1/things/1 HTTP/1.1", "Authorization: Bearer csk_viewer"],
    [400, "POST /v1/things/1 HTTP/1.1", known, "Host: another"],
  ] as const) {
    // The connection ends without `Connection: close`, as a body may still be under way.
    const refused = await withExpectation(app, [...lines, "Content-Type: application/json"], { body: '{"name":"a"}' });
    assert.is(parsed(refused).status, status, refused);
  }
  const tooLarge = { body: "", length: API_BODY_BYTES_MAX + 1 };
  const refused = await withExpectation(app, ["POST /v1/things/1 HTTP/1.1", known, ...json], tooLarge);
  assert.is(parsed(refused).status, 413, refused);
  await app.close();
});

test("an unknown path is 404, a known one with another method 405 with what it allows", async () => {
  const app = await testApp([ROUTE, GET_ROUTE]);
  const unknown = await app.inject({
    method: "POST",
    url: "/v1/nothing",
    payload: "x",
    headers: { "content-type": "a/b" },
  });
  assert.is(unknown.statusCode, 404);
  assert.is(unknown.json().code, "not-found");
  for (const method of ["DELETE", "PUT", "PATCH", "OPTIONS"] as const) {
    const answer = await app.inject({ method, url: "/v1/things/7?x=1" });
    assert.is(answer.statusCode, 405, method);
    assert.is(answer.headers.allow, "GET, HEAD, POST");
    assert.is(answer.json().code, "method-not-allowed");
  }
});

test("QUERY is a method like any other that is not there, with a content type and without", async () => {
  const app = await listening();
  for (const type of ["", "Content-Type: application/json\r\n"]) {
    const query = async (path: string) => {
      const answer = parsed(await raw(app, `QUERY ${path} HTTP/1.1\r\n${HOST}${type}${END}`));
      return [answer.status, JSON.parse(answer.body).code];
    };
    assert.equal(await query("/v1/things/1"), [405, "method-not-allowed"]);
    assert.equal(await query("/v1/nothing"), [404, "not-found"]);
  }
  await app.close();
});

test("HEAD answers like GET, without a body", async () => {
  const app = await testApp([GET_ROUTE]);
  const answer = await app.inject({ method: "HEAD", url: "/v1/things/1" });
  assert.is(answer.statusCode, 200);
  assert.is(answer.body, "");
  assert.ok(Number(answer.headers["content-length"]) > 0);
});

test("a valid trace is continued with a span of our own, a malformed one begins anew", async () => {
  const app = await testApp([GET_ROUTE]);
  const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const span = "00f067aa0ba902b7";
  const traceOf = async (headers: Record<string, string>) =>
    (await app.inject({ url: "/v1/things/1", headers })).json().trace;
  const continued = await traceOf({ traceparent: `00-${trace}-${span}-01` });
  assert.is(continued.trace_id, trace);
  assert.is.not(continued.span_id, span);
  const fresh = await traceOf({ traceparent: `00-${trace.toUpperCase()}-${span}-01`, "request-id": "mine" });
  assert.is.not(fresh.trace_id, trace);
  assert.match(fresh.trace_id, /^[0-9a-f]{32}$/);
});

test("slow headers and a slow body end with 408", async () => {
  const app = await listening({ headersTimeoutMs: 100, requestTimeoutMs: 200, timeoutCheckMs: 20 });
  const half = parsed(await raw(app, `GET /v1/things/1 HTTP/1.1\r\n${HOST}`));
  assert.is(half.status, 408);
  assert.is(JSON.parse(half.body).code, "request-timeout");
  const head = `POST /v1/things/1 HTTP/1.1\r\n${HOST}Authorization: Bearer csk_admin\r\n`;
  const body = await raw(app, `${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name":`);
  assert.is(parsed(body).status, 408);
  await app.close();
});

/** What is too large for a head, and after its answer arrived `more` bytes in pieces, each sent when the last one is gone. */
const sendingOn = (
  app: FastifyInstance,
  more: number,
): Promise<{ answer: string; sent: number; error: string | null }> =>
  new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port: portOf(app), allowHalfOpen: true });
    const piece = Buffer.alloc(32_768, "x");
    let answer = "";
    let sent = 0;
    let error: string | null = null;
    const next = (): void => {
      if (sent >= more) socket.end();
      else socket.write(piece, (failed) => (failed == null ? setImmediate(next) : undefined));
      sent += piece.length;
    };
    socket.on("data", (chunk) => {
      if (answer === "") next();
      answer += chunk.toString();
    });
    socket.on("error", ({ message }) => (error = message));
    socket.on("close", () => resolve({ answer, sent, error }));
    socket.write(`GET / HTTP/1.1\r\n${HOST}A: ${"x".repeat(20_000)}\r\n`);
  });

test("who is still sending when its malformed request is answered reads the answer, and no reset", async () => {
  const app = await listening();
  const { answer, error } = await sendingOn(app, 500_000);
  assert.is(parsed(answer).status, 431);
  assert.is(error, null);
  const endless = await sendingOn(app, Number.POSITIVE_INFINITY);
  assert.is(parsed(endless.answer).status, 431);
  assert.ok(endless.error !== null, "and is cut off in the end");
  await app.close();
});

test("a client that half-closes gets its answer, one that is gone harms nobody", async () => {
  const app = await listening();
  const request = `GET /v1/things/1 HTTP/1.1\r\n${HOST}\r\n`;
  assert.is(parsed(await raw(app, request, true)).status, 200);
  const gone = connect({ host: "127.0.0.1", port: portOf(app) });
  gone.write(`GET /v1/slow HTTP/1.1\r\n${HOST}\r\n`, () => gone.destroy());
  await new Promise((resolve) => gone.on("close", resolve));
  assert.is(parsed(await raw(app, `GET /v1/slow HTTP/1.1\r\n${HOST}${END}`)).status, 200);
  await app.close();
});

test("closing lets what is in flight finish", async () => {
  const app = await listening();
  const answer = raw(app, `GET /v1/slow HTTP/1.1\r\n${HOST}\r\n`);
  const seen = new Promise<void>((resolve) => app.server.once("request", () => resolve()));
  await seen;
  await app.close();
  assert.is(parsed(await answer).body, '{"done":true}');
});

test("closing cuts after its grace who never ends", async () => {
  const app = await listening({ closeGraceMs: 50 });
  const open = connect({ host: "127.0.0.1", port: portOf(app) });
  const cut = new Promise((resolve) => open.on("close", resolve));
  open.on("error", () => undefined);
  const accepted = new Promise((resolve) => app.server.once("connection", resolve));
  open.write(`POST /v1/things/1 HTTP/1.1\r\n${HOST}Content-Length: 5\r\n`);
  await accepted;
  await app.close();
  await cut;
});

test("forwarded addresses are believed only when a proxy is trusted", async () => {
  const route = { ...GET_ROUTE, handle: async ({ ip }: { ip: string }) => ({ status: 200, body: { ip } }) };
  const ipOf = async (trustProxy: boolean) => {
    const config = { publicUrl: () => "http://localhost:1", version: "0", trustProxy };
    const app = await testApp([route], { config });
    return (await app.inject({ url: "/v1/things/1", headers: { "x-forwarded-for": "203.0.113.9" } })).json().ip;
  };
  assert.is(await ipOf(false), "127.0.0.1");
  assert.is(await ipOf(true), "203.0.113.9");
});

test("a route beside the table has its own parsers, and problems like all others", async () => {
  const app = await testApp([ROUTE], {
    register: (scope) => {
      scope.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: 4 }, (_request, body, done) => done(null, body));
      scope.post("/ingest", async (request) => ({ size: Buffer.isBuffer(request.body) ? request.body.length : null }));
    },
  });
  const send = (payload: string) =>
    app.inject({ method: "POST", url: "/ingest", payload, headers: { "content-type": "any/thing" } });
  assert.equal((await send("{,}")).json(), { size: 3 });
  assert.is((await send("12345")).json().code, "too-large");
  const table = { method: "POST", url: "/v1/things/1", payload: "{}", headers: bearer("csk_admin") } as const;
  assert.is(
    (await app.inject({ ...table, headers: { ...table.headers, "content-type": "any/thing" } })).statusCode,
    415,
  );
});

const UPLOAD = `POST /v1/things/1 HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n`;

/** Sends all but the last byte of a body of this size, and hangs. */
const hangingUpload = (app: FastifyInstance, headers: string, bytes: number): Promise<Socket> =>
  new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port: portOf(app) });
    socket.on("error", () => undefined);
    socket.write(`${UPLOAD}${headers}Content-Length: ${bytes}\r\n\r\n`);
    socket.write(Buffer.alloc(bytes - 1, " "), () => resolve(socket));
  });

test("uploads that hang take no more memory than the share of their account", async () => {
  const app = await listening();
  const mine = "Authorization: Bearer csk_admin\r\n";
  const sockets = await Promise.all(Array.from({ length: 100 }, () => hangingUpload(app, mine, API_BODY_BYTES_MAX)));
  const whole = `${UPLOAD}${mine}Content-Length: ${API_BODY_BYTES_MAX}\r\n${END}${'{"name":"n"}'.padEnd(API_BODY_BYTES_MAX)}`;
  await until("the account's share is taken", async () => parsed(await raw(app, whole)).status === 503);
  const other = whole.replace("csk_admin", "csk_other");
  assert.is(parsed(await raw(app, other)).status, 200);
  for (const socket of sockets) socket.destroy();
  await until("the room is free again", async () => parsed(await raw(app, whole)).status === 200);
});

test("a body in ten thousand chunks of one byte is refused before it is complete", async () => {
  const app = await listening();
  const chunked = `${UPLOAD}Authorization: Bearer csk_admin\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const { status, body } = parsed(await raw(app, `${chunked}${"1\r\n \r\n".repeat(10_000)}`));
  assert.equal([status, JSON.parse(body).detail], [400, "The body comes in more than 8192 chunks."]);
});

test("a connection may send a few requests ahead of their answers, and with many it is closed", async () => {
  const app = await listening();
  const get = `GET /v1/slow HTTP/1.1\r\n${HOST}\r\n`;
  const few = await raw(app, `${get.repeat(5)}${get.replace("\r\n\r\n", `\r\n${END}`)}`);
  assert.is(few.match(/"done":true/g)?.length, 6);
  const many = await raw(app, get.repeat(1_000));
  assert.ok((many.match(/HTTP\/1.1/g) ?? []).length < 20, many);
});

test("one network has half of the connections, and another one still connects", async () => {
  if (process.platform !== "linux") return printSkipped("connections by network", "only here the loopback has many");
  const server = createServer((_request, response) => response.end());
  shareConnections(server, 8);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const sockets: Socket[] = [];
  /** The connection still answers a request after it was accepted. */
  const isServed = (localAddress: string): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect({ host: "127.0.0.1", port, localAddress });
      sockets.push(socket);
      socket.on("data", () => resolve(true)).on("error", () => resolve(false));
      socket.on("close", () => resolve(false)).write(`GET / HTTP/1.1\r\n${HOST}\r\n`);
    });
  const served: boolean[] = [];
  for (const at of [...Array(6).fill("127.0.0.1"), "127.1.0.1"]) served.push(await isServed(at));
  assert.equal(served, [true, true, true, true, false, false, true]);
  sockets[0]?.destroy();
  await until("a connection that ended leaves its place", () => isServed("127.0.0.1"));
  for (const socket of sockets) socket.destroy();
  server.close();
});

test.run();
