import { ConnectionFailure, type FailureKind, type FailureReason } from "./connection.ts";

/** What the client and gRPC throw, as failures of ours. */

/** https://grpc.io/docs/guides/status-codes/ */
const CODE = { permissionDenied: 7, unimplemented: 12, unauthenticated: 16 } as const;

/** Of grpc-js and the client, for calls that never left this machine. */
const UNSENT = /^No connection established|^Name resolution failed|^Channel closed before call started|discover after/;
const TLS = /\bSSL|\bTLS|certificate|self.signed|wrong version number|Protocol error|ERR_HTTP2_ERROR/i;

type Judgement = readonly [FailureKind, FailureReason];

/** The server names its exceptions in a trailer; the client makes them the `type` of its errors. */
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
  // How a server says that no record begins at the position it was asked to read from.
  if (/Unexpected ReadAllResult/.test(details)) return ["refused", "position"];
  if (!UNSENT.test(details)) return ["unknown", "other"];
  if (/^Name resolution failed|ENOTFOUND|EAI_AGAIN/.test(details)) return ["unsent", "not-found"];
  return ["unsent", TLS.test(details) ? "tls" : "not-reached"];
};

// The client's errors are classes of its own, gRPC's are an Error with more members: only these tell what they are.
type Told = { readonly message?: unknown; readonly code?: unknown; readonly type?: unknown; readonly metadata?: Trailers };
type Trailers = { readonly get?: (name: string) => readonly unknown[] };

/** Names and passwords may stand in front of an address. */
const withoutCredentials = (text: string): string => text.replace(/\/\/[^@/\s]*@/g, "//");

export const failureOf = (error: unknown): ConnectionFailure => {
  if (error instanceof ConnectionFailure) return error;
  if (!(error instanceof Error)) return new ConnectionFailure("unknown", "other", String(error));
  const { message, code, type, metadata }: Told = error;
  // gRPC puts the status in front of what it was told.
  const details = String(message).replace(/^\d+ [A-Z_]+: /, "");
  const name = String(type ?? metadata?.get?.("exception")[0] ?? "");
  const [kind, reason] = judge(name, Number(code), details);
  return new ConnectionFailure(kind, reason, withoutCredentials(details === "" ? name : details));
};

export const isStreamNotFound = (error: unknown): boolean =>
  error instanceof Error && "type" in error && error.type === "stream-not-found";
