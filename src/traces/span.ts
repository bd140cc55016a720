import { hash } from "node:crypto";

export type SpanKind = "internal" | "server" | "client";
export type AttributeValue = string | number | boolean;
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** Something that took time, as OpenTelemetry has it (trace/api.md, "Span"). Times are ms since 1970. */
export type Span = {
  /** 32 and 16 lower-case hex characters. */
  readonly traceId: string;
  readonly spanId: string;
  /** Null for the root of a trace that begins here. */
  readonly parentId: string | null;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  /** Why it is an error; null when it is none. */
  readonly error: string | null;
  readonly events: readonly SpanEvent[];
};

export type SpanEvent = { readonly name: string; readonly atMs: number; readonly attributes: Attributes };

const SPAN_ID_LENGTH = 16;

/**
 * The same span has the same id, whoever makes it and however often: a trace is made from the log again and again, and
 * a receiver is told the id of the attempt before anybody has seen its end.
 */
export const spanIdOf = (...names: readonly (string | number)[]): string =>
  hash("sha256", names.join("/")).slice(0, SPAN_ID_LENGTH);
