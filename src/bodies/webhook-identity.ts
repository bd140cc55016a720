import type { DedupeRule, ProviderType } from "../../domain/source/events.ts";
import { BodyContent } from "../gates/incoming-request.ts";
import { type Identity, identify } from "../providers/identify.ts";
import type { WebhookRequest } from "../providers/request.ts";

export type IdentityOrder = Omit<WebhookRequest, "json" | "body"> & {
  readonly type: ProviderType;
  readonly dedupe: DedupeRule | null;
  readonly body: Uint8Array;
};

export const identityOf = ({ type, dedupe, body, ...rest }: IdentityOrder): Identity => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const { json } = new BodyContent(bytes);
  return identify(type, { ...rest, body: bytes, json }, dedupe);
};
