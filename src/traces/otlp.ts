import { defined } from "../../domain/defined.ts";
import type { Json, JsonObject } from "../../domain/json.ts";
import type { Span, SpanAttribute, SpanAttributes, SpanEvent } from "../../domain/ports/span-exporter.ts";

/** The numbers of `SpanKind` and `Status.StatusCode` in opentelemetry/proto/trace/v1/trace.proto. */
const KIND = { internal: 1, server: 2, client: 3 } as const;
const STATUS_ERROR = 2;

const NS_PER_MS = 1_000_000n;
const nanos = (ms: number): string => String(BigInt(Math.round(ms)) * NS_PER_MS);

const anyValue = (value: SpanAttribute): JsonObject => {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
};

const attributesOf = (attributes: SpanAttributes): Json =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));

const eventOf = ({ name, atMs, attributes }: SpanEvent): JsonObject => ({
  name,
  timeUnixNano: nanos(atMs),
  attributes: attributesOf(attributes),
});

const spanOf = (span: Span): JsonObject => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...defined({ parentSpanId: span.parentId ?? undefined }),
  name: span.name,
  kind: KIND[span.kind],
  startTimeUnixNano: nanos(span.startMs),
  endTimeUnixNano: nanos(span.endMs),
  attributes: attributesOf(span.attributes),
  events: span.events.map(eventOf),
  status: span.error !== null ? { code: STATUS_ERROR, message: span.error } : {},
});

/** OTLP 1.x as JSON ("JSON Protobuf Encoding"), as collectors take it at `/v1/traces`. */
export const otlpJson = (
  resource: SpanAttributes,
  scope: { name: string; version: string },
  spans: readonly Span[],
) => ({
  resourceSpans: [
    { resource: { attributes: attributesOf(resource) }, scopeSpans: [{ scope, spans: spans.map(spanOf) }] },
  ],
});
