type SpanKind = "internal" | "server" | "client";
export type SpanAttribute = string | number | boolean;
export type SpanAttributes = Readonly<Record<string, SpanAttribute>>;

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
  readonly attributes: SpanAttributes;
  /** Why it is an error; null when it is none. */
  readonly error: string | null;
  readonly events: readonly SpanEvent[];
};

export type SpanEvent = { readonly name: string; readonly atMs: number; readonly attributes: SpanAttributes };

/** Where finished spans go. */
export type SpanExporter = {
  /**
   * Resolves when the collector has them. Rejects when it cannot be reached or asks to be spared for a moment: the same
   * spans may be sent again, and are the same by their ids. What it will never take is dropped and reported.
   */
  export(spans: readonly Span[]): Promise<void>;
  close(): Promise<void>;
};
