import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { readBody } from "../../http/counted-body.ts";
import { object, text } from "../../http/json-schema.ts";
import { named } from "../../http/named-schemas.ts";
import { BODY_SHOWN, operationId } from "../../http/openapi.ts";
import { PROBLEMS_LISTED } from "../../http/openapi-document.ts";
import type { PositionText } from "../../http/position-text.ts";
import { sendProblem } from "../../http/problem-reply.ts";
import { isProblem, type JsonSchema } from "../../http/route.ts";
import { GATE_PROBLEMS, listedProblems } from "../../http/route-problems.ts";
import { traceOf } from "../../http/traceparent.ts";
import { PAYLOAD_BYTES_MAX } from "../../streams/payloads.ts";
import { bareIngest } from "./bare-ingest.ts";
import { type IntakeDeps, overloaded, type Share, type WebhookAddress, WebhookIntake } from "./webhook-intake.ts";

export type IngestDeps = IntakeDeps & { readonly positions: Pick<PositionText, "of"> };

const PROBLEMS = listedProblems(
  "not-found",
  "source-paused",
  "invalid-signature",
  "delivery-id-reused",
  "too-large",
  "request-timeout",
  "overloaded",
  ...GATE_PROBLEMS,
);

const PATH = "/v1/webhooks/{provider}/{source_id}";

const STATUSES = ["queued", "recorded", "held"];

const TAKEN: JsonSchema = named("TakenWebhook", {
  ...object({ event_id: text, status: { type: "string", enum: STATUSES } }),
  properties: {
    event_id: text,
    status: { type: "string", enum: STATUSES, description: "recorded: the source has no endpoint to deliver to" },
    approval_id: { type: "string", description: "If it is held for approval" },
  },
  examples: [{ event_id: "evt_01j9z3k4m5n6p7q8r9s0t1v2w3", status: "queued" }],
});

const DUPLICATE: JsonSchema = named("DuplicateWebhook", {
  type: "object",
  description: "What became of the first one. A provider's check of the address is answered as that provider expects.",
  properties: { event_id: text, status: text, duplicate: { type: "boolean", enum: [true] }, challenge: text },
  examples: [{ event_id: "evt_01j9z3k4m5n6p7q8r9s0t1v2w3", status: "delivered", duplicate: true }],
});

const BODY = {
  "application/json": {
    schema: named("Webhook", {
      type: "object",
      description: "What the provider sends; any content type is taken",
      examples: [{ id: "evt_1", type: "payment_intent.succeeded", data: { object: { id: "pi_1", amount: 2499 } } }],
    }),
  },
  "application/octet-stream": { schema: { type: "string", format: "binary" } },
};

/** The description for OpenAPI, without a schema of the parameters, by which Fastify would check each webhook. */
const SCHEMA = {
  operationId: operationId("POST", PATH),
  summary: "Take a webhook of any content type; the source's secret is the credential",
  tags: ["sources"],
  description:
    "The credential is the signature, or the token, that the provider of the source's type sends. A repeat of a delivery is " +
    "answered 200 with `duplicate`, so a sender may repeat each request until the answer is a success.",
  security: [],
  headers: {
    type: "object",
    properties: { traceparent: { type: "string", description: "W3C Trace Context: the event's trace continues it" } },
  },
  [BODY_SHOWN]: { content: BODY },
  response: {
    200: {
      description: "A duplicate, or a provider's check of this address",
      content: { "application/json": { schema: DUPLICATE } },
    },
    202: {
      description: "Recorded, queued, or held for approval",
      content: { "application/json": { schema: TAKEN } },
    },
  },
  [PROBLEMS_LISTED]: [...PROBLEMS],
};

const ROUTE = { url: "/v1/webhooks/:provider/:source_id", config: { problems: PROBLEMS, call: `POST ${PATH}` } };

// The route's path has both of these parameters.
const addressOf = ({ params }: FastifyRequest) => params as WebhookAddress;

/** Takes the webhooks that `BareIngest` leaves to Fastify, such as large ones and those without a length. */
class Ingest {
  readonly #intake: WebhookIntake;
  readonly #positions: IngestDeps["positions"];
  readonly #shares = new WeakMap<FastifyRequest, Share>();

  constructor(intake: WebhookIntake, positions: IngestDeps["positions"]) {
    this.#intake = intake;
    this.#positions = positions;
  }

  register(app: FastifyInstance): void {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (request, raw, done) => this.#readBody(request, raw, done));
    app.addHook("onRequest", (request, reply) => this.#begin(request, reply));
    // If the client disconnects, Fastify calls no onResponse hook, so the share is given back by these two hooks.
    app.addHook("onSend", (request, _reply, _payload, done) => {
      this.#leave(request);
      done();
    });
    app.addHook("onRequestAbort", async (request) => this.#leave(request));
    const { url, config } = ROUTE;
    app.post(url, { bodyLimit: PAYLOAD_BYTES_MAX, schema: SCHEMA, config }, (request, reply) =>
      this.#handle(request, reply),
    );
  }

  async #begin(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    if (this.#intake.hasRoom()) {
      const address = addressOf(request);
      const source = await this.#intake.sourceOf(address);
      if ("problem" in source) return sendProblem(request, reply, source);
      // A client that has disconnected meanwhile must not get a share, because nothing would give it back.
      if (!request.raw.destroyed) {
        const share = this.#intake.begin(address.source_id, source.account, request.ip);
        this.#shares.set(request, share);
        const tooLate = await this.#intake.announce(share, Number(request.headers["content-length"] ?? 0));
        if (tooLate !== null) return sendProblem(request, reply, tooLate);
      }
    }
    // Fastify would answer 415 to an invalid content type such as `json`. Which ones are accepted is the source's rule.
    if (request.mediaType === undefined) request.headers = { "content-type": undefined };
    return undefined;
  }

  #readBody(request: FastifyRequest, raw: IncomingMessage, done: Parameters<typeof readBody>[2]): void {
    const share = this.#shares.get(request);
    const forget = readBody(raw, this.#intake.bodyLimits(share), done);
    if (share !== undefined) share.forget = forget;
  }

  async #handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    // Undefined if there was no room, or if the client has disconnected, because its share was then given back.
    const share = this.#shares.get(request);
    if (share === undefined) return sendProblem(request, reply, overloaded);
    const { provider, source_id: sourceId } = addressOf(request);
    const { headers, rawHeaders } = request.raw;
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const webhook = { provider, sourceId, headers, rawHeaders, body, ip: request.ip, trace: traceOf(request) };
    const answer = await this.#intake.decide(share, webhook, () => !this.#shares.has(request));
    if (isProblem(answer)) return sendProblem(request, reply, answer);
    const { status, body: content, position } = answer;
    if (position !== undefined) reply.header("countersign-position", this.#positions.of(position));
    return reply.code(status).send(content);
  }

  #leave(request: FastifyRequest): void {
    this.#shares.get(request)?.body.leave();
    this.#shares.delete(request);
  }
}

/** `POST /v1/webhooks/{provider}/{source_id}` is in no route table, as it takes any content type and must be fast. */
export const ingest =
  (deps: IngestDeps) =>
  async (app: FastifyInstance): Promise<void> => {
    const intake = new WebhookIntake(deps);
    app.bare.add(bareIngest(intake, { parts: app.bare.parts, positions: deps.positions, route: ROUTE }));
    new Ingest(intake, deps.positions).register(app);
  };
