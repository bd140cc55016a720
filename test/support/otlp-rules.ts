import * as assert from "uvu/assert";

/**
 * The messages of opentelemetry/proto/trace/v1/trace.proto and common/v1/common.proto (1.x) in OTLP's JSON encoding: names
 * in lowerCamelCase, trace and span ids in hex, 64-bit integers as decimal strings (or numbers, which parsers have to
 * take as well), enums as numbers. Unknown names are refused, as they would be typing errors of ours.
 */
type Check = (value: unknown, at: string) => void;

const matches =
  (pattern: RegExp): Check =>
  (value, at) =>
    assert.ok(typeof value === "string" && pattern.test(value), `${at}: ${JSON.stringify(value)}`);
const oneOf =
  (...values: readonly unknown[]): Check =>
  (value, at) =>
    assert.ok(values.includes(value), `${at}: ${JSON.stringify(value)}`);

const text: Check = (value, at) => assert.type(value, "string", at);
const bool: Check = (value, at) => assert.type(value, "boolean", at);
const double: Check = (value, at) => assert.ok(Number.isFinite(value), at);
const uint32: Check = (value, at) => assert.ok(Number.isInteger(value) && Number(value) >= 0, at);
const fixed64 = matches(/^(0|[1-9]\d{0,19})$/);
const int64: Check = (value, at) =>
  Number.isSafeInteger(value) ? undefined : matches(/^-?(0|[1-9]\d{0,18})$/)(value, at);

const list =
  (each: Check): Check =>
  (value, at) => {
    assert.ok(Array.isArray(value), at);
    for (const [index, item] of (value as unknown[]).entries()) each(item, `${at}/${index}`);
  };

const message =
  (fields: Readonly<Record<string, Check>>, required: readonly string[] = []): Check =>
  (value, at) => {
    assert.ok(typeof value === "object" && value !== null && !Array.isArray(value), at);
    for (const name of required) assert.ok(name in (value as object), `${at} lacks ${name}`);
    for (const [name, own] of Object.entries(value as object)) {
      const check = fields[name];
      assert.ok(check !== undefined, `${at} has ${name}, which the message does not`);
      check?.(own, `${at}/${name}`);
    }
  };

/** Exactly one, as an attribute without a value says nothing. */
const anyValue: Check = (value, at) => {
  message({ stringValue: text, boolValue: bool, intValue: int64, doubleValue: double })(value, at);
  assert.is(Object.keys(value as object).length, 1, at);
};
const attributes: Check = (value, at) => {
  list(message({ key: matches(/./), value: anyValue }, ["key", "value"]))(value, at);
  const keys = (value as { key: string }[]).map(({ key }) => key);
  assert.is(new Set(keys).size, keys.length, `${at}: keys are unique`);
};
const spanId = matches(/^(?!0{16})[0-9a-f]{16}$/);

const event = message({ timeUnixNano: fixed64, name: text, attributes, droppedAttributesCount: uint32 }, [
  "timeUnixNano",
  "name",
]);
const span = message(
  {
    traceId: matches(/^(?!0{32})[0-9a-f]{32}$/),
    spanId,
    parentSpanId: spanId,
    traceState: text,
    flags: uint32,
    name: matches(/./),
    kind: oneOf(1, 2, 3, 4, 5),
    startTimeUnixNano: fixed64,
    endTimeUnixNano: fixed64,
    attributes,
    droppedAttributesCount: oneOf(0),
    events: list(event),
    droppedEventsCount: oneOf(0),
    links: list(message({})),
    droppedLinksCount: oneOf(0),
    status: message({ code: oneOf(0, 1, 2), message: text }),
  },
  ["traceId", "spanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano"],
);
const scope = message({ name: matches(/./), version: text, attributes, droppedAttributesCount: uint32 }, ["name"]);
const request = message(
  {
    resourceSpans: list(
      message(
        {
          resource: message({ attributes, droppedAttributesCount: uint32 }),
          scopeSpans: list(message({ scope, spans: list(span), schemaUrl: text }, ["scope", "spans"])),
          schemaUrl: text,
        },
        ["resource", "scopeSpans"],
      ),
    ),
  },
  ["resourceSpans"],
);

/** Throws where a parsed body is no `ExportTraceServiceRequest`. */
export const isTraceRequest = (body: unknown): void => request(body, "");
