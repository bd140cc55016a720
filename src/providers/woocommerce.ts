import { createHash } from "node:crypto";
import { textAt } from "./fields.ts";
import { hasHeader, headerText } from "./headers.ts";
import type { DirectAnswer, Scheme, WebhookRequest } from "./request.ts";
import { macHeader } from "./signature-schemes.ts";

const SIGNATURE_HEADER = "x-wc-webhook-signature";

const ENTITY = /&(?:lt|gt|amp|quot|#0*(?:34|38|39|60|62)|#[xX]0*(?:22|26|27));/g;
const CHARACTER: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"' };

/** WooCommerce uses its secret as the key only after WordPress's `wp_specialchars_decode(…, ENT_QUOTES)`. */
export const decodeSpecialChars = (text: string): string =>
  text.replace(ENTITY, (entity) => {
    const named = CHARACTER[entity];
    if (named !== undefined) return named;
    const isHex = entity[2] === "x" || entity[2] === "X";
    return String.fromCharCode(Number.parseInt(entity.slice(isHex ? 3 : 2, -1), isHex ? 16 : 10));
  });

const signed = macHeader({ header: SIGNATURE_HEADER, encoding: "base64" });

export const woocommerceScheme: Scheme = (request, source) => {
  const read = signed(request, source);
  if (!read.ok) return read;
  const [{ given, expected }] = read.proofs;
  return { ...read, proofs: [{ given, expected: (secret) => expected(decodeSpecialChars(secret)) }] };
};

/** WooCommerce's delivery ids repeat within a second, so only all of these values together name one delivery. */
export const woocommerceKey = ({ headers, body, json }: WebhookRequest): string | null => {
  const delivery = headerText(headers, "x-wc-webhook-delivery-id");
  if (delivery === null) return null;
  return JSON.stringify([
    headerText(headers, "x-wc-webhook-id"),
    delivery,
    headerText(headers, "x-wc-webhook-topic"),
    textAt(json(), ["id"]),
    createHash("sha256").update(body).digest("hex"),
  ]);
};

const PING = /^webhook_id=[0-9]{1,20}$/;
const PING_BYTES_MAX = 40;

/** When a webhook is saved, WooCommerce sends an unsigned ping, and leaves the webhook off unless the answer is 200. */
export const woocommercePing = ({ headers, rawHeaders, body }: WebhookRequest): DirectAnswer | null => {
  if (hasHeader(rawHeaders, SIGNATURE_HEADER) || body.length > PING_BYTES_MAX) return null;
  if (headers["content-type"]?.startsWith("application/x-www-form-urlencoded") !== true) return null;
  return PING.test(body.toString("latin1")) ? { status: 200 } : null;
};
