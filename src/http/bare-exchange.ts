import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyBaseLogger, FastifyContextConfig, FastifyInstance } from "fastify";
import type { Trace } from "../streams/envelope.ts";
import type { Problem } from "../streams/problems.ts";
import { problemOfError } from "./problem-error.ts";
import { noteProblem } from "./route-problems.ts";
import { problemAnswer } from "./sent-answer.ts";
import { newTrace } from "./traceparent.ts";

type AnsweredCall = { readonly method: string; readonly route: string; readonly status: number; readonly ms: number };

/** What an app has for requests that are answered without Fastify. */
export type BareParts = {
  readonly server: Pick<FastifyInstance, "traceIds" | "onUnlisted" | "onProblem">;
  readonly log: FastifyBaseLogger;
  readonly safeHeaders: () => Readonly<Record<string, string>>;
  readonly addressOf: (request: IncomingMessage) => string;
  readonly onAnswered: ((call: AnsweredCall) => void) | null;
};

export type BareRoute = {
  readonly url: string;
  readonly params: Readonly<Record<string, string>>;
  readonly config: Readonly<FastifyContextConfig>;
};

const JSON_TYPE = "application/json; charset=utf-8";

/** A request and its answer on `node:http`. Answers have the headers that Fastify would send, in the same order. */
export class BareExchange {
  readonly request: IncomingMessage;
  readonly route: BareRoute;
  readonly trace: Trace;
  readonly ip: string;
  readonly #response: ServerResponse;
  readonly #parts: BareParts;
  #isBodyLeft = false;

  constructor(parts: BareParts, request: IncomingMessage, response: ServerResponse, route: BareRoute) {
    this.request = request;
    this.route = route;
    this.trace = newTrace(request, parts.server.traceIds);
    this.ip = parts.addressOf(request);
    this.#response = response;
    this.#parts = parts;
    const { onAnswered } = parts;
    if (onAnswered === null) return;
    const startedAt = performance.now();
    response.on("finish", () => {
      const ms = performance.now() - startedAt;
      onAnswered({ method: request.method ?? "", route: route.url, status: response.statusCode, ms });
    });
  }

  /** `position` is the text of the header `countersign-position`; null leaves it out. */
  answer(status: number, body: unknown, position: string | null): void {
    const headers: string[] = [];
    for (const [name, value] of Object.entries(this.#parts.safeHeaders())) headers.push(name, value);
    if (position !== null) headers.push("countersign-position", position);
    const text = body === undefined ? "" : JSON.stringify(body);
    if (body !== undefined) headers.push("content-type", JSON_TYPE);
    headers.push("content-length", String(Buffer.byteLength(text)));
    this.#response.writeHead(status, headers).end(text);
  }

  /** The connection closes after the answer, because the rest of the body is not read. */
  leaveBody(): void {
    this.#isBodyLeft = true;
  }

  problem(it: Problem): void {
    const { request, route, ip, trace } = this;
    const { server, safeHeaders } = this.#parts;
    const { status, headers, body } = problemAnswer(it, trace.trace_id);
    const text = String(body);
    const closing = this.#isBodyLeft ? { connection: "close" } : {};
    const length = { "content-length": String(Buffer.byteLength(text)) };
    const all = { ...safeHeaders(), ...closing, ...headers, ...length };
    const refused = { id: trace.trace_id, method: request.method ?? "", ip, headers: request.headers };
    const { params } = route;
    noteProblem({ ...refused, params, principal: null, raw: request, routeOptions: route, server }, it);
    this.#response.writeHead(status, Object.entries(all).flat()).end(text);
  }

  /** Answers an error that was thrown, and logs it where an operator has to know of it. */
  error(error: unknown): void {
    const it = problemOfError(error, { id: this.trace.trace_id, log: this.#parts.log });
    if (this.#response.headersSent) this.#response.destroy();
    else this.problem(it);
  }
}
