import { ConnectionFailure, type FailureKind, type FailureReason } from "./connection.ts";

const CODE = { permissionDenied: 7, unimplemented: 12, unauthenticated: 16 } as const;

const UNSENT = /^No connection established|^Name resolution failed|^Channel closed before call started|discover after/;
const TLS = /\bSSL|\bTLS|certificate/i;
const PROTOCOL = /Protocol error/;
const HUNG_UP = /Last error: Failed to connect|ECONNRESET/;

type Judgement = readonly [FailureKind, FailureReason];

/** What the server's named exceptions mean. The client makes the name, from a trailer, the `type` of its error. */
const BY_NAME: Readonly<Record<string, Judgement>> = {
  "access-denied": ["refused", "access"],
  "stream-deleted": ["refused", "deleted"],
  unsupported: ["refused", "too-old"],
};

const judge = (name: string, code: number, details: string): Judgement => {
  const named = BY_NAME[name];
  if (named !== undefined) return named;
  if (code === CODE.permissionDenied || code === CODE.unauthenticated) return ["refused", "access"];
  if (code === CODE.unimplemented) return ["refused", "not-eventstoredb"];
  if (/Unexpected ReadAllResult/.test(details)) return ["refused", "position"];
  if (!UNSENT.test(details)) return ["unknown", "other"];
  if (/^Name resolution failed|ENOTFOUND|EAI_AGAIN/.test(details)) return ["unsent", "not-found"];
  if (TLS.test(details)) return ["unsent", "tls"];
  if (PROTOCOL.test(details)) return ["unsent", "not-eventstoredb"];
  return ["unsent", HUNG_UP.test(details) ? "hung-up" : "not-reached"];
};

type ClientError = {
  readonly message?: unknown;
  readonly code?: unknown;
  readonly type?: unknown;
  readonly metadata?: Trailers;
};
type Trailers = { readonly get?: (name: string) => readonly unknown[] };

/** Removes gRPC's status from the message, and user names and passwords in front of an address. */
const tidy = (message: string): string =>
  message
    .replace(/^\d+ [A-Z_]+: /, "")
    .replace(/\s+/g, " ")
    .replace(/\. Resolution note: $/, "")
    .replace(/\/\/\S*@/g, "//")
    .replace(/[^\s:/]*@/g, "");

export const failureOf = (error: unknown): ConnectionFailure => {
  if (error instanceof ConnectionFailure) return error;
  if (!(error instanceof Error)) return new ConnectionFailure("unknown", "other", String(error));
  const { message, code, type, metadata }: ClientError = error;
  const details = tidy(String(message));
  const name = String(type ?? metadata?.get?.("exception")[0] ?? "");
  const [kind, reason] = judge(name, Number(code), details);
  return new ConnectionFailure(kind, reason, details === "" ? name : details);
};
