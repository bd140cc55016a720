import type { HmacAuth, ProviderType } from "../../domain/source/events.ts";
import { BodyContent } from "../../src/gates/incoming-request.ts";
import type { WebhookRequest } from "../../src/providers/request.ts";
import { verify } from "../../src/providers/verify.ts";

export const SOURCE_URL = "https://countersign.example/v1/webhooks/square/src_1";
export const NOW_S = 1_772_366_400;

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
  const bytes = Buffer.from(body);
  return { headers: joined, rawHeaders: sent.flat(), body: bytes, url, json: new BodyContent(bytes).json };
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
