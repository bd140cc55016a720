import { type AddressInfo, connect } from "node:net";
import type { FastifyInstance } from "fastify";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PLANS } from "../../../../domain/account/plans.ts";
import type { ActiveSource } from "../../../../src/admission/active-source.ts";
import type { Admission } from "../../../../src/admission/admission.ts";
import type { Webhook } from "../../../../src/admission/webhook.ts";
import type { AppDeps } from "../../../../src/app.ts";
import { SMALL_BYTES } from "../../../../src/http/byte-rate.ts";
import { HEADERS_MAX } from "../../../../src/http/limits.ts";
import type { AnswerReport } from "../../../../src/observability/observer.ts";
import { ingest } from "../../../../src/routes/sources/ingest.ts";
import { INGEST_LIMITS, type IngestLimits } from "../../../../src/routes/sources/webhook-intake.ts";
import { notFound, type Problem, problem } from "../../../../src/streams/problems.ts";
import { POSITIONS, PUBLIC_URL, testApp, testClock } from "../../../support/http-app.ts";
import { until } from "../../../support/until.ts";

const test = suite("webhooks that are taken without Fastify");

const open = new Set<FastifyInstance>();
test.after.each(async () => {
  await Promise.all([...open].map((app) => app.close()));
  open.clear();
});

/** What each source's webhooks are answered. */
const ANSWERS: Readonly<Record<string, Awaited<ReturnType<Admission>>>> = {
  src_new: { status: 202, body: { event_id: "evt_1", status: "queued" }, position: "17" },
  src_repeat: { status: 200, body: { event_id: "evt_1", status: "delivered", duplicate: true } },
  src_ping: { status: 200 },
  src_forged: problem("invalid-signature", "It does not match: ü.", { extra: { reason: "mismatch" } }),
  src_limited: problem("gate-rate", "Later.", { retryAfterS: 7 }),
};

const activeSource: ActiveSource = async (_provider, id) =>
  id === "src_none"
    ? notFound()
    : ({ phase: "present", account: "acc_a" } as Exclude<Awaited<ReturnType<ActiveSource>>, Problem>);

type Over = {
  readonly look?: () => Promise<unknown>;
  readonly admit?: Admission;
  readonly limits?: Partial<IngestLimits>;
  readonly silenceMs?: number;
  readonly app?: Partial<AppDeps>;
};

/** A server with the route, which knows what was admitted, answered and seen by Fastify. */
const listening = async ({ look, admit, limits, silenceMs = 600_000, app: deps = {} }: Over = {}) => {
  const admitted: Webhook[] = [];
  const answered: AnswerReport[] = [];
  const problems: string[] = [];
  let byFastify = 0;
  const route = ingest({
    async activeSource(provider, id) {
      await look?.();
      return activeSource(provider, id);
    },
    positions: POSITIONS,
    clock: testClock(),
    planOf: async () => PLANS.scale,
    limits: { ...INGEST_LIMITS, lagMs: 60_000, ...limits },
    silenceMs,
    async admit(webhook) {
      admitted.push(webhook);
      if (admit !== undefined) return admit(webhook);
      const answer = ANSWERS[webhook.sourceId];
      if (answer === undefined) throw new Error("as if a bug");
      return answer;
    },
  });
  const app = await testApp([], {
    onAnswered: (call) => answered.push(call),
    onProblem: (request, it) =>
      problems.push(JSON.stringify([it.problem, request.ip, request.params, request.routeOptions.config.call])),
    async register(scope) {
      scope.addHook("onRequest", async () => {
        byFastify += 1;
      });
      await route(scope);
    },
    ...deps,
  });
  open.add(app);
  await app.listen({ host: "127.0.0.1", port: 0 });
  // A server that listens on a port.
  const { port } = app.server.address() as AddressInfo;
  return { app, port, admitted, answered, problems, byFastify: () => byFastify };
};

/** Sends bytes, and answers what comes until the other side closes, without what differs each time. */
const raw = (port: number, bytes: string | Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let received = "";
    socket.on("data", (chunk) => (received += chunk.toString()));
    socket.on("error", reject);
    socket.on("close", () =>
      resolve(received.replace(/^Date: .*\r\n/gm, "").replace(/"trace_id":"[0-9a-f]{32}"/g, '"trace_id":""')),
    );
    socket.write(bytes);
  });

const BODY = '{"a":1}';
const LENGTH = `Content-Length: ${BODY.length}\r\n`;
const CLOSE = "Connection: close\r\n";
const PATH = "/v1/webhooks/stripe/src_new";

const post = (path: string, headers: string, body = BODY): string =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n${body}`;

test("each answer has the same bytes as with Fastify, and is counted and recorded in the same way", async () => {
  const { port, answered, problems, byFastify } = await listening();
  const sources = [...Object.keys(ANSWERS), "src_none", "src_bug"];
  for (const connection of [CLOSE, `Connection: keep-alive\r\n`]) {
    for (const id of sources) {
      // The last request closes the connection; before it, the answer says for how long the connection stays open.
      const last = connection === CLOSE ? "" : post(PATH, LENGTH + CLOSE);
      const send = (path: string) => raw(port, post(path, LENGTH + connection) + last);
      const before = byFastify();
      const bare = await send(`/v1/webhooks/stripe/${id}`);
      assert.is(byFastify(), before, `${id} is taken without Fastify`);
      const seen = [answered.splice(0), problems.splice(0)] as const;
      const fastify = await send(`/v1/webhooks/stripe/${id}?`);
      assert.is(byFastify(), before + 1);
      assert.is(bare, fastify);
      const withoutMs = (calls: readonly AnswerReport[]) => calls.map(({ ms, ...call }) => call);
      assert.equal(withoutMs(seen[0]), withoutMs(answered.splice(0)));
      assert.equal(seen[1], problems.splice(0));
      for (const { ms } of seen[0]) assert.ok(ms > 0);
    }
  }
});

test("the admission gets the same webhook as with Fastify", async () => {
  for (const trustProxy of [false, true, ["10.0.0.0/8", "127.0.0.1"]]) {
    const { port, admitted } = await listening({
      app: { config: { publicUrl: () => PUBLIC_URL, version: "0", trustProxy } },
    });
    const lines = [
      "",
      "Content-Type: json\r\n",
      "X-Twice: 1\r\nx-twice: 2\r\n__proto__: x\r\n",
      "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n",
      "X-Forwarded-For: 203.0.113.1, 10.0.0.1\r\nX-Forwarded-For: 2001:db8::1\r\n",
      "X-Forwarded-For: nonsense, ,\r\n",
    ];
    for (const more of lines) {
      for (const path of [PATH, `${PATH}?`]) await raw(port, post(path, LENGTH + CLOSE + more));
      const [bare, fastify] = admitted.splice(0).map(({ trace, onVerified, source: _known, ...webhook }) => {
        const { trace_id, span_id, ...caller } = trace;
        return { ...webhook, caller, idOf: more.startsWith("traceparent") ? trace_id : trace_id.length };
      });
      assert.equal(bare, fastify, JSON.stringify(more));
    }
  }
});

/** Requests that are left to Fastify, which answers each of them as it always has. */
const UNUSUAL: Readonly<Record<string, readonly [status: number, request: string | Buffer]>> = {
  "a query": [202, post(`${PATH}?a=1`, LENGTH + CLOSE)],
  "a trailing slash": [404, post(`${PATH}/`, LENGTH + CLOSE)],
  "upper case": [404, post(PATH.toUpperCase(), LENGTH + CLOSE)],
  "a percent-encoded letter": [202, post("/v1/webhooks/stripe/src%5Fnew", LENGTH + CLOSE)],
  "the address of a proxy's request": [202, post(`http://other${PATH}`, LENGTH + CLOSE)],
  "no length": [202, post(PATH, CLOSE, "")],
  "a chunked body": [202, post(PATH, `Transfer-Encoding: chunked\r\n${CLOSE}`, "2\r\n{}\r\n0\r\n\r\n")],
  "another coding": [400, post(PATH, `Transfer-Encoding: gzip, chunked\r\n${CLOSE}`, "0\r\n\r\n")],
  "two hosts": [400, post(PATH, `Host: b\r\n${LENGTH}${CLOSE}`)],
  "no host": [400, `POST ${PATH} HTTP/1.1\r\n${LENGTH}${CLOSE}\r\n${BODY}`],
  "too many headers": [431, post(PATH, LENGTH + CLOSE + "a: b\r\n".repeat(HEADERS_MAX))],
  "HTTP/1.0": [202, `POST ${PATH} HTTP/1.0\r\n${LENGTH}\r\n${BODY}`],
  "an expectation": [202, post(PATH, `Expect: wonders\r\n${LENGTH}${CLOSE}`)],
  "an upgrade": [202, post(PATH, `Upgrade: websocket\r\n${LENGTH}Connection: close, upgrade\r\n`)],
  "another method": [405, `PUT ${PATH} HTTP/1.1\r\nHost: a\r\n${LENGTH}${CLOSE}\r\n${BODY}`],
  "a large body": [202, post(PATH, `Content-Length: ${SMALL_BYTES + 1}\r\n${CLOSE}`, "x".repeat(SMALL_BYTES + 1))],
  "a length of many digits": [202, post(PATH, `Content-Length: 0000000007\r\n${CLOSE}`)],
};

test("a request with anything unusual is left to Fastify", async () => {
  // A hook of the whole server sees unrouted requests as well.
  let seen = 0;
  const { app, port } = await listening();
  app.server.on("request", (_request, response) => {
    if (response.listenerCount("finish") > 0) seen += 1;
  });
  for (const [name, [status, bytes]] of Object.entries(UNUSUAL))
    assert.match(await raw(port, bytes), new RegExp(`^HTTP/1.1 ${status} `), name);
  assert.is(seen, Object.keys(UNUSUAL).length);
});

test("what two servers could read differently is refused, and nothing of it is admitted", async () => {
  const { port, admitted } = await listening();
  const inner = post(PATH, LENGTH + CLOSE);
  for (const headers of [
    `Transfer-Encoding: chunked\r\n${LENGTH}`,
    `${LENGTH}Transfer-Encoding : chunked\r\n`,
    `${LENGTH}Content-Length: 0\r\n`,
    `${LENGTH}${LENGTH}`,
    `Content-Length: 7, 7\r\n`,
    `Content-Length: +7\r\n`,
    `Content-Length: 0x7\r\n`,
    `Content-Length:\r\n`,
  ])
    assert.match(await raw(port, post(PATH, headers + CLOSE, BODY + inner)), /^HTTP\/1\.1 400 /, headers);
  assert.equal(admitted, []);
});

test("requests that are sent ahead are answered in their order, with and without Fastify, whatever their bodies", async () => {
  const { port, admitted } = await listening({
    async admit({ sourceId }) {
      if (sourceId === "src_repeat") await new Promise((resolve) => setTimeout(resolve, 50));
      return ANSWERS[sourceId] ?? notFound();
    },
  });
  const large = (id: string) =>
    post(`/v1/webhooks/stripe/${id}`, `Content-Length: ${SMALL_BYTES}\r\n`, "x".repeat(SMALL_BYTES));
  const requests = [
    post("/v1/webhooks/stripe/src_repeat", LENGTH),
    large("src_none"),
    post(`${PATH}?`, LENGTH),
    large("src_new"),
    post("/v1/webhooks/stripe/src_forged", LENGTH),
    post("/v1/webhooks/stripe/src_ping", "Content-Length: 0\r\n", ""),
    post(PATH, LENGTH + CLOSE),
  ];
  const received = await raw(port, requests.join(""));
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
  assert.equal(statuses, [200, 404, 202, 202, 401, 200, 202]);
  assert.equal(
    admitted.map(({ body }) => body.length).sort((a, b) => a - b),
    [0, 7, 7, 7, 7, SMALL_BYTES],
  );
});

test("a body that comes in pieces is read to its end", async () => {
  const { port, admitted, byFastify } = await listening();
  const socket = connect(port, "127.0.0.1").setNoDelay();
  let answer = "";
  socket.on("data", (chunk) => (answer += chunk.toString()));
  const whole = post(PATH, `Content-Length: 30000\r\n${CLOSE}`, "ab".repeat(15_000));
  const pieces = [0, 20, 90, 5_000, 29_000, whole.length];
  for (const [n, from] of pieces.slice(0, -1).entries()) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    socket.write(whole.slice(from, pieces[n + 1]));
  }
  await until("it is answered", () => answer.startsWith("HTTP/1.1 202 "));
  assert.is(admitted[0]?.body.toString(), "ab".repeat(15_000));
  assert.is(byFastify(), 0);
});

test("a small body that stops arriving ends with 408, and its connection is closed", async () => {
  const { port, byFastify } = await listening({ silenceMs: 100 });
  const answer = await raw(port, post(PATH, "Content-Length: 100\r\n"));
  assert.match(answer, /^HTTP\/1\.1 408 /);
  assert.match(answer, /\r\nconnection: close\r\n/);
  assert.is(byFastify(), 0);
});

const GONE = 300;

for (const [moment, sent, waitsFor] of [
  ["before its source is known", post(PATH, "Content-Length: 100\r\n"), "source"],
  ["while its body arrives", post(PATH, "Content-Length: 100\r\n"), "body"],
  ["before its answer", post(PATH, LENGTH), "answer"],
] as const) {
  test(`a client that disconnects ${moment} leaves its places and bytes to others`, async () => {
    let goOn = (): void => undefined;
    const going = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const { app, port, byFastify } = await listening({
      limits: { requests: GONE, bytes: 3 * SMALL_BYTES, decisions: GONE, lookMs: 60_000, decideMs: 60_000 },
      look: async () => (waitsFor === "source" ? going : undefined),
      async admit() {
        await going;
        return { status: 202, body: {} };
      },
    });
    let come = 0;
    app.server.on("request", () => {
      come += 1;
    });
    const sockets = Array.from({ length: GONE }, () => connect(port, "127.0.0.1").on("error", () => undefined));
    for (const socket of sockets) socket.write(sent);
    await until("all have come", () => come === GONE);
    for (const socket of sockets) socket.resetAndDestroy();
    const left = () => new Promise<number>((resolve) => app.server.getConnections((_error, count) => resolve(count)));
    await until("all are seen to be gone", async () => (await left()) === 0);
    goOn();
    const whole = post(PATH, `Content-Length: ${SMALL_BYTES}\r\n${CLOSE}`, "x".repeat(SMALL_BYTES));
    await until("there is room", async () => (await raw(port, whole)).startsWith("HTTP/1.1 202 "));
    assert.is(byFastify(), 0);
    // A body that is still waited for would keep its timer until it has been silent for a minute.
    await until("nothing waits for a body", () => !process.getActiveResourcesInfo().includes("Timeout"));
  });
}

test("of a closing server what is under way is answered, and the next request is told that the connection closes", async () => {
  let answer = (): void => undefined;
  const answering = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const { app, port, admitted } = await listening({
    async admit() {
      await answering;
      return { status: 202, body: {} };
    },
  });
  const received = raw(port, post(PATH, LENGTH));
  await until("it is under way", () => admitted.length === 1);
  const closing = app.close();
  answer();
  assert.match(await received, /^HTTP\/1\.1 202 /);
  await closing;
});

test("if the log hangs the client is told to come again, whether the source or the decision does not come", async () => {
  const never = new Promise<never>(() => undefined);
  for (const over of [{ look: () => never }, { admit: () => never }]) {
    const { port, byFastify } = await listening({ limits: { lookMs: 20, decideMs: 20 }, ...over });
    const answer = await raw(port, post(PATH, LENGTH + CLOSE));
    assert.match(answer, /^HTTP\/1\.1 503 /);
    assert.match(answer, /\r\nretry-after: 5\r\n/);
    assert.is(byFastify(), 0);
  }
});

test.run();
