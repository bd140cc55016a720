import { createHmac } from "node:crypto";
import hmacValidator from "@adyen/api-library/lib/src/utils/hmacValidator.js";
import { sign as signGitHub } from "@octokit/webhooks-methods";
import { createSHA256HMAC, HashFormat } from "@shopify/shopify-api/runtime";
import { Webhook } from "standardwebhooks";
import { Stripe } from "stripe";
import type { HmacAuth, ProviderType } from "../../domain/source/events.ts";

/** Signs as each provider does, without a line of ours: with its own package where it has one that can, else by its
 * documentation. */
type ToSign = {
  readonly secret: string;
  readonly body: string;
  /** Unix time, seconds. */
  readonly at: number;
  readonly url: string;
};

export type Signed = { readonly headers: Readonly<Record<string, string>>; readonly body: string };

export type Signer = {
  readonly secret: string;
  readonly otherSecret: string;
  readonly auth?: HmacAuth;
  /** Null where the signature is in the body. */
  readonly header: string | null;
  /** Null where it is the secret itself: the body is not bound then. */
  readonly encoding: "hex" | "base64" | null;
  readonly isTimed: boolean;
  /** Stands before the signature in its header, up to the time. */
  readonly prefix: string;
  readonly sign: (input: ToSign) => Promise<Signed>;
};

const hmac = (key: string, content: string, encoding: "hex" | "base64"): string =>
  createHmac("sha256", key).update(content).digest(encoding);

/** The package refuses to sign a body of no bytes; GitHub's rule has no such exception. */
const prefixedHex = async (secret: string, body: string): Promise<string> =>
  body === "" ? `sha256=${hmac(secret, body, "hex")}` : signGitHub(secret, body);

const KEY_A = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056";
const KEY_B = "0F1E2D3C4B5A69788796A5B4C3D2E1F00F1E2D3C4B5A69788796A5B4C3D2E1F0";
const SIGNING_A = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const SIGNING_B = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfgh+X5Xv0=";

const plain = {
  secret: "It's a Secret to Everybody",
  otherSecret: "quite another secret",
  isTimed: false,
  prefix: "",
} as const;

const validator = new hmacValidator.default();
type AdyenItem = Parameters<typeof validator.calculateHmac>[0];

/** A notification with these items, each with its signature. */
export const adyenNotification = (items: readonly object[], secret: string): string => {
  const notificationItems = items.map((item) => {
    // The package's type wants members that neither it nor Adyen needs for a signature.
    const hmacSignature = validator.calculateHmac(item as AdyenItem, secret);
    return { NotificationRequestItem: { ...item, additionalData: { hmacSignature } } };
  });
  return JSON.stringify({ live: "false", notificationItems });
};

/** Any text becomes an item's reference: only the fields of an item are signed. */
const adyenItem = (merchantReference: string): object => ({
  pspReference: "7914073381342284",
  merchantAccountCode: "TestMerchant",
  merchantReference,
  amount: { value: 1130, currency: "EUR" },
  eventCode: "AUTHORISATION",
  success: "true",
});

const timedHmac: HmacAuth = {
  header: "X-Shop-Signature",
  algorithm: "sha256",
  encoding: "hex",
  prefix: "v1:",
  timestamp_header: "X-Shop-Time",
};

export const SIGNERS: Readonly<Record<ProviderType, Signer>> = {
  stripe: {
    ...plain,
    secret: "whsec_test_a",
    otherSecret: "whsec_test_b",
    header: "Stripe-Signature",
    encoding: "hex",
    isTimed: true,
    sign: async ({ secret, body, at }) => {
      const header = Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: at });
      return { body, headers: { "Stripe-Signature": header } };
    },
  },
  github: {
    ...plain,
    header: "X-Hub-Signature-256",
    encoding: "hex",
    prefix: "sha256=",
    sign: async ({ secret, body }) => ({ body, headers: { "X-Hub-Signature-256": await prefixedHex(secret, body) } }),
  },
  shopify: {
    ...plain,
    header: "X-Shopify-Hmac-Sha256",
    encoding: "base64",
    sign: async ({ secret, body }) => ({
      body,
      headers: { "X-Shopify-Hmac-Sha256": await createSHA256HMAC(secret, body, HashFormat.Base64) },
    }),
  },
  gitlab: {
    ...plain,
    secret: "gitlab-token-a",
    otherSecret: "gitlab-token-b",
    header: "X-Gitlab-Token",
    encoding: null,
    sign: async ({ secret, body }) => ({ body, headers: { "X-Gitlab-Token": secret } }),
  },
  bitbucket: {
    ...plain,
    header: "X-Hub-Signature",
    encoding: "hex",
    prefix: "sha256=",
    sign: async ({ secret, body }) => ({ body, headers: { "X-Hub-Signature": await prefixedHex(secret, body) } }),
  },
  woocommerce: {
    ...plain,
    header: "X-WC-Webhook-Signature",
    encoding: "base64",
    sign: async ({ secret, body }) => ({ body, headers: { "X-WC-Webhook-Signature": hmac(secret, body, "base64") } }),
  },
  square: {
    ...plain,
    header: "x-square-hmacsha256-signature",
    encoding: "base64",
    sign: async ({ secret, body, url }) => ({
      body,
      headers: { "x-square-hmacsha256-signature": hmac(secret, url + body, "base64") },
    }),
  },
  paddle: {
    ...plain,
    header: "Paddle-Signature",
    encoding: "hex",
    isTimed: true,
    sign: async ({ secret, body, at }) => ({
      body,
      headers: { "Paddle-Signature": `ts=${at};h1=${hmac(secret, `${at}:${body}`, "hex")}` },
    }),
  },
  adyen: {
    ...plain,
    secret: KEY_A,
    otherSecret: KEY_B,
    header: null,
    encoding: "base64",
    sign: async ({ secret, body }) => ({ headers: {}, body: adyenNotification([adyenItem(body)], secret) }),
  },
  slack: {
    ...plain,
    header: "X-Slack-Signature",
    encoding: "hex",
    isTimed: true,
    prefix: "v0=",
    sign: async ({ secret, body, at }) => ({
      body,
      headers: {
        "X-Slack-Request-Timestamp": String(at),
        "X-Slack-Signature": `v0=${hmac(secret, `v0:${at}:${body}`, "hex")}`,
      },
    }),
  },
  "standard-webhooks": {
    ...plain,
    secret: SIGNING_A,
    otherSecret: SIGNING_B,
    header: "webhook-signature",
    encoding: "base64",
    isTimed: true,
    prefix: "v1,",
    sign: async ({ secret, body, at }) => ({
      body,
      headers: {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": String(at),
        "webhook-signature": new Webhook(secret).sign("msg_p5jXN8AQM9LWM0D4loKWxJek", new Date(at * 1000), body),
      },
    }),
  },
  hmac: {
    ...plain,
    auth: timedHmac,
    header: "X-Shop-Signature",
    encoding: "hex",
    isTimed: true,
    prefix: "v1:",
    sign: async ({ secret, body, at }) => ({
      body,
      headers: { "X-Shop-Time": String(at), "X-Shop-Signature": `v1:${hmac(secret, `${at}.${body}`, "hex")}` },
    }),
  },
  bearer: {
    ...plain,
    secret: "token-a",
    otherSecret: "token-b",
    header: "Authorization",
    encoding: null,
    sign: async ({ secret, body }) => ({ body, headers: { Authorization: `Bearer ${secret}` } }),
  },
};
