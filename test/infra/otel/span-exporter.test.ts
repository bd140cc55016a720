import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Span } from "../../../domain/ports/span-exporter.ts";
import { type OtlpOptions, otlpSpanExporter } from "../../../infra/otel/span-exporter.ts";
import { otlpJson } from "../../../src/traces/otlp.ts";
import { type ReceivedSpan, spansIn } from "../../support/collector.ts";
import { isTraceRequest } from "../../support/otlp-rules.ts";
import { until } from "../../support/until.ts";

const test = suite("spans to a collector over OTLP");

/** Of what hangs, so that it is soon given up; the exporter's first repeat comes after a second. What answers may be slow. */
const TIMEOUT_MS = 300;

type Arrived = { readonly headers: IncomingHttpHeaders; readonly url: string; readonly body: Buffer };
type Answer = (response: ServerResponse, nth: number) => void;

const ok: Answer = (response) => response.setHeader("content-type", "application/json").end("{}");
const status =
  (code: number): Answer =>
  (response) =>
    response.writeHead(code, { "content-type": "application/json" }).end('{"message":"no"}');

const world = async (answer: Answer, over: Partial<OtlpOptions> = {}) => {
  const arrived: Arrived[] = [];
  const dropped: { readonly error: Error; readonly count: number }[] = [];
  let exported = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      arrived.push({ headers: request.headers, url: request.url ?? "", body: Buffer.concat(chunks) });
      answer(response, arrived.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const exporter = otlpSpanExporter({
    endpoint: `http://127.0.0.1:${port}/`,
    headers: {},
    serviceName: "governed",
    version: "1.2.3",
    onExported: (count) => {
      exported += count;
    },
    onDropped: (error, count) => dropped.push({ error, count }),
    ...over,
  });
  return {
    exporter,
    arrived,
    dropped,
    exported: () => exported,
    spans: () => arrived.flatMap(({ body }) => spansIn(JSON.parse(body.toString()))),
    async close() {
      await exporter.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const withWorld = async (
  answer: Answer,
  run: (it: Awaited<ReturnType<typeof world>>) => Promise<void>,
  over: Partial<OtlpOptions> = {},
): Promise<void> => {
  const it = await world(answer, over);
  try {
    await run(it);
  } finally {
    await it.close();
  }
};

let made = 0;
const span = (over: Partial<Span> = {}): Span => {
  made += 1;
  return {
    ...{ traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: made.toString(16).padStart(16, "0"), parentId: null },
    ...{ name: "decide", kind: "internal", startMs: 1_772_366_400_123, endMs: 1_772_366_400_456 },
    ...{ attributes: {}, error: null, events: [] },
    ...over,
  };
};
const spans = (count: number): Span[] => Array.from({ length: count }, () => span());

const rejects = async (work: Promise<void>): Promise<Error> => {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("it was not refused");
};

/** What both ways to a span's JSON have to agree on; the SDK adds what is zero or empty. */
const essence = ({ parentSpanId, attributes, ...rest }: ReceivedSpan) => ({
  ...{ traceId: rest.traceId, spanId: rest.spanId, parentSpanId, name: rest.name, kind: rest.kind },
  ...{ start: String(rest.startTimeUnixNano), end: String(rest.endTimeUnixNano) },
  status: { code: rest.status.code ?? 0, message: rest.status.message },
  attributes: attributes.map(({ key, value }) => [
    key,
    ...Object.entries(value).map(([type, own]) => `${type} ${own}`),
  ]),
});

test("what arrives is OTLP, and to the id and the nanosecond what the console shows", () =>
  withWorld(
    ok,
    async ({ exporter, arrived, exported }) => {
      const root = span({ kind: "server", attributes: { text: "a", whole: 7, part: 0.5, yes: true } });
      const events = [{ name: "approve", atMs: root.startMs + 1, attributes: { "countersign.member.id": "mem_1" } }];
      const child = span({
        parentId: root.spanId,
        kind: "client",
        error: "timeout",
        events,
        startMs: root.startMs + 7,
      });
      await exporter.export([root, child]);
      const [{ headers, url, body } = { headers: {}, url: "", body: Buffer.alloc(0) }] = arrived;
      assert.equal([url, headers["content-type"], headers["x-key"]], ["/v1/traces", "application/json", "s cret"]);
      const request = JSON.parse(body.toString());
      isTraceRequest(request);
      const shown = otlpJson({}, { name: "countersign", version: "1.2.3" }, [root, child]);
      assert.equal(spansIn(request).map(essence), spansIn(JSON.parse(JSON.stringify(shown))).map(essence));
      const resource = request.resourceSpans[0].resource.attributes;
      assert.equal(
        resource.map(({ key, value }: { key: string; value: { stringValue: string } }) => [key, value.stringValue]),
        [
          ["service.name", "governed"],
          ["service.version", "1.2.3"],
        ],
      );
      assert.is(exported(), 2);
    },
    { headers: { "x-key": "s cret" } },
  ));

test("spans submitted during a request go together in batches of a bounded size", () =>
  withWorld(ok, async ({ exporter, arrived, spans: all }) => {
    await Promise.all(Array.from({ length: 300 }, () => exporter.export(spans(5))));
    const sizes = arrived.map(({ body }) => spansIn(JSON.parse(body.toString())).length);
    assert.is(all().length, 1_500);
    assert.ok(Math.max(...sizes) <= 512 && sizes.length <= 4, String(sizes));
    assert.is(new Set(all().map(({ spanId }) => spanId)).size, 1_500);
  }));

test("no span is left out, whatever the environment says of sampling and limits", async () => {
  const env = {
    OTEL_TRACES_SAMPLER: "always_off",
    OTEL_SPAN_EVENT_COUNT_LIMIT: "1",
    OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: "1",
    OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT: "1",
    OTEL_ATTRIBUTE_COUNT_LIMIT: "1",
    OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: "1",
    OTEL_SPAN_ATTRIBUTE_PER_EVENT_COUNT_LIMIT: "1",
    OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT: "1",
  };
  Object.assign(process.env, env);
  try {
    await withWorld(ok, async ({ exporter, arrived, spans: all }) => {
      const events = Array.from({ length: 300 }, (_, n) => ({
        name: "e",
        atMs: 1_772_366_400_200 + n,
        attributes: { a: "a whole sentence", b: 2, c: 3 },
      }));
      const attributes = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`a${n}`, `sentence ${n}`]));
      await exporter.export([span({ events, attributes })]);
      isTraceRequest(JSON.parse(arrived[0]?.body.toString() ?? ""));
      const [one] = all() as (ReceivedSpan & { readonly events: readonly Pick<ReceivedSpan, "attributes">[] })[];
      assert.equal([one?.events.length, one?.attributes.length], [300, 200]);
      assert.equal(one?.attributes.at(-1)?.value, { stringValue: "sentence 199" });
      assert.equal(
        [one?.events[0]?.attributes.length, one?.events[0]?.attributes[0]?.value.stringValue],
        [3, "a whole sentence"],
      );
    });
  } finally {
    for (const name of Object.keys(env)) delete process.env[name];
  }
});

test("spans that a collector refuses for good are dropped and reported, and later spans are sent", async () => {
  for (const code of [301, 302, 307, 308, 400, 401, 404, 413, 500]) {
    await withWorld(
      (response, nth) => (nth === 1 ? status(code) : ok)(response, nth),
      async ({ exporter, dropped, exported }) => {
        await exporter.export(spans(3));
        assert.equal(
          dropped.map(({ count, error }) => [count, Reflect.get(error, "code")]),
          [[3, code]],
        );
        await exporter.export(spans(2));
        assert.is(exported(), 2);
      },
    );
  }
});

test("only the spans that a collector reports as refused are dropped and reported", async () => {
  const partial =
    (partialSuccess: unknown): Answer =>
    (response) =>
      response.setHeader("content-type", "application/json").end(JSON.stringify({ partialSuccess }));
  for (const [said, refused] of [
    [{ rejectedSpans: "2", errorMessage: "too old" }, 2],
    [{ rejectedSpans: 99 }, 3],
    [{ rejectedSpans: "0", errorMessage: "only a warning" }, 0],
    [{ rejectedSpans: "many" }, 0],
    [null, 0],
  ] as const) {
    await withWorld(partial(said), async ({ exporter, arrived, dropped, exported }) => {
      await exporter.export(spans(3));
      assert.equal([arrived.length, exported(), dropped[0]?.count ?? 0], [1, 3 - refused, refused]);
      if (refused === 2) assert.match(String(dropped[0]?.error), "too old");
    });
  }
  await withWorld(
    (response) => void response.end("<html>"),
    async ({ exporter, exported }) => {
      await exporter.export(spans(3));
      assert.is(exported(), 3);
    },
  );
});

/** An answer of which there is always some more. */
const drip: Answer = (response) => {
  response.writeHead(200, { "content-type": "application/json" });
  const timer = setInterval(() => response.write(" "), 5);
  response.on("close", () => clearInterval(timer));
};

test("a collector that drips loses its connection and gets the spans again once it answers", async () => {
  let isAway = true;
  let open = 0;
  const answer: Answer = (response, nth) => {
    open += 1;
    response.on("close", () => {
      open -= 1;
    });
    (isAway ? drip : ok)(response, nth);
  };
  await withWorld(
    answer,
    async ({ exporter, arrived, exported }) => {
      // With 30 under way OpenTelemetry's exporter would send no more.
      for (let nth = 1; nth <= 3; nth += 1) await rejects(exporter.export(spans(1)));
      assert.is(arrived.length, 3);
      await until("all connections are closed", () => open === 0);
      isAway = false;
      const taken = (): Promise<boolean> =>
        exporter.export(spans(1)).then(
          () => true,
          () => false,
        );
      await until("it is taken", taken);
      assert.is(exported(), 1);
    },
    { timeoutMs: TIMEOUT_MS },
  );
});

test("a collector that asks to wait, hangs, drips, cuts or is missing rejects the export, and a repeat succeeds", async () => {
  const away: readonly Answer[] = [
    status(429),
    status(502),
    status(503),
    status(504),
    () => undefined,
    drip,
    (response) => response.destroy(),
  ];
  for (const answer of away) {
    let isAway = true;
    await withWorld(
      (response, nth) => (isAway ? answer : ok)(response, nth),
      async ({ exporter, dropped, exported }) => {
        const waiting = spans(2);
        await rejects(exporter.export(waiting));
        assert.equal([dropped.length, exported()], [0, 0]);
        isAway = false;
        const taken = (): Promise<boolean> =>
          exporter.export(waiting).then(
            () => true,
            () => false,
          );
        await until("it is taken", taken);
        assert.equal([dropped.length, exported()], [0, 2]);
      },
      { timeoutMs: TIMEOUT_MS },
    );
  }
  await withWorld(ok, async ({ exporter }) => void (await rejects(exporter.export(spans(1)))), {
    endpoint: "http://127.0.0.1:9",
    timeoutMs: TIMEOUT_MS,
  });
});

test("closing rejects all exports that wait for a collector that hangs, without delay", () =>
  withWorld(
    () => undefined,
    async ({ exporter, arrived, dropped }) => {
      const first = rejects(exporter.export(spans(2)));
      await until("it has arrived", () => arrived.length === 1);
      const second = rejects(exporter.export(spans(2)));
      await exporter.close();
      for (const refused of [first, second, rejects(exporter.export(spans(1)))]) {
        assert.match((await refused).message, /closed/);
      }
      assert.equal([arrived.length, dropped.length], [1, 0]);
    },
    { timeoutMs: 2_000 },
  ));

test("an empty export sends no request", () =>
  withWorld(ok, async ({ exporter, arrived }) => {
    await exporter.export([]);
    assert.is(arrived.length, 0);
  }));

test.run();
