import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { callRates } from "./rates.ts";
import { type Answer, says, TEXT, type Witness } from "./witness.ts";

/** 63 hashes and a checkpoint with dozens of signatures, among them large post-quantum ones, are a third of this. */
const BODY_BYTES_MAX = 65_536;
/** A log asks every few seconds; this leaves room for thousands of accounts' trees behind one address. */
const CALLS_BURST = 200;
const CALLS_PER_SECOND = 20;
const CONNECTIONS_MAX = 1_000;
/** Milliseconds for a whole request, and for its head. */
const REQUEST_MS_MAX = 10_000;
const RETRY_AFTER_S = 1;
const CHECKPOINT = /^\/([0-9a-f]{64})\/checkpoint$/;

/** Null if the body is longer than a witness takes. */
const bodyOf = async (request: IncomingMessage): Promise<Uint8Array | null> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const send = (response: ServerResponse, { status, type, body }: Answer): void => {
  if (status === 429) response.setHeader("retry-after", RETRY_AFTER_S);
  // What is left of a body that was too long would be read as the next request.
  if (status === 413) response.setHeader("connection", "close");
  response.writeHead(status, {
    "content-type": type,
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
  });
  response.end(body);
};

export type WitnessServerOptions = {
  readonly witness: Witness;
  readonly onError: (error: unknown) => void;
};

/** The HTTP interface of C2SP tlog-witness; submission and monitoring prefix are the server's address. */
export const witnessServer = ({ witness, onError }: WitnessServerOptions): Server => {
  const mayCall = callRates(CALLS_BURST, CALLS_PER_SECOND, () => performance.now());

  const answerTo = async (request: IncomingMessage): Promise<Answer> => {
    const { method, url = "/" } = request;
    if (!mayCall(request.socket.remoteAddress ?? "")) return says(429, "Too many calls from this address.");
    if (url === "/add-checkpoint") {
      if (method !== "POST") return says(405, "add-checkpoint takes a POST.");
      const body = await bodyOf(request);
      return body === null ? says(413, `A body has at most ${BODY_BYTES_MAX} bytes.`) : witness.add(body);
    }
    const [, hash] = CHECKPOINT.exec(url) ?? [];
    const note = hash === undefined || method !== "GET" ? null : witness.newest(hash);
    return note === null ? says(404, "There is nothing here.") : { status: 200, type: TEXT, body: note };
  };

  const server = createServer(
    { requestTimeout: REQUEST_MS_MAX, headersTimeout: REQUEST_MS_MAX },
    (request, response) => {
      answerTo(request)
        .catch((error: unknown) => {
          // A request that its client cut off is no error of the witness.
          if (!request.destroyed || request.complete) onError(error);
          return says(500, "The witness failed and has cosigned nothing.");
        })
        .then((answer) => send(response, answer))
        .catch(onError);
    },
  );
  server.maxConnections = CONNECTIONS_MAX;
  return server;
};
