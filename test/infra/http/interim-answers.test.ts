import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { HttpSender, SendOutcome } from "../../../domain/ports/sender.ts";
import { INTERIM_BYTES_MAX, interimAnswers } from "../../../infra/http/interim-answers.ts";
import { validIdentity } from "../../support/certificates.ts";
import { type Behaviour, misbehavingServer, plainAnswer } from "../../support/misbehaving-server.ts";
import { anyRequest, sendTo, testSender } from "../../support/test-sender.ts";
import { until } from "../../support/until.ts";

const test = suite("informational answers");

const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";
const HINTS = "HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\nlink: </x.js>\r\n\r\n";
const PROCESSING = "HTTP/1.0 102\r\ncontent-length: 5\r\nconnection: close\r\n\r\n";
const FINAL = plainAnswer("200 OK", "fine", ["x-a: 1"]);

const answering = (text: string): Behaviour => ({ onRequest: (socket) => socket.write(text) });
const outcome = (sent: SendOutcome): string => (sent.outcome === "answered" ? String(sent.statusCode) : sent.kind);

/** What is left of pieces that come one after the other. */
const leftOf = (...pieces: readonly string[]): string => {
  const interim = interimAnswers();
  return pieces.map((piece) => interim.takeOut(Buffer.from(piece, "latin1"))?.toString("latin1") ?? "").join("");
};

test("informational answers are removed wherever the bytes are cut", () => {
  const all = CONTINUE + HINTS + PROCESSING + FINAL;
  for (let at = 0; at <= all.length; at += 1) assert.is(leftOf(all.slice(0, at), all.slice(at)), FINAL);
  assert.is(leftOf(...all), FINAL);
});

test("other bytes are not removed", () => {
  for (const text of [
    FINAL,
    "",
    "HTTP/1.1 20",
    "garbage\r\n\r\n",
    "SSH-2.0-OpenSSH_9.6\r\n",
    "HTTP/2 100 \r\n\r\n",
    "HTTP/1.1 1000 What\r\n\r\n",
    "HTTP/1.1 1 What\r\n\r\n",
    "HTTP/1.1 100-Continue\r\n\r\n",
    "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n",
    `HTTP/1.1 100 Continue\n\n${FINAL}`,
    `HTTP/1.1 100 Continue\r\nx: y\n\r\n${FINAL}`,
    `HTTP/1.1 200 OK\r\ncontent-length: ${CONTINUE.length}\r\n\r\n${CONTINUE}`,
  ]) {
    assert.is(leftOf(text), text);
    assert.is(leftOf(...text), text);
    assert.is(leftOf(CONTINUE + text), text);
  }
});

test("informational answers to the next request are removed as well", () => {
  const interim = interimAnswers();
  const left = (text: string) => interim.takeOut(Buffer.from(text))?.toString() ?? "";
  assert.is(left(CONTINUE + FINAL), FINAL);
  assert.is(interim.hasAnswerBegun(), true);
  assert.is(left(CONTINUE), CONTINUE);
  interim.expectAnswer();
  assert.is(interim.hasAnswerBegun(), false);
  assert.is(left(CONTINUE.slice(0, 1)), "");
  assert.is(interim.hasAnswerBegun(), true, "from its first byte on");
  assert.is(left(CONTINUE.slice(1)), "");
});

test("more bytes of informational answers than the limit are refused, in many as in one", () => {
  const interim = interimAnswers();
  const most = Math.floor(INTERIM_BYTES_MAX / CONTINUE.length);
  for (let i = 0; i < most; i += 1) assert.is(interim.takeOut(Buffer.from(CONTINUE)), null);
  assert.throws(() => interim.takeOut(Buffer.from(CONTINUE)), /informational answers/);
  assert.throws(() => leftOf(`HTTP/1.1 103 Hints\r\nx: ${"y".repeat(INTERIM_BYTES_MAX)}`), /informational answers/);
});

for (const [what, text] of [
  ["a 100", CONTINUE],
  ["a 102", "HTTP/1.1 102 Processing\r\n\r\n"],
  ["a 103 with headers", HINTS],
  ["a 199", "HTTP/1.1 199 Whatever\r\n\r\n"],
  ["several", CONTINUE + PROCESSING + HINTS + CONTINUE],
] as const) {
  test(`${what} in one packet with the final answer does not count`, async () => {
    const { sent } = await sendTo(answering(text + FINAL));
    assert.is(outcome(sent), "200", JSON.stringify(sent));
    assert.equal(sent.outcome === "answered" && sent.headers, { "content-length": "4", "x-a": "1" });
    assert.is(sent.outcome === "answered" && Buffer.from(sent.body).toString(), "fine");
  });

  test(`${what} in a packet of its own before the final answer does not count`, async () => {
    const { sent } = await sendTo({
      onRequest: (socket) => socket.write(text, () => setImmediate(() => socket.write(FINAL))),
    });
    assert.is(outcome(sent), "200", JSON.stringify(sent));
  });
}

test("an informational answer over TLS does not count", async () => {
  const server = await misbehavingServer({ ...answering(CONTINUE + FINAL), tls: validIdentity });
  const sender = testSender((_host, _options, done) => done(null, [{ address: "127.0.0.1" }]));
  try {
    const sent = await sender.send(anyRequest(`https://localhost:${server.port}/`));
    assert.is(outcome(sent), "200", JSON.stringify(sent));
  } finally {
    await sender.close(0);
    await server.close();
  }
});

test("a 100 that comes before the body was sent does not count", async () => {
  const { sent, server } = await sendTo(
    { onConnection: (socket) => socket.once("data", () => socket.write(CONTINUE)), ...answering(FINAL) },
    { body: Buffer.alloc(3_000_000) },
  );
  assert.is(outcome(sent), "200", JSON.stringify(sent));
  assert.is(server.requests[0]?.body.length, 3_000_000);
});

/** Several requests to one receiver, one after the other. */
const oneAfterTheOther = async (behaviour: Behaviour, run: (send: () => Promise<SendOutcome>) => Promise<void>) => {
  const server = await misbehavingServer(behaviour);
  const sender: HttpSender = testSender();
  try {
    await run(() => sender.send(anyRequest(server.url)));
  } finally {
    await sender.close(0);
    await server.close();
  }
  return server;
};

test("a connection is used again after informational answers", async () => {
  const server = await oneAfterTheOther(answering(CONTINUE + PROCESSING + FINAL), async (send) => {
    for (let round = 0; round < 3; round += 1) assert.is(outcome(await send()), "200");
  });
  assert.equal([server.requests.length, server.connections()], [3, 1]);
});

test("a connection that ends once an answer has begun is a reset, sent once: the receiver had the request", async () => {
  const begun = [CONTINUE, CONTINUE.slice(0, 12), FINAL.slice(0, 12)];
  for (const [begins, ending] of begun.flatMap((it) => [[it, "end"] as const, [it, "reset"] as const])) {
    const server = await oneAfterTheOther(
      {
        onRequest(socket) {
          if (socket.bytesWritten === 0) socket.write(FINAL);
          else if (ending === "end") socket.end(begins);
          else socket.write(begins, () => setImmediate(() => socket.resetAndDestroy()));
        },
      },
      async (send) => {
        assert.is(outcome(await send()), "200");
        const sent = await send();
        assert.equal([outcome(sent), sent.resent], ["reset", undefined], JSON.stringify(sent));
      },
    );
    assert.is(server.requests.length, 2);
  }
});

test("a connection that ends within an informational answer is a reset", async () => {
  const { sent } = await sendTo({ onRequest: (socket) => socket.end("HTTP/1.1 100 Cont") });
  assert.is(outcome(sent), "reset", JSON.stringify(sent));
});

test("a receiver that sends informational answers without end is cut off", async () => {
  let isClosed = false;
  const { sent } = await sendTo({
    onRequest(socket) {
      const more = (): void => {
        while (!socket.destroyed && socket.write(CONTINUE));
      };
      socket.on("drain", more).on("close", () => {
        isClosed = true;
      });
      more();
    },
  });
  assert.is(outcome(sent), "response-too-large", JSON.stringify(sent));
  assert.match(sent.outcome === "failed" ? sent.detail : "", "informational answers");
  await until("the connection is closed", () => isClosed);
});

test("a receiver that drips informational answers causes a timeout", async () => {
  const { sent } = await sendTo(
    {
      onRequest(socket) {
        const drip = setInterval(() => socket.write(CONTINUE), 5);
        socket.on("close", () => clearInterval(drip));
      },
    },
    { timeoutMs: 100 },
  );
  assert.is(outcome(sent), "timeout", JSON.stringify(sent));
});

for (const [what, text] of [
  ["with the headers of an upgrade", "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"],
  ["without them", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
  ["after a 100", `${CONTINUE}HTTP/1.1 101 Switching Protocols\r\n\r\n`],
] as const) {
  test(`a 101 ${what} is an invalid response: nothing asked for another protocol`, async () => {
    for (const after of ["", FINAL]) {
      const { sent } = await sendTo(answering(text + after));
      assert.is(outcome(sent), "invalid-response", JSON.stringify(sent));
    }
  });
}

test.run();
