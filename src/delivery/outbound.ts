import { iso } from "../../domain/calendar.ts";
import { defined } from "../../domain/defined.ts";
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
  readonly request?: Pick<Request, "origin" | "action" | "run" | "bundle">;
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
  "traceparent",
]);

const agentHeaders = (request: Outgoing["request"]): Record<string, string> => {
  if (request?.action === undefined || request.run === undefined) return {};
  const { origin, action, run, bundle } = request;
  return {
    "countersign-action": action.name,
    "countersign-agent": origin.id,
    ...defined({ "countersign-bundle": bundle?.id, "countersign-run": run.id ?? undefined }),
    "countersign-depth": String(run.depth + 1),
  };
};

export const outbound = (box: Pick<SecretBox, "open">, version: string): Outbound => {
  return {
    headers({ job, endpoint, number, contentType, contentEncoding, body, trace, nowMs, request }) {
      const { account } = job;
      const stream = `endpoint-${job.endpointId}`;
      const active = activeSecrets(endpoint, iso(nowMs));
      const secrets = active.map((sealed) => box.open(sealed, { account, stream, field: "secret" }));
      const own: Record<string, string> = {};
      for (const [name, { sealed }] of Object.entries(endpoint.settings.headers)) {
        own[name] = box.open(sealed, { account, stream, field: `headers.${name}` });
      }
      const headers = {
        ...own,
        ...defined({ "content-type": contentType || undefined }),
        // The body goes out in the bytes and codings in which it came.
        ...defined({ "content-encoding": contentEncoding || undefined }),
        "user-agent": `Countersign/${version}`,
        "webhook-id": job.eventId,
        "webhook-timestamp": String(Math.floor(nowMs / 1_000)),
        "countersign-attempt": String(number),
        ...agentHeaders(request),
        traceparent: `00-${trace.trace_id}-${attemptSpanId(job.eventId, number)}-01`,
      };
      return { ...headers, ...signedHeaders(secrets, headers, body, job.endpointId) };
    },
    shown: (headers) =>
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, OWN.has(name) ? value : "[redacted]"])),
  };
};
