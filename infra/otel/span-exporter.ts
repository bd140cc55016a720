import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from "@opentelemetry/api";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOnSampler,
  type IdGenerator,
  NodeTracerProvider,
  type ReadableSpan,
} from "@opentelemetry/sdk-trace-node";
import type { Span, SpanExporter } from "../../domain/ports/span-exporter.ts";
import { otlpCollector } from "./collector.ts";

export type OtlpOptions = {
  /** `/v1/traces` is added to the URL (OTLP exporter specification, "Endpoint URLs for OTLP/HTTP"). */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly version: string;
  readonly onExported?: (count: number) => void;
  readonly onDropped: (error: Error, count: number) => void;
  readonly timeoutMs?: number;
};

const TIMEOUT_MS = 10_000;
const BATCH_MAX = 512;
const ALL = Number.POSITIVE_INFINITY;
/** OTEL_*_LIMIT must not apply: the collector gets what `GET /v1/events/{id}/trace` shows, which is bounded already. */
const ANY_ATTRIBUTES = { attributeCountLimit: ALL, attributeValueLengthLimit: ALL };
const SPAN_LIMITS = {
  ...ANY_ATTRIBUTES,
  eventCountLimit: ALL,
  attributePerEventCountLimit: ALL,
  linkCountLimit: ALL,
  attributePerLinkCountLimit: ALL,
};

const KIND = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

const CLOSED = "the exporter is closed";

type Waiting = { readonly spans: readonly Span[]; resolve(): void; reject(error: Error): void };

const parentOf = ({ traceId, parentId }: Span): Context =>
  parentId === null
    ? ROOT_CONTEXT
    : trace.setSpanContext(ROOT_CONTEXT, {
        traceId,
        spanId: parentId,
        traceFlags: TraceFlags.SAMPLED,
        isRemote: true,
      });

/** Makes the SDK's spans from spans that have ended, and keeps their ids and times. */
const sdkSpans = (serviceName: string, version: string): ((spans: readonly Span[]) => ReadableSpan[]) => {
  const made: ReadableSpan[] = [];
  let next: Pick<Span, "traceId" | "spanId"> = { traceId: "", spanId: "" };
  const idGenerator: IdGenerator = { generateTraceId: () => next.traceId, generateSpanId: () => next.spanId };
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ "service.name": serviceName, "service.version": version }),
    idGenerator,
    // OTEL_TRACES_SAMPLER must not apply: half a trace is useless, and a collector can choose among whole traces.
    sampler: new AlwaysOnSampler(),
    spanLimits: SPAN_LIMITS,
    generalLimits: ANY_ATTRIBUTES,
    spanProcessors: [
      {
        onStart: () => undefined,
        onEnd: (span) => void made.push(span),
        forceFlush: async () => undefined,
        shutdown: async () => undefined,
      },
    ],
  });
  const tracer = provider.getTracer("countersign", version);

  return (spans) => {
    for (const span of spans) {
      const { name, kind, startMs, endMs, attributes, events, error } = span;
      next = span;
      const options = { kind: KIND[kind], startTime: startMs, attributes: { ...attributes } };
      const started = tracer.startSpan(name, options, parentOf(span));
      for (const event of events) started.addEvent(event.name, event.attributes, event.atMs);
      if (error !== null) started.setStatus({ code: SpanStatusCode.ERROR, message: error });
      started.end(endMs);
    }
    return made.splice(0);
  };
};

/** Spans that are submitted while a request is under way go with the next request. */
export const otlpSpanExporter = (options: OtlpOptions): SpanExporter => {
  const { endpoint, headers, onExported, onDropped, timeoutMs: timeoutMillis = TIMEOUT_MS } = options;
  const url = `${endpoint.replace(/\/+$/, "")}/v1/traces`;
  const collector = otlpCollector({ url, headers, timeoutMillis });
  const toSdk = sdkSpans(options.serviceName, options.version);
  let waiting: Waiting[] = [];
  let underWay: readonly Waiting[] = [];
  let isSending = false;
  let isClosed = false;

  const send = async (spans: readonly Span[]): Promise<void> => {
    const batch = toSdk(spans);
    const { count, error } = await collector.send(batch);
    if (count < batch.length) onExported?.(batch.length - count);
    if (error !== null) onDropped(error, count);
  };

  const takeBatch = (): Waiting[] => {
    let size = 0;
    const end = waiting.findIndex(({ spans }, index) => {
      size += spans.length;
      return index > 0 && size > BATCH_MAX;
    });
    return waiting.splice(0, end === -1 ? waiting.length : end);
  };

  const sendAll = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const batch = takeBatch();
      underWay = batch;
      try {
        await send(batch.flatMap(({ spans }) => spans));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error as Error);
      }
    }
    isSending = false;
  };

  return {
    export: (spans) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(new Error(CLOSED));
        if (spans.length === 0) return resolve();
        waiting.push({ spans, resolve, reject });
        if (isSending) return;
        isSending = true;
        void sendAll();
      }),
    async close() {
      // A collector that hangs does not delay the stop: unconfirmed spans are sent again after the next start.
      isClosed = true;
      const left = [...underWay, ...waiting];
      waiting = [];
      for (const { reject } of left) reject(new Error(CLOSED));
      collector.close();
    },
  };
};
