import { createHash } from "node:crypto";
import { parseFieldPath, readField } from "../../domain/gate/field-path.ts";
import type { DedupeRule, ProviderType } from "../../domain/source/events.ts";
import { textAt } from "./fields.ts";
import { headerText } from "./headers.ts";
import type { DirectAnswer, WebhookRequest } from "./request.ts";
import { PROVIDERS } from "./table.ts";

export type Identity = {
  /** Null: the sender names none. */
  readonly deliveryKey: string | null;
  /** As "payment_intent.succeeded"; empty when there is none. */
  readonly eventType: string;
};

/** Every provider's own id is shorter. A longer one stands in the log as its hash. */
const KEY_LENGTH_MAX = 256;
const EVENT_TYPE_LENGTH_MAX = 200;

const digestOf = (content: string | Buffer): string => `sha256:${createHash("sha256").update(content).digest("hex")}`;

const bounded = (key: string): string => (key.length <= KEY_LENGTH_MAX ? key : digestOf(key));

/** So many digits survive in a double (IEEE 754, binary64), whatever the number. */
const EXACT_DIGITS = 15;

/** Whether no other number of a JSON text is this one once it is parsed. */
const isOnlyOne = (value: number): boolean =>
  Number.isInteger(value)
    ? Number.isSafeInteger(value)
    : Number.isFinite(value) && String(value).replaceAll(/\D/g, "").length <= EXACT_DIGITS;

const byRule = (rule: Exclude<DedupeRule, string>, { headers, json, body }: WebhookRequest): string | null => {
  if ("header" in rule) return headerText(headers, rule.header.toLowerCase());
  const path = parseFieldPath(rule.pointer);
  if (path === null) return null;
  const value = readField(json(), path);
  // Two deliveries would be one, and the second refused as the first with another body: the bodies tell them apart.
  return typeof value === "number" && !isOnlyOne(value) ? digestOf(body) : textAt(json(), path);
};

/** Which delivery of its sender a verified request is. A source's own rule takes the place of its provider's. */
export const identify = (type: ProviderType, request: WebhookRequest, dedupe: DedupeRule | null): Identity => {
  const provider = PROVIDERS[type];
  const key = dedupe === null || typeof dedupe === "string" ? provider.deliveryKey(request) : byRule(dedupe, request);
  const eventType = provider.eventType(request) ?? "";
  return {
    deliveryKey: key === null ? null : bounded(key),

    eventType: eventType.slice(0, EVENT_TYPE_LENGTH_MAX),
  };
};

/** Whether requests without a delivery key and with the same body are one delivery; else each is one of its own. */
export const isByBody = (type: ProviderType, dedupe: DedupeRule | null): boolean =>
  PROVIDERS[type].mayHaveNoKey === true && dedupe !== null && dedupe !== "none";

/**
 * The answer to what is not an event, else null. Ask `unsigned` before the signature is checked, `signed` after it
 * held.
 */
export const answerDirectly = (
  type: ProviderType,
  moment: "unsigned" | "signed",
  request: WebhookRequest,
): DirectAnswer | null => {
  const { answerUnsigned, answerSigned } = PROVIDERS[type];
  return (moment === "unsigned" ? answerUnsigned : answerSigned)?.(request) ?? null;
};
