import { adyenKey } from "./adyen.ts";
import { SIGNING_SECRET_PREFIX, signingKey } from "./signature-schemes.ts";

export type SecretRule = {
  /** Makes a secret of `random`, which has at least 32 bytes. */
  readonly make: (random: Uint8Array) => string;
  /** A fault of a secret, told to the person who entered it without repeating the secret; null if it has none. */
  readonly fault: (secret: string) => string | null;
};

/** No provider's secret is this long. The limit bounds the size of the record and of the HMAC's key. */
const LENGTH_MAX = 512;
const CONTROL = /\p{Cc}/u;
/** A secret that is sent as a header's value: visible characters (RFC 9110, section 5.5, without obs-text). */
const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/** A token as `Authorization: Bearer` takes it: b64token (RFC 6750, section 2.1). */
const BEARER_TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
const STRIPE_API_KEY = /^(?:sk|rk|pk)_/;

const hex = (random: Uint8Array): string => Buffer.from(random).toString("hex");

const textFault = (secret: string): string | null => {
  if (secret === "") return "The secret must not be empty.";
  if (secret.length > LENGTH_MAX) return `The secret must not be longer than ${LENGTH_MAX} characters.`;
  if (CONTROL.test(secret)) return "The secret must not contain control characters or line breaks.";
  if (secret.trim() !== secret) return "The secret must not begin or end with a blank.";
  return null;
};

const rule = (make: SecretRule["make"], furtherFault: SecretRule["fault"] = () => null): SecretRule => ({
  make,
  fault: (secret) => textFault(secret) ?? furtherFault(secret),
});

const signingSecret = (random: Uint8Array): string => SIGNING_SECRET_PREFIX + Buffer.from(random).toString("base64");

const signingFault = (secret: string): string | null =>
  signingKey(secret) === null ? "The secret must be whsec_ and the base64 of 24 to 64 bytes." : null;

const headerFault = (secret: string): string | null =>
  HEADER_VALUE.test(secret) ? null : "The secret is sent in a header and must be printable ASCII.";

export const textSecret: SecretRule = rule(hex);

export const stripeSecret: SecretRule = rule(
  (random) => SIGNING_SECRET_PREFIX + hex(random),
  (secret) =>
    STRIPE_API_KEY.test(secret) ? "This is an API key; the endpoint's signing secret begins with whsec_." : null,
);

export const standardWebhooksSecret: SecretRule = rule(signingSecret, signingFault);

export const gitlabSecret: SecretRule = rule(hex, (secret) =>
  secret.startsWith(SIGNING_SECRET_PREFIX) ? signingFault(secret) : headerFault(secret),
);

export const adyenSecret: SecretRule = rule(
  (random) => hex(random).toUpperCase(),
  (secret) => (adyenKey(secret) === null ? "The secret must be hex, as the Customer Area shows the HMAC key." : null),
);

export const bearerSecret: SecretRule = rule(hex, (secret) =>
  BEARER_TOKEN.test(secret)
    ? null
    : "The secret must be a bearer token: letters, digits and . _ ~ + / - with = at its end.",
);
