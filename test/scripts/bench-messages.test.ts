import { createHmac } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type HttpMessage, httpMessages } from "../../scripts/bench/http-messages.ts";
import { paymentEvent, readPaymentEvent, signedRequests } from "../../scripts/bench/payment-event.ts";

const test = suite("the benchmark's messages");

const received = (chunks: readonly Buffer[]): HttpMessage[] => {
  const messages: HttpMessage[] = [];
  let clock = 0;
  const take = httpMessages(
    () => clock,
    (message) => messages.push({ ...message, body: Buffer.from(message.body) }),
  );
  for (const chunk of chunks) {
    clock += 1;
    take(chunk);
  }
  return messages;
};

const answer = (body: string): Buffer =>
  Buffer.from(`HTTP/1.1 202 Accepted\r\nContent-Length: ${body.length}\r\n\r\n${body}`);

test("messages are found wherever the network cuts them", () => {
  const bytes = Buffer.concat([answer("first"), answer(""), answer("third")]);
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const messages = received([bytes.subarray(0, cut), bytes.subarray(cut)]);
    assert.equal(
      messages.map(({ body }) => body.toString()),
      ["first", "", "third"],
    );
  }
});

test("a message's time is that of its first byte", () => {
  const bytes = answer("slow");
  const [message] = received([bytes.subarray(0, 1), bytes.subarray(1, 30), bytes.subarray(30)]);
  assert.is(message?.firstByteAt, 1);
});

test("a message that does not say its length is an error, not a guess", () => {
  assert.throws(
    () => received([Buffer.from("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")]),
    /without a length/,
  );
});

test("every event of a run has its number, the same size, and is JSON", () => {
  for (const n of [0, 7, 1_234_567_890]) {
    const body = paymentEvent(42, n);
    assert.equal(readPaymentEvent(body), { run: 42, n });
    assert.is(body.length, paymentEvent(1, 1).length);
    assert.is(JSON.parse(body.toString()).data.object.amount, 4200);
  }
});

test("a request carries its own delivery id and the signature over its own body", () => {
  const request = signedRequests("http://127.0.0.1:8080/v1/webhooks/hmac/src_1", "secret", 3);
  for (const n of [1, 99]) {
    const [message] = received([request(n)]);
    const expected = createHmac("sha256", "secret").update(paymentEvent(3, n)).digest("hex");
    assert.ok(message?.head.startsWith("POST /v1/webhooks/hmac/src_1 HTTP/1.1\r\nhost: 127.0.0.1:8080\r\n"));
    assert.is(message?.body.toString(), paymentEvent(3, n).toString());
    assert.match(message?.head ?? "", new RegExp(`x-delivery-id: 0000000003-00000000${n < 10 ? "0" : ""}${n}`));
    assert.match(message?.head ?? "", new RegExp(`x-signature: ${expected}`));
  }
});

test.run();
