import { gzipSync } from "node:zlib";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { SendOutcome } from "../../../domain/ports/sender.ts";
import { BODY_KEPT_MAX } from "../../../infra/http/exchange.ts";
import { type Behaviour, plainAnswer } from "../../support/misbehaving-server.ts";
import { sendTo } from "../../support/test-sender.ts";
import { until } from "../../support/until.ts";

const test = suite("what a receiver's answer comes to");

const answering = (text: string | Buffer): Behaviour => ({ onRequest: (socket) => socket.write(text) });
const answeringAndClosing = (text: string): Behaviour => ({ onRequest: (socket) => socket.end(text) });

type Answered = Extract<SendOutcome, { outcome: "answered" }>;

const answered = (sent: SendOutcome): Answered => {
  if (sent.outcome === "answered") return sent;
  throw new Error(`failed: ${sent.kind} ${sent.detail}`);
};

const failed = (sent: SendOutcome): Extract<SendOutcome, { outcome: "failed" }> => {
  if (sent.outcome === "failed") return sent;
  throw new Error(`answered ${sent.statusCode}`);
};

test("an answer's status, headers and body are returned", async () => {
  const { sent, server } = await sendTo(answering(plainAnswer("201 Created", "made", ["X-A: 1", "x-a: 2"])));
  const { statusCode, headers, body, truncated } = answered(sent);
  assert.is(statusCode, 201);
  assert.equal(headers, { "content-length": "4", "x-a": "1, 2" });
  assert.is(Buffer.from(body).toString(), "made");
  assert.is(truncated, false);
  const [request] = server.requests;
  assert.match(request?.head ?? "", /^POST \/hook\?a=1 HTTP\/1\.1\r\n/);
  assert.match(request?.head ?? "", /content-length: 7/);
  assert.not.match(request?.head ?? "", /transfer-encoding/i);
  assert.is(request?.body.toString(), '{"a":1}');
});

test("an empty body is sent with a content-length of 0", async () => {
  const { sent, server } = await sendTo(answering(plainAnswer("200 OK")), { body: new Uint8Array(0) });
  assert.is(answered(sent).statusCode, 200);
  assert.match(server.requests[0]?.head ?? "", /content-length: 0/);
});

test("4xx and 5xx are answers as well, with their Retry-After", async () => {
  for (const [status, header, expected] of [
    ["410 Gone", "x: 1", null],
    ["429 Too Many Requests", "retry-after: 7", 7_000],
    ["503 Service Unavailable", "Retry-After: Sun, 01 Mar 2026 12:00:30 GMT", 30_000],
    ["500 Internal Server Error", "retry-after: soon", null],
  ] as const) {
    const { statusCode, retryAfterMs } = answered((await sendTo(answering(plainAnswer(status, "", [header])))).sent);
    assert.is(statusCode, Number.parseInt(status, 10));
    assert.is(retryAfterMs, expected, status);
  }
});

test("a body of exactly the limit is whole, one byte more is cut", async () => {
  const whole = answered((await sendTo(answering(plainAnswer("200 OK", "x".repeat(BODY_KEPT_MAX))))).sent);
  assert.equal([whole.body.length, whole.truncated], [BODY_KEPT_MAX, false]);
  const cut = answered((await sendTo(answering(plainAnswer("200 OK", "x".repeat(BODY_KEPT_MAX + 1))))).sent);
  assert.equal([cut.body.length, cut.truncated], [BODY_KEPT_MAX, true]);
});

test("an infinite body ends at the limit and its connection is closed", async () => {
  const chunk = Buffer.from(`4000\r\n${"x".repeat(0x4000)}\r\n`);
  let closed = false;
  const { sent } = await sendTo({
    onRequest(socket) {
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
      const more = (): void => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.on("drain", more).on("close", () => {
        closed = true;
      });
      more();
    },
  });
  const { statusCode, body, truncated } = answered(sent);
  assert.equal([statusCode, body.length, truncated], [200, BODY_KEPT_MAX, true]);
  await until("the connection is closed", () => closed);
});

test("a gzip bomb is kept as it came, never inflated", async () => {
  const bomb = gzipSync(Buffer.alloc(20_000_000));
  const head = `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`;
  const { body, truncated } = answered((await sendTo(answering(Buffer.concat([Buffer.from(head), bomb])))).sent);
  assert.is(truncated, false);
  assert.ok(bomb.equals(body));
});

test("a dripping 2xx body is success when the time is up", async () => {
  const { sent } = await sendTo(
    {
      onRequest(socket) {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n");
        const drip = setInterval(() => socket.write("x"), 20);
        socket.on("close", () => clearInterval(drip));
      },
    },
    { timeoutMs: 1_000 },
  );
  const { statusCode, truncated, timings } = answered(sent);
  assert.equal([statusCode, truncated], [200, true]);
  assert.ok(timings.first_byte !== null && timings.first_byte <= timings.total);
});

for (const [what, behaviour] of [
  ["shorter than its content-length", answeringAndClosing("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort")],
  ["with a broken chunk", answering("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nnonsense")],
  [
    "reset half-way",
    {
      onRequest: (socket) => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf", () => socket.resetAndDestroy());
      },
    },
  ],
] as const satisfies readonly (readonly [string, Behaviour])[]) {
  test(`a 2xx with a body ${what} is success, truncated`, async () => {
    const { statusCode, truncated } = answered((await sendTo(behaviour)).sent);
    assert.equal([statusCode, truncated], [200, true]);
  });
}

test("a body that ends with the connection is whole", async () => {
  const { body, truncated } = answered((await sendTo(answeringAndClosing("HTTP/1.1 200 OK\r\n\r\nall of it"))).sent);
  assert.equal([Buffer.from(body).toString(), truncated], ["all of it", false]);
});

test("an informational answer before the real one does not count", async () => {
  const early = "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n";
  assert.is(answered((await sendTo(answering(early + plainAnswer("204 No Content")))).sent).statusCode, 204);
});

test("a redirect is an answer like any, and is not followed", async () => {
  for (const status of [301, 302, 303, 307, 308]) {
    const { sent, server } = await sendTo(answering(plainAnswer(`${status} Elsewhere`, "moved", ["location: /there"])));
    const { statusCode, headers, body } = answered(sent);
    assert.equal([statusCode, headers.location, Buffer.from(body).toString()], [status, "/there", "moved"]);
    assert.is(server.requests.length, 1);
  }
});

const headers = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => `${line(index)}\r\n`).join("");

for (const [what, behaviour, kind] of [
  ["40 kB of headers", answering(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(40_000)}\r\n\r\n`), "response-too-large"],
  ["10,000 headers", answering(`HTTP/1.1 200 OK\r\n${headers(10_000, (i) => `h${i}: v`)}\r\n`), "response-too-large"],
  [
    "10,000 empty headers of one name",
    answering(`HTTP/1.1 200 OK\r\n${headers(10_000, () => "a:")}\r\n`),
    "response-too-large",
  ],
  ["endless headers", endlessHeaders(), "response-too-large"],
  ["garbage", answering("\x00\x01\x02 what is this\r\n\r\n"), "invalid-response"],
  ["another protocol", answering("SSH-2.0-OpenSSH_9.6\r\n"), "invalid-response"],
  ["a status of four digits", answering("HTTP/1.1 2000 OK\r\n\r\n"), "invalid-response"],
  ["a status of 999", answering(plainAnswer("999 What")), "invalid-response"],
  [
    "two content-lengths",
    answering("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"),
    "invalid-response",
  ],
  ["an upgrade", answering("HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"), "invalid-response"],
  ["nothing but a closed connection", answeringAndClosing(""), "reset"],
  ["half a status line", answeringAndClosing("HTTP/1.1 20"), "reset"],
  ["a reset", { onRequest: (socket) => socket.resetAndDestroy() }, "reset"],
] as const satisfies readonly (readonly [string, Behaviour, string])[]) {
  test(`${what} is ${kind}`, async () => {
    const { sent } = await sendTo(behaviour);
    assert.is(failed(sent).kind, kind, JSON.stringify(sent));
  });
}

function endlessHeaders(): Behaviour {
  return {
    onRequest(socket) {
      socket.write("HTTP/1.1 200 OK\r\n");
      const more = (): void => {
        while (!socket.destroyed && socket.write("x-more: and more and more\r\n"));
      };
      socket.on("drain", more);
      more();
    },
  };
}

for (const [what, behaviour] of [
  ["never answers", {}],
  ["stops in the middle of its headers", answering("HTTP/1.1 200 OK\r\nx: ")],
  [
    "drips informational answers",
    {
      onRequest(socket) {
        const drip = setInterval(() => socket.write("HTTP/1.1 102 Processing\r\n\r\n"), 20);
        socket.on("close", () => clearInterval(drip));
      },
    },
  ],
] as const satisfies readonly (readonly [string, Behaviour])[]) {
  test(`a receiver that ${what} is a timeout`, async () => {
    const { kind, detail } = failed((await sendTo(behaviour, { timeoutMs: 1_000 })).sent);
    assert.is(kind, "timeout");
    assert.match(detail, "waiting for the answer");
  });
}

test("a receiver that never reads a large request is a timeout", async () => {
  const behaviour: Behaviour = { onConnection: (socket) => socket.pause() };
  const { sent } = await sendTo(behaviour, { timeoutMs: 300, body: Buffer.alloc(32_000_000) });
  assert.is(failed(sent).kind, "timeout");
});

test.run();
