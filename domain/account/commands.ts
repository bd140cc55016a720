import type { KeyRole, Role } from "./events.ts";
import type { SubscriptionCommand } from "./subscription.ts";

/** Each command carries its time (ISO-8601 UTC) and its ids: nothing here looks at a clock. */
export type AccountCommand =
  | {
      readonly type: "OpenAccount";
      readonly account: string;
      readonly name: string;
      readonly plan: string;
      readonly time_zone: string;
      readonly member: string;
      readonly email: string;
      readonly role: Role;
      readonly at: string;
    }
  | {
      readonly type: "AddMember";
      readonly member: string;
      readonly email: string;
      readonly role: Role;
      readonly at: string;
    }
  | { readonly type: "RemoveMember"; readonly member: string; readonly at: string }
  | {
      readonly type: "CreateApiKey";
      readonly key_id: string;
      readonly name: string;
      readonly role: KeyRole;
      readonly digest: string;
      readonly last4: string;
      readonly expires_at: string | null;
      readonly at: string;
    }
  | { readonly type: "RevokeApiKey"; readonly key_id: string; readonly at: string }
  | SubscriptionCommand;

export type AccountRejection =
  | "account-absent"
  | "member-absent"
  | "member-limit"
  | "last-owner"
  | "key-absent"
  | "key-limit"
  | "expiry-past";
