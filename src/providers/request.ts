import type { IncomingHttpHeaders } from "node:http";
import type { JsonObject } from "../../domain/json.ts";
import type { HmacAuth, SignatureFailureReason } from "../../domain/source/events.ts";

export type WebhookRequest = {
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as Node gives them. Unlike `headers`, the list shows that a header was sent twice. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The source's configured address. It is never built from the request, because the sender chooses its `Host`. */
  readonly url: string;
  readonly json: () => unknown;
};

export type SourceAuth = {
  readonly auth: HmacAuth | null;
  /** All active secrets of the source, the newest first. A signature by any of them is accepted. */
  readonly secrets: readonly string[];
};

export type Verified = { readonly ok: true };
export type SignatureFailure = { readonly ok: false; readonly reason: SignatureFailureReason; readonly detail: string };

export const failure = (reason: SignatureFailureReason, detail: string): SignatureFailure => ({
  ok: false,
  reason,
  detail,
});

export type Proof = {
  /** The decoded signatures, each as long as the result of `expected`. It is enough if one of them matches. */
  readonly given: readonly Buffer[];
  readonly expected: (secret: string) => Buffer | null;
};

/** The decoded signatures of a request, before any HMAC is computed. */
export type Claim = {
  readonly ok: true;
  /** Unix time in seconds, spelled as it was signed; null if the scheme signs no time. */
  readonly timestamp: string | null;
  readonly proofs: readonly [Proof, ...Proof[]];
  /** A further condition. It may parse the body, because it is asked only after the proofs held. */
  readonly furtherFailure?: (request: WebhookRequest) => SignatureFailure | null;
};

export type Scheme = (request: WebhookRequest, source: SourceAuth) => Claim | SignatureFailure;

export type DirectAnswer = { readonly status: 200; readonly body?: JsonObject };
