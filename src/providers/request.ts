import type { IncomingHttpHeaders } from "node:http";
import type { JsonObject } from "../../domain/json.ts";
import type { HmacAuth, RejectReason } from "../../domain/source/events.ts";

/** One webhook as it came in. */
export type WebhookRequest = {
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as Node gives them: the only place where a header that was sent twice can be seen. */
  readonly rawHeaders: readonly string[];
  /** The exact bytes that were sent. */
  readonly body: Buffer;
  /** The public address of the source. Never built from the request: `Host` is the sender's to choose. */
  readonly url: string;
  /** The body as JSON, read when first asked for; undefined when it is none. */
  readonly json: () => unknown;
};

/** The request with its body read once, when somebody first asks; `read` answers undefined for what is no JSON. */
export const webhookRequest = (
  { headers, rawHeaders, body, url }: Omit<WebhookRequest, "json">,
  read: (body: Buffer) => unknown,
): WebhookRequest => {
  let known: { readonly value: unknown } | null = null;
  const json = (): unknown => {
    known ??= { value: read(body) };
    return known.value;
  };
  return { headers, rawHeaders, body, url, json };
};

/** What a source knows of its sender. */
export type SourceAuth = {
  /** Only `hmac` has one; null is its default. */
  readonly auth: HmacAuth | null;
  /** All that are active, the newest first. */
  readonly secrets: readonly string[];
};

export type Verified = { readonly ok: true };
export type Refused = { readonly ok: false; readonly reason: RejectReason; readonly detail: string };

export const refused = (reason: RejectReason, detail: string): Refused => ({ ok: false, reason, detail });

/** Something that only a holder of the secret can have sent. */
export type Proof = {
  /** Decoded, each exactly as long as what `expected` gives; one that is equal is enough. */
  readonly given: readonly Buffer[];
  /** Null when the secret is not one of this scheme's. */
  readonly expected: (secret: string) => Buffer | null;
};

/** What a request claims, decoded, before anything is computed. */
export type Claim = {
  readonly ok: true;
  /** Unix time in seconds, character for character as it is signed; null when the scheme has none. */
  readonly timestamp: string | null;
  /** Every one of them has to hold. */
  readonly proofs: readonly [Proof, ...Proof[]];
  /** What else has to be true of a request whose proofs hold: only then its body is parsed. */
  readonly alsoRefused?: (request: WebhookRequest) => Refused | null;
};

/** Finds a scheme's signature in a request. */
export type Scheme = (request: WebhookRequest, source: SourceAuth) => Claim | Refused;

/** What is answered to a request that is not an event; without `body` the answer has none. */
export type DirectAnswer = { readonly status: 200; readonly body?: JsonObject };
