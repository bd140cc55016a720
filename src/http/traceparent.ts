import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import type { Randomness } from "../../domain/ports/randomness.ts";
import type { Trace } from "../streams/envelope.ts";

/** Matches version, trace id, parent id and flags in lower-case hex (W3C Trace Context level 1, section 3.2). */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const ZEROS = /^0+$/;
const TRACEPARENT_LENGTH_MAX = 256;

export type RemoteParent = { readonly traceId: string; readonly spanId: string };

export const remoteParent = (traceparent: string | undefined): RemoteParent | null => {
  if (traceparent === undefined || traceparent.length > TRACEPARENT_LENGTH_MAX) return null;
  const [, version, traceId = "", parentId = "", rest] = TRACEPARENT.exec(traceparent) ?? [];
  if (version === undefined || version === "ff") return null;
  // Version 00 has exactly four fields; a later version may have more (section 3.2.4).
  if (version === "00" && rest !== undefined) return null;
  return ZEROS.test(traceId) || ZEROS.test(parentId) ? null : { traceId, spanId: parentId };
};

const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;
/** So many random bytes are drawn at once, because a draw takes 3 µs and each webhook needs two ids. */
const POOL_BYTES = 4096;

export type TraceIds = { readonly traceId: () => string; readonly spanId: () => string };

export const traceIds = (randomness: Randomness): TraceIds => {
  let pool = Buffer.alloc(0);
  let used = 0;
  const next = (size: number): string => {
    if (used + size > pool.length) {
      pool = Buffer.from(randomness.bytes(POOL_BYTES));
      used = 0;
    }
    used += size;
    return pool.toString("hex", used - size, used);
  };
  return { traceId: () => next(TRACE_ID_BYTES), spanId: () => next(SPAN_ID_BYTES) };
};

declare module "fastify" {
  interface FastifyInstance {
    readonly traceIds: TraceIds;
  }
}

type TracedRequest = Pick<FastifyRequest, "id" | "headers"> & { readonly server: { readonly traceIds: TraceIds } };

const traceFrom = (caller: RemoteParent | null, traceId: string, { spanId }: TraceIds): Trace => {
  const own = { trace_id: traceId, span_id: spanId() };
  return caller === null ? own : { ...own, parent_span_id: caller.spanId };
};

const callerOf = ({ traceparent }: IncomingHttpHeaders): RemoteParent | null =>
  typeof traceparent === "string" ? remoteParent(traceparent) : null;

/** The id of a request is its trace id. A client chooses it only with a valid `traceparent`. */
export const requestId = ({ headers }: Pick<IncomingMessage, "headers">, ids: TraceIds): string =>
  callerOf(headers)?.traceId ?? ids.traceId();

export const traceOf = ({ id, headers, server }: TracedRequest): Trace =>
  traceFrom(callerOf(headers), id, server.traceIds);

/** Continues the caller's trace, or begins one. */
export const newTrace = ({ headers }: Pick<IncomingMessage, "headers">, ids: TraceIds): Trace => {
  const caller = callerOf(headers);
  return traceFrom(caller, caller?.traceId ?? ids.traceId(), ids);
};
