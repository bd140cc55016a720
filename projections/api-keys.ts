import type { AccountEvent, ApiKeyEvent, KeyRole } from "../domain/account/events.ts";
import { eventOf, perDocument } from "./projection.ts";

export type ApiKeyDocument = {
  readonly account: string;
  readonly name: string;
  readonly role: KeyRole;
  readonly last4: string;
  readonly expires_at: string | null;
  readonly created_by: string;
  readonly created_at: string;
  /** The first use on the newest day of use, in the account's time zone; null if the key was never used. */
  readonly last_used_at: string | null;
};

const TYPES = ["ApiKeyCreated", "ApiKeyRevoked", "ApiKeyUsed"] as const;
type Shown = Extract<AccountEvent | ApiKeyEvent, { type: (typeof TYPES)[number] }>;
const SHOWN: ReadonlySet<string> = new Set(TYPES);

/** A revoked key has no document; the audit log still shows it. */
export const apiKeys = perDocument<ApiKeyDocument>(
  {
    name: "api-keys.v2",
    fields: { account: "text", created_at: "text" },
    indexes: [["account", "created_at"]],
  },
  ({ type, data }) => (SHOWN.has(type) ? String(data.key_id) : null),
  (document, recorded) => {
    const event = eventOf<Shown>(recorded);
    if (event.type === "ApiKeyRevoked") return null;
    if (event.type === "ApiKeyUsed") return document === null ? null : { ...document, last_used_at: event.data.at };
    const { account, name, role, last4, expires_at, at } = event.data;
    const created_by = recorded.meta.actor.id;
    return { account, name, role, last4, expires_at, created_by, created_at: at, last_used_at: null };
  },
);
