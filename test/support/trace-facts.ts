import * as assert from "uvu/assert";
import type { Metadata, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Span } from "../../domain/ports/span-exporter.ts";
import { type Fact, history } from "./history.ts";

type AnyFact = Parameters<ReturnType<typeof history>["add"]>[1];

export const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
export const ROOT_ID = "00f067aa0ba902b7";
export const CALLER_ID = "1111111111111111";

/** Where a decision stands: in a caller's trace, unless told otherwise. */
export const IN_TRACE = { trace_id: TRACE_ID, span_id: ROOT_ID, parent_span_id: CALLER_ID } as const;

type Traced = readonly [AnyFact, Partial<Metadata>];

/** The records of one stream, as a log has them; a fact alone stands in the trace of the caller. */
export const tracedRecords = (stream: string, ...facts: readonly (AnyFact | Traced)[]): readonly RecordedEvent[] => {
  const log = history();
  return facts.map((it) => {
    const [fact, meta]: Traced = "type" in it ? [it, IN_TRACE] : it;
    const recorded = log.add(stream, fact as Fact);
    return { ...recorded, meta: { ...recorded.meta, ...meta } };
  });
};

export const spanNamed = (spans: readonly Span[], name: string): Span => {
  const found = spans.filter((span) => span.name === name);
  assert.is(found.length, 1, `one span ${name} among ${spans.map((span) => span.name).join(", ")}`);
  return found[0] as Span;
};

const keyOf = ({ traceId }: Pick<Span, "traceId">, spanId: string): string => `${traceId}/${spanId}`;

/**
 * Every span has its parent there, but for `roots` of them; none has the id of another; ids are as W3C Trace Context
 * wants them; each lies within its parent, or behind it as a replay does, and none ends before it starts.
 */
export const isWellFormed = (spans: readonly Span[], roots: number): void => {
  const byKey = new Map(spans.map((span) => [keyOf(span, span.spanId), span]));
  assert.is(byKey.size, spans.length, "no two spans have one id");
  let top = 0;
  for (const span of spans) {
    assert.match(span.traceId, /^(?!0{32})[0-9a-f]{32}$/);
    assert.match(span.spanId, /^(?!0{16})[0-9a-f]{16}$/);
    assert.ok(Number.isSafeInteger(span.startMs) && span.endMs >= span.startMs, `the times of ${span.name}`);
    const parent = span.parentId === null ? undefined : byKey.get(keyOf(span, span.parentId));
    if (parent === undefined) top += 1;
    else if (span.name === "replay") assert.ok(span.startMs >= parent.endMs, "a replay behind what had ended");
    else assert.ok(span.startMs >= parent.startMs && span.endMs <= parent.endMs, `${span.name} in ${parent.name}`);
  }
  assert.is(top, roots, "one root a decision");
};
