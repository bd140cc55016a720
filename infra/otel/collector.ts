import type { Agent } from "node:http";
import { OTLPExporterError } from "@opentelemetry/otlp-exporter-base";
import { convertLegacyHttpOptions, createOtlpHttpExportDelegate } from "@opentelemetry/otlp-exporter-base/node-http";
import { JsonTraceSerializer, TraceExporterMetricsHelper } from "@opentelemetry/otlp-transformer";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { withTimeout } from "../with-timeout.ts";

export type CollectorOptions = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMillis: number;
};

type RefusedSpans = { readonly count: number; readonly error: Error | null };

export type Collector = {
  send(spans: ReadableSpan[]): Promise<RefusedSpans>;
  close(): void;
};

/** Only after these statuses may spans be sent again (OTLP specification, "Retryable response codes"). */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** The exporter limits silence alone, so an answer that drips is given up after this many times its limit. */
const LATE_FACTOR = 2;
const WORDS_MAX = 300;

const NOTHING: RefusedSpans = { count: 0, error: null };

const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;

/** The answer is an `ExportTraceServiceResponse` in JSON, whose 64-bit integers may be strings or numbers. */
const partlyRefused = (answer: unknown, sent: number): RefusedSpans => {
  const partial = member(answer, "partialSuccess");
  const rejected = Number(member(partial, "rejectedSpans") ?? 0);
  if (!(rejected > 0)) return NOTHING;
  const says = String(member(partial, "errorMessage") ?? "").slice(0, WORDS_MAX);
  return { count: Math.min(Math.floor(rejected), sent), error: new Error(`The collector took a part: ${says}`) };
};

/** Null if the spans may be sent again. The answer's body is left out of the message, because it may have any size. */
const whollyRefused = (error: Error): Error | null => {
  if (!(error instanceof OTLPExporterError) || error.code === undefined || RETRYABLE.has(error.code)) return null;
  return Object.assign(new Error(`The collector answered ${error.code} ${error.message}`), { code: error.code });
};

/** OpenTelemetry's exporter sends OTLP/JSON over HTTP; this also tells how many spans the collector refused. */
export const otlpCollector = ({ url, headers, timeoutMillis }: CollectorOptions): Collector => {
  let answer: unknown = null;
  let agent: Agent | null = null;
  const options = convertLegacyHttpOptions({ url, headers: { ...headers }, timeoutMillis }, "TRACES", "v1/traces", {
    "Content-Type": "application/json",
  });
  const agentFactory = async (protocol: string): Promise<Agent> => {
    agent = await options.agentFactory(protocol);
    return agent;
  };
  const exporter = createOtlpHttpExportDelegate(
    { ...options, agentFactory },
    {
      serializeRequest: JsonTraceSerializer.serializeRequest,
      deserializeResponse(bytes) {
        answer = JsonTraceSerializer.deserializeResponse(bytes);
        return answer ?? {};
      },
    },
    "otlp_http_span_exporter",
    TraceExporterMetricsHelper,
    undefined,
  );
  const answered = (spans: ReadableSpan[]): Promise<RefusedSpans> =>
    new Promise((resolve, reject) => {
      exporter.export(spans, ({ error }) => {
        // The answer is read in this turn of the event loop, because the answer of another request comes in another
        // turn.
        const body = answer;
        answer = null;
        if (error === undefined) return resolve(partlyRefused(body, spans.length));
        const final = whollyRefused(error);
        return final === null ? reject(error) : resolve({ count: spans.length, error: final });
      });
    });
  return {
    async send(spans) {
      let isOver = false;
      const over = (): void => {
        isOver = true;
      };
      try {
        return await withTimeout(LATE_FACTOR * timeoutMillis, `${url} does not answer`, answered(spans).finally(over));
      } finally {
        // An answer that never ends would keep its place among the exporter's few requests, until no place is left.
        if (!isOver) agent?.destroy();
      }
    },
    close: () => void exporter.shutdown().catch(() => undefined),
  };
};
