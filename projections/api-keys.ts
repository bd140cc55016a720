import type { AccountEvent, KeyRole } from "../domain/account/events.ts";
import { eventOf, perDocument } from "./projection.ts";

export type ApiKeyDocument = {
  readonly account: string;
  readonly name: string;
  readonly role: KeyRole;
  readonly last4: string;
  readonly expires_at: string | null;
  readonly created_by: string;
  readonly created_at: string;
};

/** A revoked key has no document; the audit log still shows it. */
export const apiKeys = perDocument<ApiKeyDocument>(
  {
    name: "api-keys.v1",
    fields: { account: "text", created_at: "text" },
    indexes: [["account", "created_at"]],
  },
  ({ type, data }) => (type === "ApiKeyCreated" || type === "ApiKeyRevoked" ? String(data.key_id) : null),
  (_document, recorded) => {
    const event = eventOf<Extract<AccountEvent, { type: "ApiKeyCreated" | "ApiKeyRevoked" }>>(recorded);
    if (event.type === "ApiKeyRevoked") return null;
    const { account, name, role, last4, expires_at, at } = event.data;
    return { account, name, role, last4, expires_at, created_by: recorded.meta.actor.id, created_at: at };
  },
);
