import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Span } from "../../../domain/ports/span-exporter.ts";
import { otlpJson } from "../../../src/traces/otlp.ts";
import { isTraceRequest } from "../../support/otlp-rules.ts";

const test = suite("OTLP/JSON");

const SPAN: Span = {
  ...{ traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7", parentId: null },
  ...{ name: "decide", kind: "internal", startMs: 1_772_366_400_123, endMs: 1_772_366_400_456 },
  ...{ attributes: {}, error: null, events: [] },
};
const made = (...spans: readonly Span[]) =>
  otlpJson({ "service.name": "countersign" }, { name: "countersign", version: "1.2.3" }, spans);
const first = (span: Span) => made(span).resourceSpans[0]?.scopeSpans[0]?.spans[0];

test("a request has the proto's JSON encoding: hex ids, 64-bit integers as text, enums as numbers", () => {
  const attributes = { text: "a", whole: 7, part: 0.5, yes: true, large: 2 ** 60 };
  const child: Span = {
    ...SPAN,
    ...{ spanId: "a3ce929d0e0e4736", parentId: SPAN.spanId, kind: "client", attributes, error: "timeout" },
    events: [{ name: "approve", atMs: 1_772_366_400_200, attributes: { "countersign.member.id": "mem_1" } }],
  };
  const body: unknown = JSON.parse(JSON.stringify(made(SPAN, child)));
  isTraceRequest(body);
  assert.equal(body, {
    resourceSpans: [
      {
        resource: { attributes: [{ key: "service.name", value: { stringValue: "countersign" } }] },
        scopeSpans: [
          {
            scope: { name: "countersign", version: "1.2.3" },
            spans: [
              {
                traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
                spanId: "00f067aa0ba902b7",
                name: "decide",
                kind: 1,
                startTimeUnixNano: "1772366400123000000",
                endTimeUnixNano: "1772366400456000000",
                attributes: [],
                events: [],
                status: {},
              },
              {
                traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
                spanId: "a3ce929d0e0e4736",
                parentSpanId: "00f067aa0ba902b7",
                name: "decide",
                kind: 3,
                startTimeUnixNano: "1772366400123000000",
                endTimeUnixNano: "1772366400456000000",
                attributes: [
                  { key: "text", value: { stringValue: "a" } },
                  { key: "whole", value: { intValue: "7" } },
                  { key: "part", value: { doubleValue: 0.5 } },
                  { key: "yes", value: { boolValue: true } },
                  { key: "large", value: { doubleValue: 2 ** 60 } },
                ],
                events: [
                  {
                    name: "approve",
                    timeUnixNano: "1772366400200000000",
                    attributes: [{ key: "countersign.member.id", value: { stringValue: "mem_1" } }],
                  },
                ],
                status: { code: 2, message: "timeout" },
              },
            ],
          },
        ],
      },
    ],
  });
});

test("nanoseconds are exact, which a number of JSON would not be", () => {
  assert.is(first({ ...SPAN, startMs: 1_772_366_400_001 })?.startTimeUnixNano, "1772366400001000000");
});

test("no spans are a request without any", () => {
  isTraceRequest(made());
  assert.equal(made().resourceSpans[0]?.scopeSpans[0]?.spans, []);
});

test.run();
