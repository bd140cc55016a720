import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A span as OTLP/JSON has it. */
export type ReceivedSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly status: { readonly code?: number; readonly message?: string };
};

type Request = { readonly resourceSpans: readonly { readonly scopeSpans: readonly { spans: ReceivedSpan[] }[] }[] };

/** All spans of an OTLP/JSON request. */
export const spansIn = (request: Request): ReceivedSpan[] =>
  request.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));

export type Collector = {
  /** What OTEL_EXPORTER_OTLP_ENDPOINT is set to. */
  readonly url: string;
  readonly requests: { readonly headers: NodeJS.Dict<string | string[]>; readonly path: string }[];
  /** Of a trace what has arrived: a span that was sent twice is one. */
  trace(traceId: string): ReceivedSpan[];
  /** What is answered from now on; 200 unless told otherwise. */
  answer(with_: (response: ServerResponse) => void): void;
  close(): Promise<void>;
};

/** An OpenTelemetry collector as far as traces over HTTP/JSON are concerned. */
export const collector = async (): Promise<Collector> => {
  const requests: Collector["requests"] = [];
  const spans = new Map<string, ReceivedSpan>();
  let respond = (response: ServerResponse): void => {
    response.setHeader("content-type", "application/json").end("{}");
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      requests.push({ headers: request.headers, path: request.url ?? "" });
      respond(response);
      if (response.statusCode !== 200 || !response.writableEnded) return;
      for (const span of spansIn(JSON.parse(Buffer.concat(chunks).toString()))) {
        spans.set(`${span.traceId}/${span.spanId}`, span);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    trace: (traceId) => [...spans.values()].filter((span) => span.traceId === traceId),
    answer(with_) {
      respond = with_;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
