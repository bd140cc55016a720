import type { Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { ConnectionError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Problem, type ProblemCode, problem } from "../streams/problems.ts";
import { HEADERS_MAX } from "./limits.ts";
import { sendProblem } from "./problem-reply.ts";
import { problemAnswer } from "./sent-answer.ts";
import type { TraceIds } from "./traceparent.ts";

const PARSER_CODES: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  HPE_HEADER_OVERFLOW: ["headers-too-large", "The request line and headers are too large."],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ["too-large", "The chunk extensions are too large."],
  ERR_HTTP_REQUEST_TIMEOUT: ["request-timeout", "The request took too long to arrive."],
};

const parserProblem = (code: string | undefined): Problem => {
  const [problemCode, detail] = PARSER_CODES[code ?? ""] ?? [
    "invalid-request",
    "This is not a valid HTTP/1.1 request.",
  ];
  return problem(problemCode, detail);
};

const REASON_PHRASES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  405: "Method Not Allowed",
  408: "Request Timeout",
  413: "Content Too Large",
  431: "Request Header Fields Too Large",
};

export type RawAnswers = { readonly ids: TraceIds; readonly headers: () => Readonly<Record<string, string>> };

/** What still arrives after the answer is read and dropped for this long (ms) and up to so many bytes. */
const LINGER_MS = 1_000;
const LINGER_BYTES_MAX = 1_048_576;

/**
 * Closes a connection when its answer has been sent and the client has closed its side, or after a limit. A socket that
 * is closed with unread bytes sends a reset, which may reach the client before the answer (RFC 9112, section 9.6).
 */
const closeLingering = (socket: Duplex): void => {
  let left = LINGER_BYTES_MAX;
  // After a long turn of the event loop, timers run before sockets are read, and `setImmediate` runs after it.
  const limit = setTimeout(() => setImmediate(() => socket.destroy()), LINGER_MS);
  limit.unref();
  // Node's own listener would parse the bytes and end the connection at the first error.
  socket.removeAllListeners("data");
  socket.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) socket.destroy();
  });
  socket.once("close", () => clearTimeout(limit));
  socket.resume();
};

/** Answers and closes the connection, because after a malformed message nothing that follows on it can be trusted. */
const writeRaw = (socket: Duplex, it: Problem, { ids, headers: every }: RawAnswers): void => {
  const { status, headers, body } = problemAnswer(it, ids.traceId());
  const text = String(body);
  const lines = [
    `HTTP/1.1 ${status} ${REASON_PHRASES[status] ?? "Error"}`,
    ...Object.entries({ ...every(), ...headers }).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(text)}`,
    "connection: close",
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n${text}`);
  closeLingering(socket);
};

/** `_httpMessage` is the answer that Node is writing on the socket; other bytes would end up inside of it. */
type AnsweringSocket = Duplex & { readonly _httpMessage?: { readonly headersSent: boolean } | null };

export const clientErrorHandler =
  (answers: RawAnswers) =>
  (error: ConnectionError, socket: AnsweringSocket): void => {
    const answering = socket._httpMessage?.headersSent === true;
    if (error.code === "ECONNRESET" || !socket.writable || answering) socket.destroy();
    else writeRaw(socket, parserProblem(error.code), answers);
  };

/** Without these two listeners, Node closes a CONNECT unanswered and answers an unknown Expect with an empty body. */
export const answerConnectAndExpect = (server: Server, answers: RawAnswers): void => {
  server.on("connect", (_request, socket) =>
    writeRaw(socket, problem("method-not-allowed", "This is not a proxy."), answers),
  );
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
};

/** Sends 100 Continue when the body is about to be read (RFC 9110, section 10.1.1); Node would before any refusal. */
export const continueWhenRead = (app: FastifyInstance): void => {
  const waiting = new WeakSet<ServerResponse>();
  app.server.on("checkContinue", (request, response) => {
    waiting.add(response);
    app.server.emit("request", request, response);
  });
  app.addHook("preParsing", ({ raw: { headers }, routeOptions }, { raw }, payload, done) => {
    const isTooLarge = Number(headers["content-length"] ?? 0) > routeOptions.bodyLimit;
    if (waiting.delete(raw) && !isTooLarge) raw.writeContinue();
    done(null, payload);
  });
};

/** Finds all values of a header in the raw headers, because Node joins or drops those of repeated headers. */
export const headerValues = (rawHeaders: readonly string[], name: string): string[] => {
  const values: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const found = rawHeaders[at] ?? "";
    if (found.length === name.length && found.toLowerCase() === name) values.push(rawHeaders[at + 1] ?? "");
  }
  return values;
};

export const refuseAmbiguous = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
  const { rawHeaders, httpVersionMinor, headers } = request.raw;
  if (rawHeaders.length > 2 * HEADERS_MAX) {
    sendProblem(request, reply, problem("headers-too-large", `There are more than ${HEADERS_MAX} headers.`));
    return;
  }
  const hosts = headerValues(rawHeaders, "host").length;
  // An HTTP/1.1 request has exactly one Host header, one of HTTP/1.0 may have none (RFC 9112, section 3.2).
  if (hosts > 1 || (hosts === 0 && httpVersionMinor > 0)) {
    sendProblem(request, reply, problem("invalid-request", "A request has exactly one Host header."));
    return;
  }
  // With any other transfer coding than chunked, the end of the body is unknown (RFC 9112, section 6.1).
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked") {
    sendProblem(request, reply, problem("invalid-request", "The only supported Transfer-Encoding is chunked."));
    return;
  }
  done();
};
