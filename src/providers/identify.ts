import { createHash } from "node:crypto";
import { parseFieldPath, readField } from "../../domain/gate/field-path.ts";
import type { DedupeRule, ProviderType } from "../../domain/source/events.ts";
import { textAt } from "./fields.ts";
import { headerText } from "./headers.ts";
import { PROVIDERS } from "./provider-schemes.ts";
import type { DirectAnswer, WebhookRequest } from "./request.ts";

export type Identity = {
  readonly deliveryKey: string | null;
  readonly eventType: string;
};

/** All providers' delivery ids are shorter. A longer id is recorded as its hash. */
const KEY_LENGTH_MAX = 256;
const EVENT_TYPE_LENGTH_MAX = 200;

const digestOf = (content: string | Buffer): string => `sha256:${createHash("sha256").update(content).digest("hex")}`;

const bounded = (key: string): string => (key.length <= KEY_LENGTH_MAX ? key : digestOf(key));

/** Any number of up to this many digits can be read back unchanged from a double (IEEE 754, binary64). */
const EXACT_DIGITS = 15;

/** True if no other number in a JSON text parses to this value, so that the value identifies the number. */
const isOnlyOne = (value: number): boolean =>
  Number.isInteger(value)
    ? Number.isSafeInteger(value)
    : Number.isFinite(value) && String(value).replaceAll(/\D/g, "").length <= EXACT_DIGITS;

const byRule = (rule: Exclude<DedupeRule, string>, { headers, json, body }: WebhookRequest): string | null => {
  if ("header" in rule) return headerText(headers, rule.header.toLowerCase());
  const path = parseFieldPath(rule.pointer);
  if (path === null) return null;
  const value = readField(json(), path);
  // If JSON.parse has rounded the number, the body's digest replaces it, because two deliveries would get one key.
  return typeof value === "number" && !isOnlyOne(value) ? digestOf(body) : textAt(json(), path);
};

/** The source's own rule (`dedupe`), if it has one, names the delivery instead of the provider's rule. */
export const identify = (type: ProviderType, request: WebhookRequest, dedupe: DedupeRule | null): Identity => {
  const provider = PROVIDERS[type];
  const key = dedupe === null || typeof dedupe === "string" ? provider.deliveryKey(request) : byRule(dedupe, request);
  const eventType = provider.eventType(request) ?? "";
  return {
    deliveryKey: key === null ? null : bounded(key),

    eventType: eventType.slice(0, EVENT_TYPE_LENGTH_MAX),
  };
};

/** True if two requests without a delivery key count as one delivery when their bodies are equal. */
export const isByBody = (type: ProviderType, dedupe: DedupeRule | null): boolean =>
  PROVIDERS[type].mayHaveNoKey === true && dedupe !== null && dedupe !== "none";

/** "unsigned" asks before the signature is checked, "signed" after it held. Null if the request is an event. */
export const answerDirectly = (
  type: ProviderType,
  moment: "unsigned" | "signed",
  request: WebhookRequest,
): DirectAnswer | null => {
  const { answerUnsigned, answerSigned } = PROVIDERS[type];
  return (moment === "unsigned" ? answerUnsigned : answerSigned)?.(request) ?? null;
};
