import { createHash } from "node:crypto";
import { readField } from "../../domain/gate/field-path.ts";
import { decodeBase64 } from "./decode.ts";
import { textAt } from "./fields.ts";
import { failure, type Proof, type Scheme, type SignatureFailure, type WebhookRequest } from "./request.ts";
import { claim, mac, macHeader, withHeader } from "./signature-schemes.ts";

/** Adyen sends one item in a body. More are limited, because each costs an HMAC before the request is authenticated. */
const ITEMS_MAX = 32;
/** An item has some 2 kB. Bodies up to this length are parsed unauthenticated, as the signature is inside. */
const ITEMS_BYTES_MAX = 65_536;
const MAC_BYTES = 32;
const KEY = /^(?:[0-9A-Fa-f]{2}){16,64}$/;

export const adyenKey = (secret: string): Buffer | null => (KEY.test(secret) ? Buffer.from(secret, "hex") : null);

/** Null if the body is not a payments notification. */
const itemsOf = (body: unknown): readonly unknown[] | null => {
  const items = readField(body, ["notificationItems"]);
  return Array.isArray(items) ? items.map((item: unknown) => readField(item, ["NotificationRequestItem"])) : null;
};

/** The order in which Adyen signs the fields ("Verify HMAC signatures"). A missing field is signed as an empty text. */
const SIGNED_FIELDS: readonly (readonly string[])[] = [
  ["pspReference"],
  ["originalReference"],
  ["merchantAccountCode"],
  ["merchantReference"],
  ["amount", "value"],
  ["amount", "currency"],
  ["eventCode"],
  ["success"],
];

export const signedContent = (item: unknown): string | null => {
  const fields: string[] = [];
  for (const path of SIGNED_FIELDS) {
    const value = readField(item, path) ?? "";
    if (typeof value === "object") return null;
    fields.push(String(value));
  }
  return fields.join(":");
};

const withKey = (before: string, body: Buffer | null) => (secret: string) => {
  const key = adyenKey(secret);
  return key === null ? null : mac("sha256", key, before, body);
};

const itemProof = (item: unknown): Proof | SignatureFailure => {
  const signature = textAt(item, ["additionalData", "hmacSignature"]);
  if (signature === null) return failure("missing", "An item has no additionalData.hmacSignature.");
  const given = decodeBase64(signature, MAC_BYTES);
  if (given === null) return failure("malformed", "An hmacSignature is not the base64 of 32 bytes.");
  const content = signedContent(item);
  if (content === null) return failure("malformed", "A signed field of an item is neither text nor a number.");
  return { given: [given], expected: withKey(content, null) };
};

/** Each item of a payments notification carries its own signature, and all of them have to hold. */
const signedItems: Scheme = (request) => {
  if (request.body.length > ITEMS_BYTES_MAX) {
    return failure("malformed", `A body with signed items has more than ${ITEMS_BYTES_MAX} bytes.`);
  }
  const items = itemsOf(request.json());
  if (items === null) return failure("missing", "The body has no notificationItems, and there is no HmacSignature.");
  if (items.length > ITEMS_MAX) return failure("malformed", `More than ${ITEMS_MAX} items.`);
  const proofs: Proof[] = [];
  for (const item of items) {
    const proof = itemProof(item);
    if ("ok" in proof) return proof;
    proofs.push(proof);
  }
  const [first, ...more] = proofs;
  return first === undefined ? failure("missing", "The notification has no item.") : claim(null, first, ...more);
};

const SIGNATURE_HEADER = "hmacsignature";
const rawBody = macHeader({ header: SIGNATURE_HEADER, encoding: "base64" });

/** A whole signed body has to be an object, else the text that an item signs could be sent as a body. */
const noObject = (request: WebhookRequest): SignatureFailure | null => {
  const json = request.json();
  return typeof json === "object" && json !== null ? null : failure("malformed", "The body is not a JSON object.");
};

/** Platform and management webhooks sign the raw body and send the signature in a header. */
const signedBody: Scheme = (request, source) => {
  const read = rawBody(request, source);
  if (!read.ok) return read;
  const signed = claim(null, { given: read.proofs[0].given, expected: withKey("", request.body) });
  return { ...signed, furtherFailure: noObject };
};

export const adyenScheme = withHeader(SIGNATURE_HEADER, signedBody, signedItems);

const KEY_FIELDS = ["pspReference", "eventCode", "success"];

/** A body without items contains its time, so its digest names the delivery, and Adyen's repeat has the same digest. */
export const adyenDeliveryKey = ({ json, body }: WebhookRequest): string => {
  const items = itemsOf(json());
  if (items === null) return createHash("sha256").update(body).digest("hex");
  return JSON.stringify(items.map((item) => KEY_FIELDS.map((name) => textAt(item, [name]))));
};

export const adyenEventType = ({ json }: WebhookRequest): string | null =>
  textAt(itemsOf(json())?.[0], ["eventCode"]) ?? textAt(json(), ["type"]);
