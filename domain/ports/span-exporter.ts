type SpanKind = "internal" | "server" | "client";
export type SpanAttribute = string | number | boolean;
export type SpanAttributes = Readonly<Record<string, SpanAttribute>>;

/** OpenTelemetry trace/api.md, "Span". Times are ms since 1970. */
export type Span = {
  readonly traceId: string;
  readonly spanId: string;
  /** Null for the root of a trace that begins here. */
  readonly parentId: string | null;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  readonly error: string | null;
  readonly events: readonly SpanEvent[];
};

export type SpanEvent = { readonly name: string; readonly atMs: number; readonly attributes: SpanAttributes };

export type SpanExporter = {
  /** Rejects if the collector cannot be reached or asks to wait. Spans that the collector refuses are dropped. */
  export(spans: readonly Span[]): Promise<void>;
  close(): Promise<void>;
};
