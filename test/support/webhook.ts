import type { HmacAuth, ProviderType } from "../../domain/source/events.ts";
import { type WebhookRequest, webhookRequest } from "../../src/providers/request.ts";
import { verify } from "../../src/providers/verify.ts";

export const SOURCE_URL = "https://countersign.example/v1/webhooks/square/src_1";
export const NOW_S = 1_772_366_400;

const jsonOrNothing = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
};

/** As Node hands it over: lower-case names, and what was sent twice joined, but kept apart in `rawHeaders`. */
export const webhook = (
  headers: readonly (readonly [string, string])[] | Readonly<Record<string, string>>,
  body: Buffer | string,
  url = SOURCE_URL,
): WebhookRequest => {
  const sent = Array.isArray(headers) ? headers : Object.entries(headers);
  const joined: Record<string, string> = {};
  for (const [name, value] of sent) {
    const before = joined[name.toLowerCase()];
    joined[name.toLowerCase()] = before === undefined ? value : `${before}, ${value}`;
  }
  return webhookRequest({ headers: joined, rawHeaders: sent.flat(), body: Buffer.from(body), url }, jsonOrNothing);
};

export type Outcome = "ok" | string;

/** "ok", or the reason of the refusal. */
export const verdict = (
  type: ProviderType,
  request: WebhookRequest,
  secrets: readonly string[],
  { auth = null, nowS = NOW_S }: { readonly auth?: HmacAuth | null; readonly nowS?: number } = {},
): Outcome => {
  const verified = verify(type, request, { auth, secrets }, nowS * 1000);
  return verified.ok ? "ok" : verified.reason;
};
