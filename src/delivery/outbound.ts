import { iso } from "../../domain/calendar.ts";
import type { Request } from "../../domain/delivery/events.ts";
import { activeSecrets, type PresentEndpoint } from "../../domain/endpoint/decider.ts";
import type { SecretBox } from "../../infra/crypto/secret-box.ts";
import { signedHeaders } from "../../infra/http/standard-webhooks.ts";
import type { Trace } from "../streams/envelope.ts";
import { attemptSpanId } from "../traces/span.ts";
import type { JobKey } from "./job.ts";

type Outgoing = {
  readonly job: JobKey;
  readonly endpoint: PresentEndpoint;
  readonly number: number;
  readonly contentType: string;
  readonly contentEncoding: string;
  readonly body: Uint8Array;
  readonly trace: Trace;
  readonly nowMs: number;
  /** The request as the event's record has it; absent in a test of the endpoint. */
  readonly request?: Pick<Request, "origin" | "action" | "run" | "bundle" | "sample">;
};

export type Outbound = {
  headers(outgoing: Outgoing): Record<string, string>;
  shown(headers: Readonly<Record<string, string>>): Record<string, string>;
};

const OWN = new Set([
  "content-type",
  "content-encoding",
  "user-agent",
  "webhook-id",
  "webhook-timestamp",
  "content-digest",
  "signature-input",
  "countersign-attempt",
  "countersign-action",
  "countersign-agent",
  "countersign-bundle",
  "countersign-run",
  "countersign-depth",
  "countersign-sample",
  "traceparent",
]);

const addAgentHeaders = (headers: Record<string, string>, request: Outgoing["request"]): void => {
  if (request?.action === undefined || request.run === undefined) return;
  const { origin, action, run, bundle } = request;
  headers["countersign-action"] = action.name;
  headers["countersign-agent"] = origin.id;
  if (bundle !== undefined) headers["countersign-bundle"] = bundle.id;
  if (run.id !== null) headers["countersign-run"] = run.id;
  headers["countersign-depth"] = String(run.depth + 1);
};

export const outbound = (box: Pick<SecretBox, "open">, version: string): Outbound => {
  const userAgent = `Countersign/${version}`;
  return {
    headers({ job, endpoint, number, contentType, contentEncoding, body, trace, nowMs, request }) {
      const { account } = job;
      const stream = `endpoint-${job.endpointId}`;
      const active = activeSecrets(endpoint, iso(nowMs));
      const secrets = active.map((sealed) => box.open(sealed, { account, stream, field: "secret" }));
      // Every attempt makes these headers, so they are put into one object one by one, which is faster than spreading.
      const own: Record<string, string> = {};
      for (const [name, { sealed }] of Object.entries(endpoint.settings.headers)) {
        own[name] = box.open(sealed, { account, stream, field: `headers.${name}` });
      }
      if (contentType !== "") own["content-type"] = contentType;
      // The body goes out in the bytes and codings in which it came.
      if (contentEncoding !== "") own["content-encoding"] = contentEncoding;
      own["user-agent"] = userAgent;
      const ids = { "webhook-id": job.eventId, "webhook-timestamp": String(Math.floor(nowMs / 1_000)) };
      const headers: Record<string, string> & typeof ids = Object.assign(own, ids);
      headers["countersign-attempt"] = String(number);
      addAgentHeaders(headers, request);
      if (request?.sample !== undefined) headers["countersign-sample"] = "true";
      headers.traceparent = `00-${trace.trace_id}-${attemptSpanId(job.eventId, number)}-01`;
      return Object.assign(headers, signedHeaders(secrets, headers, body, job.endpointId));
    },
    shown(headers) {
      const shown: Record<string, string> = {};
      for (const name in headers) shown[name] = OWN.has(name) ? (headers[name] ?? "") : "[redacted]";
      return shown;
    },
  };
};
