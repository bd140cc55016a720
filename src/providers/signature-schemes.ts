import { createHash, createHmac } from "node:crypto";
import { decodeBase64, decodeCanonicalBase64, decodeHex } from "./decode.ts";
import { hasHeader, parsePairs, parseVersioned, singleHeader } from "./headers.ts";
import { type Claim, failure, type Proof, type Scheme, type SignatureFailure, type WebhookRequest } from "./request.ts";

export type Algorithm = "sha256" | "sha512";
type Encoding = "hex" | "base64";

const MAC_BYTES: Readonly<Record<Algorithm, number>> = { sha256: 32, sha512: 64 };

export const mac = (algorithm: Algorithm, key: string | Buffer, before: string, body: Buffer | null): Buffer => {
  const hmac = createHmac(algorithm, key);
  if (before !== "") hmac.update(before);
  if (body !== null) hmac.update(body);
  return hmac.digest();
};

const decodeMac = (text: string, algorithm: Algorithm, encoding: Encoding): Buffer | null =>
  encoding === "hex" ? decodeHex(text, MAC_BYTES[algorithm]) : decodeBase64(text, MAC_BYTES[algorithm]);

export const claim = (timestamp: string | null, proof: Proof, ...more: readonly Proof[]): Claim => ({
  ok: true,
  timestamp,
  proofs: [proof, ...more],
});

const badHeader = (header: string, wanted: string): SignatureFailure =>
  failure("malformed", `The header ${header} is not ${wanted}.`);

export type MacHeader = {
  readonly header: string;
  readonly encoding: Encoding;
  readonly algorithm?: Algorithm;
  readonly prefix?: string;
  readonly timestampHeader?: string | undefined;
  /** The text that is signed before the body. `timestamp` is "" if the scheme has no header for it. */
  readonly before?: (request: WebhookRequest, timestamp: string) => string;
};

export const macHeader =
  ({ header, encoding, algorithm = "sha256", prefix = "", timestampHeader, before }: MacHeader): Scheme =>
  (request) => {
    const value = singleHeader(request.rawHeaders, header);
    if (typeof value !== "string") return value;
    const given = value.startsWith(prefix) ? decodeMac(value.slice(prefix.length), algorithm, encoding) : null;
    if (given === null) return badHeader(header, `${prefix}<${encoding} of ${MAC_BYTES[algorithm]} bytes>`);
    const timestamp = timestampHeader === undefined ? null : singleHeader(request.rawHeaders, timestampHeader);
    if (timestamp !== null && typeof timestamp !== "string") return timestamp;
    const signedBefore = before?.(request, timestamp ?? "") ?? "";
    return claim(timestamp, {
      given: [given],
      expected: (secret) => mac(algorithm, secret, signedBefore, request.body),
    });
  };

export type MacPairs = {
  readonly header: string;
  readonly separator: "," | ";";
  readonly timeKey: string;
  readonly macKey: string;
  readonly joint: string;
};

/** Pairs with keys other than `timeKey` and `macKey` belong to other schemes, and prove nothing in this one. */
export const macPairs =
  ({ header, separator, timeKey, macKey, joint }: MacPairs): Scheme =>
  (request) => {
    const value = singleHeader(request.rawHeaders, header);
    if (typeof value !== "string") return value;
    const pairs = parsePairs(value, separator) ?? [];
    const [timestamp, ...moreTimes] = pairs.filter(([key]) => key === timeKey).map(([, time]) => time);
    // A signature that cannot be decoded matches nothing, but the header's other signatures still count.
    const given = pairs.flatMap(([key, text]) => (key === macKey ? (decodeHex(text, MAC_BYTES.sha256) ?? []) : []));
    if (timestamp === undefined || moreTimes.length > 0 || given.length === 0)
      return badHeader(header, `${timeKey}=<seconds>${separator}${macKey}=<hex of 32 bytes>`);
    const before = timestamp + joint;
    return claim(timestamp, { given, expected: (secret) => mac("sha256", secret, before, request.body) });
  };

export const SIGNING_SECRET_PREFIX = "whsec_";
/** Lengths of a key as Standard Webhooks has them ("Symmetric signatures"). */
const SIGNING_KEY_BYTES = { min: 24, max: 64 };

export const signingKey = (secret: string): Buffer | null => {
  if (!secret.startsWith(SIGNING_SECRET_PREFIX)) return null;
  const key = decodeCanonicalBase64(secret.slice(SIGNING_SECRET_PREFIX.length));
  if (key === null || key.length < SIGNING_KEY_BYTES.min || key.length > SIGNING_KEY_BYTES.max) return null;
  return key;
};

/** Checks symmetric signatures (v1). `family` is the prefix of the three headers. */
export const standardWebhooks =
  (family: "webhook" | "svix"): Scheme =>
  (request) => {
    const header = `${family}-signature`;
    const signatures = singleHeader(request.rawHeaders, header);
    if (typeof signatures !== "string") return signatures;
    const id = singleHeader(request.rawHeaders, `${family}-id`);
    if (typeof id !== "string") return id;
    const timestamp = singleHeader(request.rawHeaders, `${family}-timestamp`);
    if (typeof timestamp !== "string") return timestamp;
    const pairs = parseVersioned(signatures) ?? [];
    const given = pairs.flatMap(([version, text]) =>
      version === "v1" ? (decodeBase64(text, MAC_BYTES.sha256) ?? []) : [],
    );
    if (given.length === 0) return badHeader(header, "v1,<base64 of 32 bytes>");
    const before = `${id}.${timestamp}.`;
    const expected = (secret: string): Buffer | null => {
      const key = signingKey(secret);
      return key === null ? null : mac("sha256", key, before, request.body);
    };
    return claim(timestamp, { given, expected });
  };

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();

/** The token's hash is compared with the secret's hash, because hashes have one length whatever was sent. */
export const token =
  (header: string, tokenIn: (value: string) => string | null, isToken: (secret: string) => boolean): Scheme =>
  (request) => {
    const value = singleHeader(request.rawHeaders, header);
    if (typeof value !== "string") return value;
    const sent = tokenIn(value);
    if (sent === null) return badHeader(header, "of the form that was agreed");
    return claim(null, {
      given: [sha256(sent)],
      expected: (secret) => (isToken(secret) ? sha256(secret) : null),
    });
  };

export const withHeader =
  (header: string, scheme: Scheme, otherwise: Scheme): Scheme =>
  (request, source) =>
    (hasHeader(request.rawHeaders, header) ? scheme : otherwise)(request, source);
