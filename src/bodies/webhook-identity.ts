import type { DedupeRule, ProviderType } from "../../domain/source/events.ts";
import { jsonOf } from "../gates/incoming-request.ts";
import { type Identity, identify } from "../providers/identify.ts";
import { type WebhookRequest, webhookRequest } from "../providers/request.ts";

export type IdentityOrder = Omit<WebhookRequest, "json" | "body"> & {
  readonly type: ProviderType;
  readonly dedupe: DedupeRule | null;
  readonly body: Uint8Array;
};

export const identityOf = ({ type, dedupe, body, ...rest }: IdentityOrder): Identity => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  return identify(type, webhookRequest({ ...rest, body: bytes }, jsonOf), dedupe);
};
