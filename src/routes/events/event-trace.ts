import type { EventLog } from "../../../domain/ports/event-log.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import type { EventDocument } from "../../../projections/event-document.ts";
import { events } from "../../../projections/events.ts";
import { named } from "../../http/named-schemas.ts";
import { type JsonSchema, READERS, type Route, route } from "../../http/route.ts";
import { notFound } from "../../streams/problems.ts";
import { otlpJson } from "../../traces/otlp.ts";
import { spansOfEvent, traceOfBundle } from "../../traces/recorded-spans.ts";
import { documentIn } from "../../views/typed-documents.ts";

export type EventTraceDeps = {
  readonly views: Pick<ViewStore, "get">;
  readonly log: Pick<EventLog, "read">;
  readonly version: string;
  readonly serviceName: string;
};

const VIEW = events.schema.name;

const TRACE: JsonSchema = named("Trace", {
  type: "object",
  required: ["resourceSpans"],
  properties: { resourceSpans: { type: "array", items: { type: "object" } } },
  description: "An OTLP/JSON ExportTraceServiceRequest: a collector takes it at /v1/traces",
});

export const eventTraceRoutes = ({ views, log, version, serviceName }: EventTraceDeps): readonly Route[] => [
  route({
    method: "GET",
    path: "/v1/events/{id}/trace",
    who: READERS,
    summary: "The event's trace as OTLP/JSON, built from the log; for a bundle's step, the trace of the whole bundle",
    tag: "events",
    answers: { 200: TRACE },
    reads: [VIEW],
    async handle({ principal, params: { id } }) {
      const document = await documentIn<EventDocument>(views, events, id);
      if (document === null || document.account !== principal.account) return notFound();
      const { bundle } = document;
      const spans = await (bundle === undefined ? spansOfEvent(log, id) : traceOfBundle(log, bundle.id));
      const resource = { "service.name": serviceName, "service.version": version };
      return { status: 200, body: otlpJson(resource, { name: "countersign", version }, spans) };
    },
  }),
];
