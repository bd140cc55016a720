import { type AddressInfo, connect } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PLANS } from "../../../../domain/account/plans.ts";
import type { ActiveSource } from "../../../../src/admission/active-source.ts";
import type { Webhook } from "../../../../src/admission/webhook.ts";
import { ingest } from "../../../../src/routes/sources/ingest.ts";
import { INGEST_LIMITS } from "../../../../src/routes/sources/webhook-intake.ts";
import { PAYLOAD_BYTES_MAX } from "../../../../src/streams/payloads.ts";
import { notFound, type Problem, problem } from "../../../../src/streams/problems.ts";
import { POSITIONS, testApp, testClock } from "../../../support/http-app.ts";
import { until } from "../../../support/until.ts";

const planOf = async () => PLANS.scale;
const test = suite("the route of webhooks");

/** Every source is there; nothing of it is looked at here. */
const activeSource: ActiveSource = async () =>
  ({ phase: "present" }) as Exclude<Awaited<ReturnType<ActiveSource>>, Problem>;

/** The route in front of an admission that takes everything and remembers it. */
const taking = async () => {
  const taken: Webhook[] = [];
  const admit = async (webhook: Webhook) => {
    taken.push(webhook);
    return { status: 202, body: {} };
  };
  const app = await testApp([], {
    register: ingest({ activeSource, admit, positions: POSITIONS, clock: testClock(), planOf }),
  });
  const send = (headers: Record<string, string>, payload: Buffer) =>
    app.inject({ method: "POST", url: "/v1/webhooks/stripe/src_a", headers, payload });
  return { taken, send };
};

test("any content type is taken as it came, also one that is none", async () => {
  const { taken, send } = await taking();
  const types = ["application/json", "application/json; charset=latin1", "json", "", "a, b/c", "text/plain x", "/"];
  for (const type of types) {
    const body = Buffer.from([0x7b, 0x00, 0xff]);
    assert.is((await send({ "content-type": type }, body)).statusCode, 202, type);
    const webhook = taken.at(-1);
    assert.is(webhook?.headers["content-type"], type);
    assert.equal(webhook?.body, body);
  }
});

test("a log that hangs keeps no sender: 503 with Retry-After, whether the source or the decision does not come", async () => {
  const never = new Promise<never>(() => undefined);
  const limits = { ...INGEST_LIMITS, lookMs: 20, decideMs: 20 };
  for (const [look, admit] of [
    [() => never, async () => ({ status: 202, body: {} })],
    [activeSource, () => never],
  ] as const) {
    const app = await testApp([], {
      register: ingest({ activeSource: look, admit, positions: POSITIONS, clock: testClock(), planOf, limits }),
    });
    const answer = await app.inject({ method: "POST", url: "/v1/webhooks/stripe/src_a", payload: "{}" });
    assert.equal([answer.statusCode, answer.json().code], [503, "unavailable"]);
    assert.ok(Number(answer.headers["retry-after"]) > 0);
    await app.close();
  }
});

test("a body of any coding is not decoded, and none is an empty one", async () => {
  const { taken, send } = await taking();
  const body = Buffer.from([0x1f, 0x8b, 0x08]);
  assert.is((await send({ "content-type": "application/json", "content-encoding": "gzip" }, body)).statusCode, 202);
  assert.equal(taken.at(-1)?.body, body);
  assert.is((await send({ "content-type": "json" }, Buffer.alloc(0))).statusCode, 202);
  assert.is(taken.at(-1)?.body.length, 0);
});

test("the largest body is taken whatever it calls itself, one byte more is 413", async () => {
  const { taken, send } = await taking();
  for (const type of ["text/plain", "json"]) {
    assert.is((await send({ "content-type": type }, Buffer.alloc(PAYLOAD_BYTES_MAX))).statusCode, 202);
    assert.is(taken.at(-1)?.body.length, PAYLOAD_BYTES_MAX);
    const refused = await send({ "content-type": type }, Buffer.alloc(PAYLOAD_BYTES_MAX + 1));
    assert.equal([refused.statusCode, refused.json().code], [413, "too-large"]);
  }
});

/** With these a place that was lost, or a few bytes of a body, would leave no room for the largest one. */
const CHUNKED = "POST /v1/webhooks/stripe/src_a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
const GONE = 300;
const LIMITS = { ...INGEST_LIMITS, requests: GONE, bytes: 2 * PAYLOAD_BYTES_MAX + GONE, lagMs: 60_000 };

for (const [moment, sent] of [
  ["while its body comes", `${CHUNKED}3\r\nabc\r\n`],
  ["before its answer", `${CHUNKED}3\r\nabc\r\n0\r\n\r\n`],
  ["before it is told that its body is no good", `${CHUNKED}zz\r\n`],
] as const) {
  test(`a client who is gone ${moment} leaves its place to others`, async () => {
    let answer = (): void => undefined;
    const answering = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const admit = async () => {
      await answering;
      return { status: 202, body: {} };
    };
    const app = await testApp([], {
      register: ingest({ activeSource, admit, positions: POSITIONS, clock: testClock(), planOf, limits: LIMITS }),
    });
    await app.listen({ host: "127.0.0.1", port: 0 });
    let come = 0;
    app.server.on("request", () => {
      come += 1;
    });
    const { port } = app.server.address() as AddressInfo;
    const sockets = Array.from({ length: GONE }, () => connect(port, "127.0.0.1").on("error", () => undefined));
    for (const socket of sockets) socket.write(sent);
    await until("all have come", () => come === GONE);
    for (const socket of sockets) socket.resetAndDestroy();
    const left = () => new Promise<number>((resolve) => app.server.getConnections((_error, count) => resolve(count)));
    await until("all are seen to be gone", async () => (await left()) === 0);
    answer();
    const url = `http://127.0.0.1:${port}/v1/webhooks/stripe/src_a`;
    const body = Buffer.alloc(PAYLOAD_BYTES_MAX);
    await until("there is room", async () => (await fetch(url, { method: "POST", body })).status === 202);
    await app.close();
  });
}

test("what does not fit, by number or by bytes that have come, is told to come again; what is announced takes no room", async () => {
  let answer = (): void => undefined;
  const answering = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const admit = async () => {
    await answering;
    return { status: 202, body: {} };
  };
  const limits = { ...INGEST_LIMITS, requests: 4, bytes: 2_000, lagMs: 60_000 };
  const app = await testApp([], {
    register: ingest({ activeSource, admit, positions: POSITIONS, clock: testClock(), planOf, limits }),
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  // A server that listens on a port.
  const { port } = app.server.address() as AddressInfo;
  let come = 0;
  app.server.on("request", () => {
    come += 1;
  });
  const slow = Array.from({ length: 10 }, () => connect(port, "127.0.0.1").on("error", () => undefined));
  for (const socket of slow)
    socket.write("POST /v1/webhooks/stripe/src_a HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n{");
  await until("the slow ones have come", () => come === slow.length);
  const send = (bytes: number) =>
    fetch(`http://127.0.0.1:${port}/v1/webhooks/stripe/src_a`, { method: "POST", body: Buffer.alloc(bytes) });

  const large = await send(1_001);
  assert.equal([large.status, large.headers.get("retry-after")], [503, "1"]);
  const taken = [send(400), send(400)];
  await until("both are under way", () => come === slow.length + 3);
  const third = await send(1);
  assert.equal([third.status, ((await third.json()) as { code: string }).code], [503, "overloaded"]);
  answer();
  for (const reply of await Promise.all(taken)) assert.is(reply.status, 202);
  assert.is((await send(900)).status, 202);
  for (const socket of slow) socket.destroy();
  await app.close();
});

/** A route that decides two at once, when it is told to. */
const deciding = async (decideMs: number) => {
  const answers: (() => void)[] = [];
  const admit = () =>
    new Promise<{ status: number; body: object }>((resolve) => {
      answers.push(() => resolve({ status: 202, body: {} }));
    });
  const limits = { ...INGEST_LIMITS, decisions: 4, decideMs, lagMs: 60_000 };
  const app = await testApp([], {
    register: ingest({ activeSource, admit, positions: POSITIONS, clock: testClock(), planOf, limits }),
  });
  const send = async () => (await app.inject({ method: "POST", url: "/v1/webhooks/stripe/src_a" })).statusCode;
  return { app, answers, send };
};

test("of a burst so many are decided at once, the others behind them", async () => {
  const { app, answers, send } = await deciding(60_000);
  const burst = Array.from({ length: 5 }, send);
  let decided = 0;
  while (decided < burst.length) {
    await until("the next ones are decided", () => answers.length > 0);
    assert.ok(answers.length <= 2);
    decided += answers.length;
    for (const answer of answers.splice(0)) answer();
  }
  assert.equal(await Promise.all(burst), Array(5).fill(202));
  await app.close();
});

test("who waits too long for a decision is told so and never decided, and what is late holds its place until it is done", async () => {
  const { app, answers, send } = await deciding(50);
  assert.equal(await Promise.all([send(), send(), send()]), [503, 503, 503]);
  assert.is(await send(), 503);
  assert.is(answers.length, 2);
  for (const answer of answers) answer();
  const last = send();
  await until("there is a place again", () => answers.length === 3);
  answers[2]?.();
  await last;
  await app.close();
});

/** A client that announces a large body, sends `body` of it, and then only listens. */
const announcing = (port: number, path: string, body = "") => {
  let answer = "";
  let closed = false;
  const socket = connect(port, "127.0.0.1");
  socket.on("data", (chunk) => (answer += chunk.toString()));
  socket.on("error", () => undefined).on("close", () => (closed = true));
  socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${PAYLOAD_BYTES_MAX}\r\n\r\n${body}`);
  return { answer: () => answer, closed: () => closed, socket };
};

test("a source that is not there or takes nothing is told before anything of the body is there", async () => {
  const refusals = {
    "/v1/webhooks/stripe/src_a": notFound(),
    "/v1/webhooks/stripe/src_b": problem("source-paused", ""),
  };
  const refusing: ActiveSource = async (provider, id) =>
    Object.entries(refusals).find(([path]) => path === `/v1/webhooks/${provider}/${id}`)?.[1] ?? notFound();
  const admit = () => {
    throw new Error("nothing is admitted");
  };
  const app = await testApp([], {
    register: ingest({ activeSource: refusing, admit, positions: POSITIONS, clock: testClock(), planOf }),
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  for (const [path, { problem: code }] of Object.entries(refusals)) {
    const client = announcing(port, path);
    await until("it is answered", () => client.answer().includes(`"code":"${code}"`));
    client.socket.destroy();
  }
  await app.close();
});

test("a body that brings nothing for too long ends with 408, and what it held is given back", async () => {
  const admit = async () => ({ status: 202, body: {} });
  const limits = { ...INGEST_LIMITS, requests: 2, bytes: 2_000, lagMs: 60_000 };
  const register = ingest({
    activeSource,
    admit,
    positions: POSITIONS,
    clock: testClock(),
    planOf,
    limits,
    silenceMs: 150,
  });
  const app = await testApp([], { register });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const path = "/v1/webhooks/stripe/src_a";
  const silent = [announcing(port, path), announcing(port, path, "x".repeat(900))];
  await until("both have been told, and hung up on", () =>
    silent.every((it) => it.answer().startsWith("HTTP/1.1 408 ") && it.closed()),
  );
  for (const it of silent) assert.match(it.answer(), '"code":"request-timeout"');
  const url = `http://127.0.0.1:${port}${path}`;
  assert.is((await fetch(url, { method: "POST", body: Buffer.alloc(1_000) })).status, 202);
  await app.close();
});

test("large bodies of an account are worked on at the rate of its plan: what would wait too long comes again", async () => {
  const sourceOf: ActiveSource = async (_provider, id) =>
    ({ phase: "present", account: id.slice(4) }) as Exclude<Awaited<ReturnType<ActiveSource>>, Problem>;
  const admit = async ({ onVerified }: Webhook) => {
    onVerified?.();
    return { status: 202, body: {} };
  };
  const plans = new Map([
    ["small", PLANS.free],
    ["large", PLANS.scale],
  ]);
  const app = await testApp([], {
    register: ingest({
      ...{ activeSource: sourceOf, admit, positions: POSITIONS, clock: testClock() },
      planOf: async (account) => plans.get(account) ?? PLANS.free,
      limits: { ...INGEST_LIMITS, decideMs: 1_000 },
    }),
  });
  const send = async (account: string, payload: Buffer): Promise<number> =>
    (await app.inject({ method: "POST", url: `/v1/webhooks/stripe/src_${account}`, payload })).statusCode;
  const large = Buffer.alloc(900_000);
  for (const account of plans.keys()) assert.is(await send(account, Buffer.from("{}")), 202);
  assert.equal([await send("small", large), await send("small", large)], [202, 503]);
  assert.is(await send("small", Buffer.from("{}")), 202);
  assert.equal([await send("large", large), await send("large", large), await send("large", large)], [202, 202, 202]);
  await app.close();
});

test("a large body that announces its length is not read before its turn", async () => {
  const admit = async ({ onVerified }: Webhook) => {
    onVerified?.();
    return { status: 202, body: {} };
  };
  const limits = { ...INGEST_LIMITS, decideMs: 200 };
  const app = await testApp([], {
    register: ingest({
      activeSource,
      admit,
      positions: POSITIONS,
      clock: testClock(),
      planOf: async () => PLANS.free,
      limits,
    }),
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const path = "/v1/webhooks/stripe/src_a";
  const send = async (body: Buffer<ArrayBuffer>) =>
    (await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body })).status;
  assert.equal([await send(Buffer.from("{}")), await send(Buffer.alloc(900_000))], [202, 202]);
  const client = announcing(port, path);
  await until("it is refused, although nothing of its body was sent", () =>
    client.answer().includes('"code":"overloaded"'),
  );
  assert.is(await send(Buffer.from("{}")), 202);
  client.socket.destroy();
  await app.close();
});

test("while the event loop is late, what comes is told to come again; afterwards it is taken", async () => {
  let admitted = 0;
  const admit = async () => {
    admitted += 1;
    // A turn of the loop that takes its time.
    for (const end = performance.now() + 300; performance.now() < end; );
    return { status: 202, body: {} };
  };
  const limits = { ...INGEST_LIMITS, requests: 100, bytes: 1_000_000, lagMs: 100 };
  const app = await testApp([], {
    register: ingest({ activeSource, admit, positions: POSITIONS, clock: testClock(), planOf, limits }),
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  // A server that listens on a port.
  const { port } = app.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/v1/webhooks/stripe/src_a`;
  const replies = await Promise.all(Array.from({ length: 20 }, () => fetch(url, { method: "POST", body: "{}" })));
  const refused = replies.filter(({ status }) => status === 503);
  assert.ok(refused.length > 0);
  assert.is(refused.length + admitted, replies.length);
  await until("it is taken again", async () => (await fetch(url, { method: "POST", body: "{}" })).status === 202);
  await app.close();
});

/**
 * A route behind a proxy that says from where each request comes. A webhook of `src_<name>` belongs to the account `<name>`,
 * and its signature holds if it shows one.
 */
const isolating = async () => {
  const sourceOf: ActiveSource = async (_provider, id) =>
    ({ phase: "present", account: id.slice(4) }) as Exclude<Awaited<ReturnType<ActiveSource>>, Problem>;
  const admit = async ({ headers, onVerified }: Webhook) => {
    if (headers["x-signature"] === undefined) return problem("invalid-signature", "");
    onVerified?.();
    return { status: 202, body: {} };
  };
  const app = await testApp([], {
    register: ingest({
      activeSource: sourceOf,
      admit,
      positions: POSITIONS,
      clock: testClock(),
      planOf,
      limits: { ...INGEST_LIMITS, lagMs: 600_000 },
      silenceMs: 600_000,
    }),
    config: { publicUrl: () => "https://countersign.example", version: "0", trustProxy: true },
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  // A server that listens on a port.
  const { port } = app.server.address() as AddressInfo;
  const uploads: ReturnType<typeof connect>[] = [];
  let received = 0;
  app.server.on("request", (request) => request.on("data", (chunk: Buffer) => (received += chunk.length)));
  /** Sends all of a body but its last byte. */
  const slowly = (source: string, from: string, bytes: number): void => {
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    uploads.push(socket);
    socket.write(
      `POST /v1/webhooks/stripe/${source} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${from}\r\nContent-Length: ${bytes + 1}\r\n\r\n`,
    );
    socket.write(Buffer.alloc(bytes));
  };
  const send = async (source: string, from: string, bytes: number): Promise<number> => {
    const headers = { "x-forwarded-for": from, "x-signature": "ok" };
    const url = `http://127.0.0.1:${port}/v1/webhooks/stripe/${source}`;
    return (await fetch(url, { method: "POST", headers, body: Buffer.alloc(bytes) })).status;
  };
  const close = async (): Promise<void> => {
    for (const socket of uploads) socket.destroy();
    await app.close();
  };
  return { slowly, send, close, received: () => received };
};

for (const [what, count, bytes] of [
  ["34 slow uploads of 970 kB", 34, 970_000],
  ["132 slow uploads of 250 kB", 132, 250_000],
] as const) {
  for (const [where, sourceOf, networkOf] of [
    ["from one network", (n: number) => `src_a${n}`, () => "203.0.113.1"],
    ["to one source from many networks", () => "src_attacker", (n: number) => `203.0.${n}.1`],
    ["to many sources from many networks", (n: number) => `src_a${n}`, (n: number) => `203.0.${n}.1`],
    ["to the victim's own source from many networks", () => "src_victim", (n: number) => `203.0.${n}.1`],
  ] as const) {
    test(`${what} without a signature ${where}: nothing of another source is refused`, async () => {
      const { slowly, send, close, received } = await isolating();
      assert.is(await send("src_victim", "198.51.100.1", 10), 202);
      const before = received();
      for (let n = 0; n < count; n += 1) slowly(sourceOf(n), networkOf(n), bytes);
      await until("all of it has come", () => received() - before >= count * bytes);
      const sizes = [1, 1_000, 250_000, PAYLOAD_BYTES_MAX];
      for (const size of sizes) assert.is(await send("src_victim", "198.51.100.1", size), 202, `${size} bytes`);
      for (const size of sizes) assert.is(await send("src_new", "192.0.2.1", size), 202, `${size} bytes, first time`);
      assert.is(await send("src_neighbour", "203.0.113.2", PAYLOAD_BYTES_MAX), 202, "from a network of the attacker");
      await close();
    });
  }
}

test.run();
