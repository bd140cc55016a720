type SpanKind = "internal" | "server" | "client";
export type SpanAttribute = string | number | boolean;
export type SpanAttributes = Readonly<Record<string, SpanAttribute>>;

/** A span of OpenTelemetry (trace/api.md, "Span"). Times are ms since 1970. */
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
  readonly attributes: SpanAttributes;
  /** Null unless the span is an error. */
  readonly error: string | null;
  readonly events: readonly SpanEvent[];
};

export type SpanEvent = { readonly name: string; readonly atMs: number; readonly attributes: SpanAttributes };

export type SpanExporter = {
  /**
   * Rejects if the collector cannot be reached or asks to wait: the same spans may be exported again. Spans that the
   * collector rejects are dropped and reported.
   */
  export(spans: readonly Span[]): Promise<void>;
  close(): Promise<void>;
};
