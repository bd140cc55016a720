import { hash } from "node:crypto";
import type { Span } from "../../domain/ports/span-exporter.ts";

const SPAN_ID_LENGTH = 16;

/**
 * The same span has the same id, whoever makes it and however often: a trace is made from the log again and again, and
 * a receiver is told the id of the attempt before anybody has seen its end.
 */
export const spanIdOf = (...names: readonly (string | number)[]): string =>
  hash("sha256", names.join("/")).slice(0, SPAN_ID_LENGTH);

/** The id that the receiver of an attempt is told in `traceparent`. */
export const attemptSpanId = (eventId: string, number: number): string => spanIdOf(eventId, "attempt", number);

/** What all spans of one decision, and of what came of it, lie below. */
export type Root = Pick<Span, "traceId" | "spanId" | "startMs">;

type Told = Pick<Span, "name" | "startMs" | "endMs" | "attributes"> & Partial<Span>;

/**
 * `name` tells the spans below one root apart: a sender that tries again in its own trace has several roots there. A clock
 * that was set back makes no span that ends before it starts, or starts before its root.
 */
export const childOf = ({ traceId, spanId, startMs }: Root, name: readonly (string | number)[], told: Told): Span => {
  const from = Math.max(startMs, told.startMs);
  return {
    ...{ kind: "internal", error: null, events: [], spanId: spanIdOf(spanId, ...name), parentId: spanId },
    ...told,
    ...{ traceId, startMs: from, endMs: Math.max(from, told.endMs) },
  };
};

/** A root ends with the last of what lies below it. */
export const withRoot = (root: Span, children: readonly Span[]): readonly Span[] => [
  { ...root, endMs: children.reduce((end, { endMs }) => Math.max(end, endMs), Math.max(root.startMs, root.endMs)) },
  ...children,
];
