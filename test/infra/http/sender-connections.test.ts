import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { HttpRequest, HttpSender, SendOutcome } from "../../../domain/ports/sender.ts";
import type { Lookup } from "../../../infra/http/resolve.ts";
import {
  expiredIdentity,
  type Identity,
  otherNameIdentity,
  selfSignedIdentity,
  validIdentity,
} from "../../support/certificates.ts";
import {
  type Behaviour,
  type MisbehavingServer,
  misbehavingServer,
  plainAnswer,
} from "../../support/misbehaving-server.ts";
import { anyRequest, testSender } from "../../support/test-sender.ts";
import { until } from "../../support/until.ts";

const test = suite("the sender's connections");

const ok: Behaviour = { onRequest: (socket) => socket.write(plainAnswer("200 OK", "fine")) };

/** Answers each look-up with the next list, the last one for ever. */
const lookupOf = (...answers: readonly (readonly string[])[]): Lookup & { asked: () => number } => {
  let asked = 0;
  const lookup: Lookup = (_hostname, _options, callback) => {
    const addresses = answers[Math.min(asked, answers.length - 1)] ?? [];
    asked += 1;
    callback(
      null,
      addresses.map((address) => ({ address })),
    );
  };
  return Object.assign(lookup, { asked: () => asked });
};

type Setting = { readonly server: MisbehavingServer; readonly sender: HttpSender };

const withServer = async (behaviour: Behaviour, lookup: Lookup | undefined, body: (it: Setting) => Promise<void>) => {
  const server = await misbehavingServer(behaviour);
  const sender = testSender(lookup);
  try {
    await body({ server, sender });
  } finally {
    await sender.close(0);
    await server.close();
  }
};

const summary = (sent: SendOutcome): string => (sent.outcome === "answered" ? String(sent.statusCode) : sent.kind);

const send = (sender: HttpSender, url: string, more: Partial<HttpRequest> = {}): Promise<SendOutcome> =>
  sender.send(anyRequest(url, more));

test("a connection is used again, and its timings say so", () =>
  withServer(ok, undefined, async ({ server, sender }) => {
    for (let round = 0; round < 3; round += 1) {
      const { timings } = await send(sender, server.url);
      if (round > 0) assert.equal([timings.dns, timings.connect, timings.tls], [0, 0, 0]);
    }
    assert.is(server.connections(), 1);
    assert.is(server.requests.length, 3);
  }));

test("requests at the same time use different connections", () =>
  withServer(
    { onRequest: (socket) => setTimeout(() => socket.write(plainAnswer("200 OK")), 20) },
    undefined,
    async ({ server, sender }) => {
      const all = await Promise.all(Array.from({ length: 50 }, () => send(sender, server.url)));
      assert.ok(all.every((sent) => summary(sent) === "200"));
      assert.is(server.connections(), 50);
    },
  ));

test("a receiver that closes kept-alive connections without notice fails no attempt and gets at most one request twice", () =>
  withServer(
    { onRequest: (socket) => socket.write(plainAnswer("200 OK"), () => socket.end()) },
    undefined,
    async ({ server, sender }) => {
      for (let round = 0; round < 20; round += 1) assert.is(summary(await send(sender, server.url)), "200");
      assert.ok(server.requests.length <= 21, `${server.requests.length} requests`);
    },
  ));

test("a reset on a new connection is a failed attempt, sent once", () =>
  withServer({ onRequest: (socket) => socket.resetAndDestroy() }, undefined, async ({ server, sender }) => {
    assert.is(summary(await send(sender, server.url)), "reset");
    assert.is(server.requests.length, 1);
  }));

test("a receiver that resets every kept-alive connection is asked twice at most", () =>
  withServer(
    {
      onRequest: (socket, { connection }) =>
        connection === 0 && socket.bytesWritten === 0 ? socket.write(plainAnswer("200 OK")) : socket.resetAndDestroy(),
    },
    undefined,
    async ({ server, sender }) => {
      assert.is(summary(await send(sender, server.url)), "200");
      assert.is(summary(await send(sender, server.url)), "reset");
      assert.is(server.requests.length, 3);
    },
  ));

/** Takes one request, and none any more under the second, which it may have carried out: as a process that dies of it. */
const dying = async (): Promise<{ readonly url: string; readonly requests: () => number; close(): void }> => {
  let requests = 0;
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.on("data", () => {
      requests += 1;
      if (requests === 1) socket.write(plainAnswer("200 OK"));
      else server.close(() => undefined);
      if (requests > 1) socket.resetAndDestroy();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return { url: `http://127.0.0.1:${port}/`, requests: () => requests, close: () => server.close() };
};

test("a request sent twice is reported as resent, because the first one may have had an effect", async () => {
  const receiver = await dying();
  const sender = testSender();
  const request = { headers: { "webhook-id": "evt_1" }, body: Buffer.from("") };
  assert.is((await send(sender, receiver.url, request)).resent, undefined);
  const sent = await send(sender, receiver.url, request);
  assert.equal([summary(sent), sent.resent, receiver.requests()], ["connect", true, 2]);
  assert.match(sent.outcome === "failed" ? sent.detail : "", "sent once before");
  await sender.close(0);
  receiver.close();
  await withServer(
    {
      onRequest: (socket, { connection }) => {
        if (connection > 0) socket.write(plainAnswer("503 Service Unavailable"));
        else if (socket.bytesWritten === 0) socket.write(plainAnswer("200 OK"));
        else socket.resetAndDestroy();
      },
    },
    undefined,
    async ({ server, sender }) => {
      await send(sender, server.url);
      const again = await send(sender, server.url);
      assert.equal([summary(again), again.resent, server.requests.length], ["503", true, 3]);
    },
  );
});

test("a connection with stray bytes after the answer is not used again", () =>
  withServer(
    { onRequest: (socket) => socket.write(`${plainAnswer("200 OK")}HTTP/1.1 500 Sneaky\r\ncontent-length: 0\r\n\r\n`) },
    undefined,
    async ({ server, sender }) => {
      for (let round = 0; round < 5; round += 1) assert.is(summary(await send(sender, server.url)), "200");
    },
  ));

test("a refused connection is a connect failure", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  const sender = testSender();
  const sent = await send(sender, `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/`);
  assert.is(summary(sent), "connect");
  await sender.close(0);
});

test("the next address is tried when the first does not connect", () =>
  withServer(ok, lookupOf(["127.0.0.9", "127.0.0.1"]), async ({ server, sender }) => {
    assert.is(summary(await send(sender, `http://receiver.test:${server.port}/`)), "200");
  }));

test("a name that does not resolve is a dns failure", async () => {
  const sender = testSender((_hostname, _options, callback) => callback(new Error("getaddrinfo ENOTFOUND"), []));
  assert.is(summary(await send(sender, "http://nowhere.test/")), "dns");
  await sender.close(0);
  const empty = testSender(lookupOf([]));
  assert.is(summary(await send(empty, "http://nowhere.test/")), "dns");
  await empty.close(0);
});

test("a resolver that hangs causes a timeout that names the phase", async () => {
  const sender = testSender(() => {});
  const sent = await send(sender, "http://slow.test/", { timeoutMs: 1_000 });
  assert.is(summary(sent), "timeout");
  assert.match(sent.outcome === "failed" ? sent.detail : "", "resolving the name");
  assert.is(sent.outcome === "failed" && sent.unsent, true);
  await sender.close(0);
});

test("a request is not sent if the machine slept longer than its limit while connecting", async () => {
  const server = await misbehavingServer(ok);
  let now = 0;
  const lookup: Lookup = (_hostname, _options, callback) => {
    now += 60_000;
    callback(null, [{ address: "127.0.0.1" }]);
  };
  const sender = testSender(lookup, undefined, { now: () => now });
  const sent = await send(sender, `http://receiver.test:${server.port}/`);
  assert.equal([summary(sent), sent.outcome === "failed" && sent.unsent], ["timeout", true]);
  // On another connection: none is left in an unknown state.
  assert.is(summary(await send(sender, server.url)), "200");
  assert.is(server.requests.length, 1);
  await sender.close(0);
  await server.close();
});

test("many requests for one name share its look-up", () => {
  let asked = 0;
  const lookup: Lookup = (_hostname, _options, callback) => {
    asked += 1;
    setTimeout(() => callback(null, [{ address: "127.0.0.1" }]), 50);
  };
  return withServer(ok, lookup, async ({ server, sender }) => {
    await Promise.all(Array.from({ length: 20 }, () => send(sender, `http://receiver.test:${server.port}/`)));
    assert.is(asked, 1);
  });
});

for (const [what, addresses] of [
  ["private", ["10.0.0.1"]],
  ["mixed", ["127.0.0.1", "192.168.0.1"]],
  ["mapped", ["::ffff:10.0.0.1"]],
  ["not even an address", ["0x7f.1"]],
] as const) {
  test(`a name whose answer is ${what} is a blocked address, and nothing is connected`, () =>
    withServer(ok, lookupOf(addresses), async ({ server, sender }) => {
      const sent = await send(sender, `http://rebound.test:${server.port}/`);
      assert.is(summary(sent), "blocked-address");
      assert.match(sent.outcome === "failed" ? sent.detail : "", /rebound\.test is .+ refused: /);
      assert.is(server.connections(), 0);
    }));
}

test("a name that is rebound to a private address is blocked at the next connect", () => {
  const lookup = lookupOf(["127.0.0.1"], ["169.254.169.254"]);
  const closing: Behaviour = { onRequest: (socket) => socket.end(plainAnswer("200 OK", "", ["connection: close"])) };
  return withServer(closing, lookup, async ({ server, sender }) => {
    const url = `http://rebound.test:${server.port}/`;
    assert.is(summary(await send(sender, url)), "200");
    assert.is(summary(await send(sender, url)), "blocked-address");
    assert.is(lookup.asked(), 2);
    assert.is(server.connections(), 1);
  });
});

test("addresses written into the URL are vetted as well, without a look-up", async () => {
  const lookup = lookupOf(["127.0.0.1"]);
  const sender = testSender(lookup, []);
  for (const host of [
    "127.0.0.1",
    "2130706433",
    "0177.0.0.1",
    "0x7f.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "169.254.169.254",
  ])
    assert.is(summary(await send(sender, `http://${host}:1/`)), "blocked-address", host);
  assert.is(lookup.asked(), 0);
  await sender.close(0);
});

test("a URL that could not be registered is a blocked address", async () => {
  const sender = testSender();
  for (const url of ["ftp://a.test/", "nonsense", "http://user:pass@a.test/", "file:///etc/passwd", "", "http://a b/"])
    assert.is(summary(await send(sender, url)), "blocked-address", url);
  await sender.close(0);
});

const tlsReceiver = (identity: Identity, more: object = {}): Behaviour => ({ ...ok, tls: { ...identity, ...more } });

test("a certificate by a known authority for the right name is accepted, by name and by address", () =>
  withServer(tlsReceiver(validIdentity), lookupOf(["127.0.0.1"]), async ({ server, sender }) => {
    assert.is(summary(await send(sender, `https://receiver.test:${server.port}/`)), "200");
    assert.is(summary(await send(sender, `https://127.0.0.1:${server.port}/`)), "200");
  }));

for (const [what, behaviour] of [
  ["an expired certificate", tlsReceiver(expiredIdentity)],
  ["a self-signed certificate", tlsReceiver(selfSignedIdentity)],
  ["a certificate for another name", tlsReceiver(otherNameIdentity)],
  ["TLS 1.0", tlsReceiver(validIdentity, { minVersion: "TLSv1", maxVersion: "TLSv1", ciphers: "ALL@SECLEVEL=0" })],
  ["no certificate of ours", tlsReceiver(validIdentity, { requestCert: true, rejectUnauthorized: true })],
  ["no TLS at all", { onConnection: (socket: { write(text: string): void }) => socket.write("220 smtp.test\r\n") }],
  ["a hang-up during the handshake", { onConnection: (socket: { destroy(): void }) => socket.destroy() }],
] as const satisfies readonly (readonly [string, Behaviour])[]) {
  test(`${what} is a tls failure`, () =>
    withServer(behaviour, lookupOf(["127.0.0.1"]), async ({ server, sender }) => {
      const sent = await send(sender, `https://receiver.test:${server.port}/`);
      assert.is(summary(sent), "tls", JSON.stringify(sent));
      assert.is(server.requests.length, 0);
    }));
}

test("broken encryption during a request ends it at once with an unknown effect", () =>
  withServer(tlsReceiver(validIdentity), lookupOf(["127.0.0.1"]), async ({ server, sender }) => {
    const sockets = new Set<Socket>();
    // A proxy whose process behind the encryption is gone says so without it, and leaves the connection open.
    const proxy = createServer((near) => {
      const far = connect(server.port, "127.0.0.1");
      for (const socket of [near, far]) sockets.add(socket.on("error", () => socket.destroy()));
      near.pipe(far);
      far.on("data", (chunk) => near.write(server.requests.length === 0 ? chunk : "HTTP/1.1 400 Bad Request\r\n\r\n"));
    }).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const address = proxy.address();
    const port = typeof address === "object" ? address?.port : 0;
    const sent = await send(sender, `https://receiver.test:${port}/`, { timeoutMs: 60_000 });
    assert.equal([summary(sent), server.requests.length], ["reset", 1], JSON.stringify(sent));
    for (const socket of sockets) socket.destroy();
    proxy.close();
  }));

test("a receiver that hangs before the handshake causes a timeout that names the phase, and its connection is closed", () =>
  withServer({}, undefined, async ({ server, sender }) => {
    const sent = await send(sender, `https://127.0.0.1:${server.port}/`, { timeoutMs: 1_000 });
    assert.is(summary(sent), "timeout");
    assert.match(sent.outcome === "failed" ? sent.detail : "", "the TLS handshake");
    assert.is(sent.outcome === "failed" && sent.unsent, true);
    await until("the connection is closed", () => server.open() === 0);
  }));

test("a header that cannot be written is a failed outcome, and nothing is sent", () =>
  withServer(ok, undefined, async ({ server, sender }) => {
    for (const headers of [
      { "x-a": "1\r\nx-b: 2" },
      { "bad name": "1" },
      { "x-a": "✓" },
      { "transfer-encoding": "chunked" },
    ])
      assert.is(summary(await send(sender, server.url, { headers })), "connect", JSON.stringify(headers));
    assert.is(server.requests.length, 0);
    assert.is(summary(await send(sender, server.url)), "200");
  }));

test("an attempt that is given up is a reset, and its connection is closed", () =>
  withServer({}, undefined, async ({ server, sender }) => {
    const controller = new AbortController();
    const sending = send(sender, server.url, { signal: controller.signal });
    await until("the request has arrived", () => server.requests.length === 1);
    controller.abort();
    const sent = await sending;
    assert.equal([summary(sent), sent.outcome === "failed" && sent.unsent], ["reset", undefined]);
    await until("the connection is closed", () => server.open() === 0);
    assert.is(summary(await send(sender, server.url, { signal: controller.signal })), "reset");
  }));

test("closing waits for requests under way and refuses new ones", () =>
  withServer(
    { onRequest: (socket) => setTimeout(() => socket.write(plainAnswer("200 OK")), 100) },
    undefined,
    async ({ server, sender }) => {
      const sending = send(sender, server.url);
      await until("the request has arrived", () => server.requests.length === 1);
      const closing = sender.close(5_000);
      assert.is(summary(await send(sender, server.url)), "connect");
      await closing;
      assert.is(summary(await sending), "200");
      await until("the connection is closed", () => server.open() === 0);
    },
  ));

test("closing ends requests that do not end by themselves", () =>
  withServer({}, undefined, async ({ server, sender }) => {
    const sending = send(sender, server.url);
    await until("the request has arrived", () => server.requests.length === 1);
    await sender.close(20);
    assert.is(summary(await sending), "reset");
  }));

test.run();
