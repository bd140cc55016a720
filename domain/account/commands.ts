import type { Commitment } from "../evidence/commitment.ts";
import type { Words } from "../personal/words.ts";
import type { Sealed } from "../sealed.ts";
import type { KeyRole } from "./events.ts";
import type { MembershipCommand, MembershipRejection } from "./membership.ts";
import type { SubscriptionCommand } from "./subscription.ts";

/** Each command carries its time (ISO-8601 UTC) and its ids, because a decider has neither a clock nor randomness. */
export type AccountCommand =
  | {
      readonly type: "OpenAccount";
      readonly account: string;
      readonly name: string;
      readonly plan: string;
      readonly time_zone: string;
      readonly member: string;
      readonly email: Words;
      readonly address: string;
      readonly grant: string;
      readonly password: Sealed;
      readonly client: Commitment;
      readonly at: string;
    }
  | {
      readonly type: "ChangeAccount";
      readonly changes: { readonly name?: string; readonly time_zone?: string };
      readonly at: string;
    }
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
  | MembershipCommand
  | SubscriptionCommand;

export type AccountRejection = MembershipRejection | "account-absent" | "key-absent" | "key-limit" | "expiry-past";
