import type { JsonObject } from "../../../domain/json.ts";
import type { HmacAuth } from "../../../domain/source/events.ts";
import { adyenKey, signedContent } from "../adyen.ts";
import { mac, SIGNING_SECRET_PREFIX, signingKey } from "../signature-schemes.ts";
import { decodeSpecialChars } from "../woocommerce.ts";
import type { Unsigned } from "./moment.ts";

type Signing = {
  readonly secret: string;
  readonly auth: HmacAuth | null;
  /** The source's address, which some providers sign. */
  readonly url: string;
  /** Unix time. */
  readonly seconds: number;
  /** The id of the delivery, for providers that sign one. */
  readonly deliveryId: string;
};

type Signed = { readonly headers: Readonly<Record<string, string>>; readonly body: Buffer };

/** Signs a sample as the provider would. */
export type Signer = (unsigned: Unsigned, signing: Signing) => Signed;

const bodyOf = (payload: JsonObject): Buffer => Buffer.from(JSON.stringify(payload));

const withHeaders =
  (signatureOf: (body: Buffer, signing: Signing) => Readonly<Record<string, string>>): Signer =>
  ({ payload, headers }, signing) => {
    const body = bodyOf(payload);
    return { body, headers: { ...headers, ...signatureOf(body, signing) } };
  };

type Mac = {
  readonly encoding: "hex" | "base64";
  readonly prefix?: string;
  readonly before?: (signing: Signing) => string;
  readonly key?: (secret: string) => string;
};

export const signWithMac = (
  header: string,
  { encoding, prefix = "", before = () => "", key = (secret) => secret }: Mac,
): Signer =>
  withHeaders((body, signing) => {
    const signature = mac("sha256", key(signing.secret), before(signing), body).toString(encoding);
    return { [header]: prefix + signature };
  });

export const signStripe: Signer = withHeaders((body, { secret, seconds }) => ({
  "stripe-signature": `t=${seconds},v1=${mac("sha256", secret, `${seconds}.`, body).toString("hex")}`,
}));

export const signPaddle: Signer = withHeaders((body, { secret, seconds }) => ({
  "paddle-signature": `ts=${seconds};h1=${mac("sha256", secret, `${seconds}:`, body).toString("hex")}`,
}));

export const signSlack: Signer = withHeaders((body, { secret, seconds }) => ({
  "x-slack-request-timestamp": String(seconds),
  "x-slack-signature": `v0=${mac("sha256", secret, `v0:${seconds}:`, body).toString("hex")}`,
}));

const standardHeaders = (body: Buffer, { secret, seconds, deliveryId }: Signing): Readonly<Record<string, string>> => {
  const key = signingKey(secret);
  if (key === null) throw new Error("the secret is none of Standard Webhooks");
  const signature = mac("sha256", key, `${deliveryId}.${seconds}.`, body).toString("base64");
  return { "webhook-id": deliveryId, "webhook-timestamp": String(seconds), "webhook-signature": `v1,${signature}` };
};

export const signStandard: Signer = withHeaders(standardHeaders);

export const signGitlab: Signer = withHeaders((body, signing) =>
  signing.secret.startsWith(SIGNING_SECRET_PREFIX)
    ? standardHeaders(body, signing)
    : { "x-gitlab-token": signing.secret },
);

export const signWooCommerce: Signer = signWithMac("x-wc-webhook-signature", {
  encoding: "base64",
  key: decodeSpecialChars,
});

export const signCustom: Signer = withHeaders((body, { secret, auth, seconds }) => {
  const { header = "X-Signature", algorithm = "sha256", encoding = "hex", prefix = "", timestamp_header } = auth ?? {};
  const before = timestamp_header === undefined ? "" : `${seconds}.`;
  const signature = prefix + mac(algorithm, secret, before, body).toString(encoding);
  const time = timestamp_header === undefined ? {} : { [timestamp_header.toLowerCase()]: String(seconds) };
  return { ...time, [header.toLowerCase()]: signature };
});

export const signBearer: Signer = withHeaders((_, { secret }) => ({ authorization: `Bearer ${secret}` }));

type AdyenBody = { readonly notificationItems: readonly { readonly NotificationRequestItem: JsonObject }[] };

export const signAdyen: Signer = ({ payload, headers = {} }, { secret }) => {
  const key = adyenKey(secret);
  if (key === null) throw new Error("the secret is no key of Adyen");
  // The samples of Adyen are notifications with items.
  const { notificationItems } = payload as unknown as AdyenBody;
  const items = notificationItems.map(({ NotificationRequestItem: item }) => {
    const hmacSignature = mac("sha256", key, signedContent(item) ?? "", null).toString("base64");
    return { NotificationRequestItem: { ...item, additionalData: { hmacSignature } } };
  });
  return { headers, body: bodyOf({ ...payload, notificationItems: items }) };
};
