import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { misbehavingServer } from "../../support/misbehaving-server.ts";
import { anyRequest, testSender } from "../../support/test-sender.ts";

const test = suite("a receiver that answers anything");

const RUNS = Number(process.env.FUZZ_RUNS ?? 300);

const piece = fc.constantFrom(
  "HTTP/1.1 200 OK\r\n",
  "HTTP/1.0 200 OK\r\n",
  "HTTP/1.1 100 Continue\r\n\r\n",
  "HTTP/1.1 103 Early Hints\r\n",
  "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n",
  "HTTP/1.1 204 No Content\r\n",
  "HTTP/1.1 304 Not Modified\r\n",
  "HTTP/1.1 500 Oops\r\n",
  "content-length: 3\r\n",
  "content-length: 0\r\n",
  "transfer-encoding: chunked\r\n",
  "transfer-encoding: gzip, chunked\r\n",
  "connection: close\r\n",
  "connection: keep-alive\r\n",
  "keep-alive: timeout=1\r\n",
  "retry-after: 1\r\n",
  "__proto__: x\r\n",
  "x: y\n",
  ": \r\n",
  "\r\n",
  "3\r\nabc\r\n",
  "0\r\n\r\n",
  "0\r\ntrailer: x\r\n\r\n",
  "abc",
  "\u0000",
  "x".repeat(70_000),
);
const ending = fc.constantFrom("end", "reset", "stay");
const answer = fc.record({
  pieces: fc.array(fc.oneof(piece, fc.string()), { maxLength: 12 }),
  split: fc.boolean(),
  ending,
});

test("any bytes from a receiver lead to an outcome and to no other error", async () => {
  const thrown: unknown[] = [];
  const onThrown = (error: unknown): unknown => thrown.push(error);
  process.on("uncaughtException", onThrown).on("unhandledRejection", onThrown);
  let next: { pieces: string[]; split: boolean; ending: string } = { pieces: [], split: false, ending: "end" };
  const server = await misbehavingServer({
    onRequest(socket) {
      const { pieces, split, ending } = next;
      if (split) for (const text of pieces) socket.write(text, "latin1");
      else socket.write(pieces.join(""), "latin1");
      if (ending === "end") socket.end();
      if (ending === "reset") setImmediate(() => socket.resetAndDestroy());
    },
  });
  const sender = testSender();
  await fc.assert(
    fc.asyncProperty(answer, async (it) => {
      next = it;
      const sent = await sender.send(anyRequest(server.url, { timeoutMs: 30 }));
      assert.ok(sent.outcome === "answered" || sent.kind.length > 0);
      assert.equal(thrown, []);
    }),
    { numRuns: RUNS },
  );
  await sender.close(0);
  await server.close();
  process.off("uncaughtException", onThrown).off("unhandledRejection", onThrown);
});

test.run();
