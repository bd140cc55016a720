import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { limitedCall } from "../../../infra/http/limited-call.ts";
import { until } from "../../support/until.ts";

const test = suite("calls with limits");

const calling = async (listener: RequestListener, timeoutMs = 60_000) => {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await until("the server listens", () => server.listening);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  try {
    return await limitedCall({ url, method: "POST", body: "text", timeoutMs, bytesMax: 1_000 });
  } finally {
    server.closeAllConnections();
    server.close();
  }
};

test("an answer within the limits is returned whatever its status", async () => {
  assert.equal(await calling((_, response) => response.writeHead(409).end("17\n")), {
    ...{ ok: true, status: 409, body: "17\n" },
  });
});

test("an answer without an end is given up at the limit of bytes", async () => {
  const answer = await calling((_, response) => {
    const write = (): void => {
      while (!response.destroyed && response.write("x".repeat(100)));
    };
    response.on("drain", write);
    write();
  });
  assert.equal(answer, { ok: false, problem: "answers with over 1000 bytes" });
});

test("neither silence nor an answer that drips holds a call beyond its limit of time", async () => {
  const late = { ok: false, problem: "does not answer within 200 ms" };
  assert.equal(await calling(() => undefined, 200), late);
  const drips = calling((_, response) => {
    const timer = setInterval(() => response.write("x"), 20);
    response.on("close", () => clearInterval(timer));
  }, 200);
  assert.equal(await drips, late);
});

test("a redirect is not followed", async () => {
  let calls = 0;
  const answer = await calling((_, response) => {
    calls += 1;
    response.writeHead(302, { location: "/elsewhere" }).end();
  });
  assert.is(answer.ok && answer.status, 302);
  assert.is(calls, 1);
});

test("a server that is not there is named with the cause", async () => {
  const answer = await limitedCall({ url: "http://127.0.0.1:1/", method: "GET", timeoutMs: 60_000, bytesMax: 1 });
  assert.is(answer.ok, false);
  assert.match(answer.ok ? "" : answer.problem, /^cannot be reached: /);
});

test.run();
