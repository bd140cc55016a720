import { accept, type Decider, type Decision, reject } from "../decider.ts";
import type { AccountCommand, AccountRejection } from "./commands.ts";
import type { AccountEvent, KeyRole, Role } from "./events.ts";
import { decideSubscription, evolveSubscription, openedWith, type Subscription } from "./subscription.ts";

export type Member = { readonly email: string; readonly role: Role };

export type ApiKey = {
  readonly role: KeyRole;
  /** Hex SHA-256 of the whole key. */
  readonly digest: string;
  readonly expires_at: string | null;
};

export type OpenAccount = {
  readonly phase: "open";
  readonly account: string;
  readonly name: string;
  readonly subscription: Subscription;
  readonly time_zone: string;
  readonly members: ReadonlyMap<string, Member>;
  readonly keys: ReadonlyMap<string, ApiKey>;
  /** Members and keys that were there: an old command that comes again must not bring one back. */
  readonly gone: ReadonlySet<string>;
};

export type AccountState = { readonly phase: "absent" } | OpenAccount;

/** A team's worth of people, and a bound on what one stream folds to. */
export const MEMBERS_MAX = 200;
/** One for each program that calls; expired ones are not counted. */
export const API_KEYS_MAX = 100;

/** Times are ISO-8601 UTC with milliseconds, which compare as text. */
export const isExpired = (key: Pick<ApiKey, "expires_at">, at: string): boolean =>
  key.expires_at !== null && key.expires_at <= at;

const withEntry = <V>(map: ReadonlyMap<string, V>, id: string, value: V): ReadonlyMap<string, V> =>
  new Map(map).set(id, value);

const without = <V>(map: ReadonlyMap<string, V>, id: string): ReadonlyMap<string, V> => {
  const rest = new Map(map);
  rest.delete(id);
  return rest;
};

/** The newest only: whatever repeats a command does so within days, and each removal copies this. */
const GONE_MAX = 1_000;

const withGone = (gone: ReadonlySet<string>, id: string): ReadonlySet<string> =>
  new Set([...(gone.size < GONE_MAX ? gone : [...gone].slice(1)), id]);

type Decided = Decision<AccountEvent, AccountRejection>;
type CommandOf<T extends AccountCommand["type"]> = Extract<AccountCommand, { type: T }>;

const addMember = ({ member, email, role, at }: CommandOf<"AddMember">, state: OpenAccount): Decided => {
  if (state.members.has(member) || state.gone.has(member)) return accept();
  if (state.members.size >= MEMBERS_MAX) return reject("member-limit");
  return accept({ type: "MemberAdded", data: { account: state.account, member, email, role, at } });
};

const removeMember = ({ member, at }: CommandOf<"RemoveMember">, state: OpenAccount): Decided => {
  const leaving = state.members.get(member);
  if (leaving === undefined) return reject("member-absent");
  const owners = [...state.members.values()].filter(({ role }) => role === "owner").length;
  // Without an owner nobody could ever change who belongs to the account.
  if (leaving.role === "owner" && owners === 1) return reject("last-owner");
  return accept({ type: "MemberRemoved", data: { account: state.account, member, email: leaving.email, at } });
};

const createKey = ({ type: _, ...key }: CommandOf<"CreateApiKey">, state: OpenAccount): Decided => {
  if (state.keys.has(key.key_id) || state.gone.has(key.key_id)) return accept();
  if (isExpired(key, key.at)) return reject("expiry-past");
  const active = [...state.keys.values()].filter((it) => !isExpired(it, key.at)).length;
  if (active >= API_KEYS_MAX) return reject("key-limit");
  return accept({ type: "ApiKeyCreated", data: { account: state.account, ...key } });
};

/** Stream `account-<id>`: who belongs to it and which keys speak for it. */
export const account: Decider<AccountState, AccountCommand, AccountEvent, AccountRejection> = {
  initial: { phase: "absent" },

  evolve(state, event) {
    if (event.type === "AccountOpened") {
      const { account, name, plan, time_zone } = event.data;
      const empty = { members: new Map(), keys: new Map(), gone: new Set<string>() };
      return { phase: "open", account, name, subscription: openedWith(plan), time_zone, ...empty };
    }
    if (state.phase === "absent") return state;
    switch (event.type) {
      case "MemberAdded": {
        const { member, email, role } = event.data;
        return { ...state, members: withEntry(state.members, member, { email, role }) };
      }
      case "MemberRemoved": {
        const { member } = event.data;
        return { ...state, members: without(state.members, member), gone: withGone(state.gone, member) };
      }
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
        // A type that this build does not know.
        return state;
    }
  },

  decide(command, state) {
    if (command.type === "OpenAccount") {
      // A repeat, or the process manager that finishes an opening: the account is there, nothing is left to do.
      if (state.phase === "open") return accept();
      const { account, name, plan, time_zone, member, email, role, at } = command;
      return accept<AccountEvent>(
        { type: "AccountOpened", data: { account, name, plan, time_zone, at } },
        { type: "MemberAdded", data: { account, member, email, role, at } },
      );
    }
    if (state.phase === "absent") return reject("account-absent");
    switch (command.type) {
      case "AddMember":
        return addMember(command, state);
      case "RemoveMember":
        return removeMember(command, state);
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
