import type { HmacAuth, ProviderType } from "../../domain/source/events.ts";
import { adyenDeliveryKey, adyenEventType, adyenScheme } from "./adyen.ts";
import { type Field, firstOf, header, inBody, joined, none } from "./fields.ts";
import { gitlabScheme } from "./gitlab.ts";
import { hasHeader } from "./headers.ts";
import type { DirectAnswer, Scheme, WebhookRequest } from "./request.ts";
import {
  adyenSecret,
  bearerSecret,
  gitlabSecret,
  type SecretRule,
  standardWebhooksSecret,
  stripeSecret,
  textSecret,
} from "./secrets.ts";
import { macHeader, macPairs, standardWebhooks, token, withHeader } from "./signature-schemes.ts";
import { woocommerceKey, woocommercePing, woocommerceScheme } from "./woocommerce.ts";

export type Provider = {
  readonly label: string;
  readonly category: "payments" | "code" | "commerce" | "chat" | "custom";
  readonly auth: "hmac-sha256" | "hmac" | "standard-webhooks" | "token" | "bearer";
  readonly scheme: Scheme;
  /** Header names in lower case. The headers are not stored, because they prove who sent the request. */
  readonly signatureHeaders: readonly string[];
  readonly secret: SecretRule;
  /** The provider's id of the delivery, which a redelivery repeats; null if the request has no such id. */
  readonly deliveryKey: Field;
  readonly eventType: Field;
  /** True if some requests have no delivery key, so that the body may have to identify them. */
  readonly mayHaveNoKey?: true;
  /** These answer requests that are not events: unsigned ones, and (`answerSigned`) those whose signature holds. */
  readonly answerUnsigned?: (request: WebhookRequest) => DirectAnswer | null;
  readonly answerSigned?: (request: WebhookRequest) => DirectAnswer | null;
};

const DEFAULT_HMAC: HmacAuth = { header: "X-Signature", algorithm: "sha256", encoding: "hex" };
export const hmacDefaults = (given: Partial<HmacAuth>): HmacAuth => ({ ...DEFAULT_HMAC, ...given });

const timeAndDot = (_: WebhookRequest, timestamp: string): string => (timestamp === "" ? "" : `${timestamp}.`);

const customScheme: Scheme = (request, source) => {
  const { header, algorithm, encoding, prefix = "", timestamp_header: time } = source.auth ?? DEFAULT_HMAC;
  const timestampHeader = time?.toLowerCase();
  const agreed = { header: header.toLowerCase(), algorithm, encoding, prefix, timestampHeader, before: timeAndDot };
  return macHeader(agreed)(request, source);
};

const BEARER = "bearer ";
const bearerToken = (value: string): string | null =>
  value.slice(0, BEARER.length).toLowerCase() === BEARER ? value.slice(BEARER.length).trimStart() : null;

/** A challenge has some 200 bytes, so a longer body is taken for an event and is not parsed here. */
const CHALLENGE_BYTES_MAX = 4_096;

/** Slack asks whether an address belongs to the app by sending a challenge, and expects it as the answer. */
const slackChallenge = (request: WebhookRequest): DirectAnswer | null => {
  if (request.body.length > CHALLENGE_BYTES_MAX) return null;
  const challenge = inBody("challenge")(request);
  if (inBody("type")(request) !== "url_verification" || challenge === null) return null;
  return { status: 200, body: { challenge } };
};

/** Svix sends the three headers of Standard Webhooks also under its own name, such as `svix-id`. */
const familyOf = ({ rawHeaders }: WebhookRequest): "webhook" | "svix" =>
  !hasHeader(rawHeaders, "webhook-signature") && hasHeader(rawHeaders, "svix-signature") ? "svix" : "webhook";

const signedWith = (scheme: Scheme, ...signatureHeaders: readonly string[]) => ({
  auth: "hmac-sha256" as const,
  scheme,
  signatureHeaders,
  secret: textSecret,
});

const shopifyHeader = "x-shopify-hmac-sha256";
const shopifyEventsHeader = "shopify-hmac-sha256";

/** The rules follow the providers' documents and SDKs. The tests check them with vectors from there. */
export const PROVIDERS: Readonly<Record<ProviderType, Provider>> = {
  stripe: {
    label: "Stripe",
    category: "payments",
    ...signedWith(
      macPairs({ header: "stripe-signature", separator: ",", timeKey: "t", macKey: "v1", joint: "." }),
      "stripe-signature",
    ),
    secret: stripeSecret,
    deliveryKey: inBody("id"),
    eventType: inBody("type"),
  },
  github: {
    label: "GitHub",
    category: "code",
    ...signedWith(
      macHeader({ header: "x-hub-signature-256", encoding: "hex", prefix: "sha256=" }),
      "x-hub-signature-256",
      "x-hub-signature",
    ),
    deliveryKey: header("x-github-delivery"),
    eventType: joined(".", header("x-github-event"), inBody("action")),
  },
  shopify: {
    label: "Shopify",
    category: "commerce",
    ...signedWith(
      withHeader(
        shopifyEventsHeader,
        macHeader({ header: shopifyEventsHeader, encoding: "base64" }),
        macHeader({ header: shopifyHeader, encoding: "base64" }),
      ),
      shopifyHeader,
      shopifyEventsHeader,
    ),
    deliveryKey: firstOf(header("x-shopify-webhook-id"), header("shopify-webhook-id")),
    eventType: firstOf(header("x-shopify-topic"), joined("/", header("shopify-topic"), header("shopify-action"))),
  },
  gitlab: {
    label: "GitLab",
    category: "code",
    auth: "token",
    scheme: gitlabScheme,
    signatureHeaders: ["x-gitlab-token", "webhook-signature"],
    secret: gitlabSecret,
    deliveryKey: firstOf(header("webhook-id"), header("idempotency-key"), header("x-gitlab-event-uuid")),
    eventType: firstOf(header("x-gitlab-event"), inBody("object_kind")),
  },
  bitbucket: {
    label: "Bitbucket Cloud",
    category: "code",
    // Bitbucket uses the header name that means SHA-1 elsewhere; its prefix `sha256=` says that the MAC is SHA-256.
    ...signedWith(macHeader({ header: "x-hub-signature", encoding: "hex", prefix: "sha256=" }), "x-hub-signature"),
    deliveryKey: header("x-request-uuid"),
    eventType: header("x-event-key"),
  },
  woocommerce: {
    label: "WooCommerce",
    category: "commerce",
    ...signedWith(woocommerceScheme, "x-wc-webhook-signature"),
    deliveryKey: woocommerceKey,
    eventType: header("x-wc-webhook-topic"),
    answerUnsigned: woocommercePing,
  },
  square: {
    label: "Square",
    category: "payments",
    ...signedWith(
      macHeader({ header: "x-square-hmacsha256-signature", encoding: "base64", before: ({ url }) => url }),
      "x-square-hmacsha256-signature",
    ),
    deliveryKey: inBody("event_id"),
    eventType: inBody("type"),
  },
  paddle: {
    label: "Paddle Billing",
    category: "payments",
    ...signedWith(
      macPairs({ header: "paddle-signature", separator: ";", timeKey: "ts", macKey: "h1", joint: ":" }),
      "paddle-signature",
    ),
    deliveryKey: inBody("event_id"),
    eventType: inBody("event_type"),
  },
  adyen: {
    label: "Adyen",
    category: "payments",
    ...signedWith(adyenScheme, "hmacsignature"),
    secret: adyenSecret,
    deliveryKey: adyenDeliveryKey,
    eventType: adyenEventType,
  },
  slack: {
    label: "Slack",
    category: "chat",
    ...signedWith(
      macHeader({
        header: "x-slack-signature",
        encoding: "hex",
        prefix: "v0=",
        timestampHeader: "x-slack-request-timestamp",
        before: (_, timestamp) => `v0:${timestamp}:`,
      }),
      "x-slack-signature",
    ),
    deliveryKey: inBody("event_id"),
    mayHaveNoKey: true,
    eventType: firstOf(inBody("event", "type"), inBody("type")),
    answerSigned: slackChallenge,
  },
  "standard-webhooks": {
    label: "Standard Webhooks",
    category: "custom",
    auth: "standard-webhooks",
    scheme: (request, source) => standardWebhooks(familyOf(request))(request, source),
    signatureHeaders: ["webhook-signature", "svix-signature"],
    secret: standardWebhooksSecret,
    // The id is taken from the family of headers (`webhook-` or `svix-`) whose signature is checked.
    deliveryKey: (request) => header(`${familyOf(request)}-id`)(request),
    eventType: inBody("type"),
  },
  hmac: {
    label: "Custom HMAC",
    category: "custom",
    auth: "hmac",
    scheme: customScheme,
    signatureHeaders: [DEFAULT_HMAC.header.toLowerCase()],
    secret: textSecret,
    deliveryKey: none,
    mayHaveNoKey: true,
    eventType: inBody("type"),
  },
  bearer: {
    label: "Bearer token",
    category: "custom",
    auth: "bearer",
    scheme: token("authorization", bearerToken, () => true),
    signatureHeaders: ["authorization"],
    secret: bearerSecret,
    deliveryKey: none,
    mayHaveNoKey: true,
    eventType: inBody("type"),
  },
};
