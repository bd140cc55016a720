import { hash } from "node:crypto";
import type { Span } from "../../domain/ports/span-exporter.ts";

const SPAN_ID_LENGTH = 16;

/** Ids derive from names, so that a span has the same id in every export, even while its attempt is running. */
export const spanIdOf = (...names: readonly (string | number)[]): string =>
  hash("sha256", names.join("/")).slice(0, SPAN_ID_LENGTH);

/** The receiver of an attempt gets this id in the header `traceparent`, as the parent of its own spans. */
export const attemptSpanId = (eventId: string, number: number): string => spanIdOf(eventId, "attempt", number);

export type Root = Pick<Span, "traceId" | "spanId" | "startMs">;

type ChildSpan = Pick<Span, "name" | "startMs" | "endMs" | "attributes"> & Partial<Span>;

/** Even if a clock was set back, a span starts no earlier than its root and ends no earlier than it starts. */
export const childOf = (
  { traceId, spanId, startMs }: Root,
  name: readonly (string | number)[],
  span: ChildSpan,
): Span => {
  const from = Math.max(startMs, span.startMs);
  return {
    ...{ kind: "internal", error: null, events: [], spanId: spanIdOf(spanId, ...name), parentId: spanId },
    ...span,
    ...{ traceId, startMs: from, endMs: Math.max(from, span.endMs) },
  };
};

export const withRoot = (root: Span, children: readonly Span[]): readonly Span[] => [
  { ...root, endMs: children.reduce((end, { endMs }) => Math.max(end, endMs), Math.max(root.startMs, root.endMs)) },
  ...children,
];
