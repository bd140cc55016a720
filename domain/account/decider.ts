import { accept, type Decider, type Decision, reject } from "../decider.ts";
import type { AccountCommand, AccountRejection } from "./commands.ts";
import type { AccountEvent, KeyRole } from "./events.ts";
import { decideMembership } from "./membership.ts";
import { evolveMembership, type Membership, withEntry, withGone, without } from "./membership-state.ts";
import { planNamed } from "./overage.ts";
import { decideSubscription, evolveSubscription, openedWith, planAt, type Subscription } from "./subscription.ts";

export type ApiKey = {
  readonly role: KeyRole;
  readonly digest: string;
  readonly expires_at: string | null;
};

/** `gone` lists the ids of removed members and revoked keys, so that a repeated command cannot make one anew. */
export type OpenAccount = Membership & {
  readonly phase: "open";
  readonly name: string;
  readonly subscription: Subscription;
  readonly time_zone: string;
  readonly keys: ReadonlyMap<string, ApiKey>;
};

export type AccountState = { readonly phase: "absent" } | OpenAccount;

export const API_KEYS_MAX = 100;

export const isExpired = (key: Pick<ApiKey, "expires_at">, at: string): boolean =>
  key.expires_at !== null && key.expires_at <= at;

const membersMax = ({ subscription }: OpenAccount, at: string): number =>
  planNamed(planAt(subscription, at)).counts.members;

type Decided = Decision<AccountEvent, AccountRejection>;
type CommandOf<T extends AccountCommand["type"]> = Extract<AccountCommand, { type: T }>;

/**
 * Budgets follow the time zone of the moment: where it is the next day already, that day's budgets begin at once, with
 * nothing spent. A day that has begun is never begun again (`src/ledgers/policy-days.ts`), so no date's budget is given twice.
 */
const changeAccount = ({ changes, at }: CommandOf<"ChangeAccount">, state: OpenAccount): Decided => {
  const { name = state.name, time_zone = state.time_zone } = changes;
  const changed = {
    ...(name === state.name ? {} : { name }),
    ...(time_zone === state.time_zone ? {} : { time_zone }),
  };
  if (Object.keys(changed).length === 0) return accept();
  return accept({ type: "AccountChanged", data: { account: state.account, changes: changed, at } });
};

const createKey = ({ type: _, ...key }: CommandOf<"CreateApiKey">, state: OpenAccount): Decided => {
  if (state.keys.has(key.key_id) || state.gone.has(key.key_id)) return accept();
  if (isExpired(key, key.at)) return reject("expiry-past");
  const active = [...state.keys.values()].filter((it) => !isExpired(it, key.at)).length;
  if (active >= API_KEYS_MAX) return reject("key-limit");
  return accept({ type: "ApiKeyCreated", data: { account: state.account, ...key } });
};

export const account: Decider<AccountState, AccountCommand, AccountEvent, AccountRejection> = {
  initial: { phase: "absent" },

  evolve(state, event) {
    if (event.type === "AccountOpened") {
      const { account, name, plan, time_zone } = event.data;
      const empty = { members: new Map(), invitations: new Map(), keys: new Map(), gone: new Set<string>() };
      return { phase: "open", account, name, subscription: openedWith(plan), time_zone, ...empty };
    }
    if (state.phase === "absent") return state;
    switch (event.type) {
      case "AccountChanged":
        return { ...state, ...event.data.changes };
      case "MemberInvited":
      case "InvitationWithdrawn":
      case "MemberAdded":
      case "MemberRemoved":
      case "MemberRoleChanged":
      case "ResetLinkMade":
      case "PasswordChanged":
      case "SessionsEnded":
        return { ...state, ...evolveMembership(state, event) };
      case "ApiKeyCreated": {
        const { key_id, role, digest, expires_at } = event.data;
        return { ...state, keys: withEntry(state.keys, key_id, { role, digest, expires_at }) };
      }
      case "ApiKeyRevoked": {
        const { key_id } = event.data;
        return { ...state, keys: without(state.keys, key_id), gone: withGone(state.gone, key_id) };
      }
      case "PlanChanged":
      case "DowngradeScheduled":
      case "DowngradeCancelled":
      case "SubscriptionChanged":
      case "OverageReported":
        return { ...state, subscription: evolveSubscription(state.subscription, event) };
      default:
        return state;
    }
  },

  decide(command, state) {
    if (command.type === "OpenAccount") {
      // The reactor repeats this command after a crash, so an account that is already open is no error.
      if (state.phase === "open") return accept();
      const { account, name, plan, time_zone, member, email, address, grant, password, client, at } = command;
      return accept<AccountEvent>(
        { type: "AccountOpened", data: { account, name, plan, time_zone, at } },
        {
          type: "MemberAdded",
          data: { account, member, email, address, role: "owner", grant, password, client, invited_by: null, at },
        },
      );
    }
    if (state.phase === "absent") return reject("account-absent");
    switch (command.type) {
      case "InviteMember":
      case "AcceptInvitation":
      case "RemoveMember":
      case "ChangeRole":
      case "MakeResetLink":
      case "ResetPassword":
      case "ChangePassword":
      case "EndSessions":
        return decideMembership(command, state, membersMax(state, command.at));
      case "ChangeAccount":
        return changeAccount(command, state);
      case "CreateApiKey":
        return createKey(command, state);
      case "RevokeApiKey": {
        const { key_id, at } = command;
        if (!state.keys.has(key_id)) return reject("key-absent");
        return accept({ type: "ApiKeyRevoked", data: { account: state.account, key_id, at } });
      }
      case "ChangePlan":
      case "FollowProvider":
      case "NameCustomer":
      case "RecordOverage":
        return decideSubscription(command, state.account, state.subscription);
    }
  },
};
