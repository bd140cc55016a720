import type { AccountRejection } from "../../domain/account/commands.ts";
import { account, type OpenAccount } from "../../domain/account/decider.ts";
import { type Claim, emailClaim } from "../../domain/account/email-claim.ts";
import type { LinkMaker } from "../../domain/account/events.ts";
import type { Member } from "../../domain/account/membership.ts";
import type { Plan } from "../../domain/account/plans.ts";
import type { Client } from "../../domain/personal/events.ts";
import type { Position } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import type { Sealed } from "../../domain/sealed.ts";
import { derivedId, randomId } from "../../infra/crypto/ids.ts";
import type { Passwords } from "../../infra/crypto/passwords.ts";
import type { SealedAt, SecretBox } from "../../infra/crypto/secret-box.ts";
import type { PersonalData } from "../erasure/personal-data.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import type { Envelope } from "../streams/envelope.ts";
import type { Concerned } from "../streams/problems.ts";
import type { CredentialHashes } from "./credential-hashes.ts";

export type AccountsDeps = {
  readonly aggregates: Aggregates;
  readonly randomness: Randomness;
  readonly box: SecretBox;
  readonly personal: Pick<PersonalData, "keep" | "forget">;
  readonly passwords: Passwords;
  readonly hashes: Pick<CredentialHashes, "role" | "address">;
  readonly signupPlan: Plan["name"];
};

export const accountStream = (id: string): string => `account-${id}`;
/** Takes a normalised address; the stream's name has only a hash of it. */
export const emailStream = (email: string, hashes: Pick<CredentialHashes, "address">): string =>
  `email-${derivedId("eml_", hashes.address(email))}`;

export const makerOf = ({ actor: { kind, id } }: Envelope): LinkMaker => ({
  kind: kind === "member" ? kind : "system",
  id,
});

export type Belonging = { readonly account: OpenAccount; readonly member: { readonly id: string } & Member };

export type Signup = {
  /** Normalised; every address in this file is. */
  readonly email: string;
  readonly password: string;
  readonly name: string;
  readonly timeZone: string;
  readonly client: Client;
};

export type LinkUse = {
  readonly account: string;
  readonly member: string;
  readonly email: string;
  readonly mac: string;
  readonly password: string;
  readonly client: Client;
};

type PasswordChange = {
  readonly member: string;
  readonly current: string;
  readonly next: string;
  readonly keeps: string;
  readonly client: Client;
};

/** `position` is undefined if nothing had to be written. */
export type Joined = { readonly outcome: "joined"; readonly position: Position | undefined } & Belonging;
type Removed = { readonly outcome: "removed"; readonly position: Position | undefined };
type Changed = { readonly outcome: "changed"; readonly position: Position | undefined };
export type Refused<R> = { readonly outcome: "refused"; readonly rejection: R };
export type AccountRefusal = Refused<AccountRejection>;
export const refused = <R>(rejection: R): Refused<R> => ({ outcome: "refused", rejection });

type JoinRejection = "email-taken" | "overloaded" | AccountRejection;

/** Commands over several streams. The first record has all that the others need, so a crash leaves nothing undone. */
export type Accounts = {
  /** `isFirst` runs before anything is written; if it resolves to false, the call is refused with "link-gone". */
  signUp(
    signup: Signup,
    envelope: Envelope,
    isFirst?: (ids: { readonly account: string; readonly member: string }, envelope: Envelope) => Promise<boolean>,
  ): Promise<Joined | Refused<JoinRejection>>;
  logIn(
    email: string,
    password: string,
    envelope: Envelope,
  ): Promise<Joined | Refused<"invalid-credentials" | "overloaded">>;
  memberOf(email: string): Promise<Concerned | null>;
  accept(use: LinkUse, envelope: Envelope): Promise<Joined | Refused<JoinRejection>>;
  /** Ends all sessions of the member. */
  reset(use: LinkUse, envelope: Envelope): Promise<Joined | Refused<"overloaded" | AccountRejection>>;
  /** Ends all sessions of the member except `keeps`, which is a session's id. */
  changePassword(
    change: PasswordChange,
    envelope: Envelope,
  ): Promise<Changed | Refused<"invalid-credentials" | "overloaded" | AccountRejection>>;
  removeMember(member: string, envelope: Envelope): Promise<Removed | Refused<AccountRejection>>;
  /** Adds the claim's member, or releases the address if the account refuses. */
  finishClaim(claim: Claim, envelope: Envelope): Promise<Joined | Refused<AccountRejection>>;
  releaseEmail(member: { account: string; id: string; email: string }, envelope: Envelope): Promise<void>;
};

export const belongingTo = (state: OpenAccount, id: string): Belonging | null => {
  const member = state.members.get(id);
  return member === undefined ? null : { account: state, member: { id, ...member } };
};

/** The sealed hash is bound to the member: copied into another member's record, it does not open. */
const passwordPlace = (account: string, member: string): SealedAt => ({
  account,
  stream: accountStream(account),
  field: `password/${member}`,
});

export const accounts = ({
  aggregates,
  randomness,
  box,
  personal,
  passwords,
  hashes,
  signupPlan,
}: AccountsDeps): Accounts => {
  const streamOf = (email: string): string => emailStream(email, hashes);

  const sealedHash = async (account: string, member: string, password: string): Promise<Sealed | "overloaded"> => {
    const hashed = await passwords.hash(password);
    return hashed === "overloaded" ? hashed : box.seal(hashed.hash, passwordPlace(account, member));
  };

  const releaseEmail: Accounts["releaseEmail"] = async ({ account, id, email }, cause) => {
    const command = { type: "ReleaseEmail", account, member: id, at: cause.at } as const;
    // The caller and the process manager use the same command id, so their events are the same.
    await aggregates.handle(emailClaim, streamOf(email), command, { ...cause, account, commandId: `release-${id}` });
  };

  const finishClaim: Accounts["finishClaim"] = async (claim, cause) => {
    const { member, email, opens, password, client, at } = claim;
    const envelope = { ...cause, account: claim.account, commandId: `join-${member}` };
    const { state: address } = await aggregates.load(emailClaim, streamOf(email), 0);
    // The address was released since: a member added now could never log in.
    if (address.phase === "free" || address.claim.member !== member) return refused("link-gone");
    const joined = await aggregates.handle(
      account,
      accountStream(claim.account),
      opens === null
        ? { type: "AcceptInvitation", member, password, client, at }
        : { type: "OpenAccount", account: claim.account, ...opens, member, email, password, client, at },
      envelope,
    );
    if (joined.outcome === "rejected") {
      await releaseEmail({ account: claim.account, id: member, email }, cause);
      return refused(joined.rejection);
    }
    const belonging = joined.state.phase === "open" ? belongingTo(joined.state, member) : null;
    if (belonging === null) return refused("member-absent");
    return { outcome: "joined", position: joined.position, ...belonging };
  };

  /** The slow hash is made only if the address looks free. */
  const join = async (
    claim: Omit<Claim, "password" | "client">,
    { password, client: from }: Pick<LinkUse, "password" | "client">,
    envelope: Envelope,
    isFirst: () => Promise<boolean> = async () => true,
  ): Promise<Joined | Refused<JoinRejection>> => {
    const stream = streamOf(claim.email);
    const { state } = await aggregates.load(emailClaim, stream, 0);
    if (state.phase === "claimed") return refused(state.claim.member === claim.member ? "link-gone" : "email-taken");
    const sealed = await sealedHash(claim.account, claim.member, password);
    if (sealed === "overloaded") return refused(sealed);
    if (!(await isFirst())) return refused("link-gone");

    // The records of the claim and the member refer to this value.
    const client = await personal.keep(accountStream(claim.account), from, envelope);
    const command = { type: "ClaimEmail", ...claim, password: sealed, client } as const;
    // If two people use one link at once, neither claim must pass for a repeat of the other.
    const commandId = `claim-${claim.member}-${envelope.commandId}`;
    const claimed = await aggregates.handle(emailClaim, stream, command, { ...envelope, commandId });
    const held = claimed.state;
    // No two sealed values are equal: another value is another call's.
    if (claimed.outcome === "rejected" || held.phase === "free" || held.claim.password !== sealed) {
      // The record of a released claim refers to the value, which then is erased with the claim.
      if (held.phase === "claimed") await personal.forget(client);
      return refused(claimed.outcome === "rejected" ? claimed.rejection : "link-gone");
    }
    return await finishClaim(held.claim, envelope);
  };

  return {
    finishClaim,
    releaseEmail,

    async signUp({ email, password, name, timeZone, client }, call, isFirst = async () => true) {
      // Random: ids derived from the command could be chosen by the caller, who has no credential.
      const id = randomId("acc_", randomness);
      const member = randomId("mem_", randomness);
      const envelope: Envelope = { ...call, account: id, actor: { kind: "member", id: member } };
      // Granted only here: a claim that was rewritten in the log's file must not make an owner.
      const grant = hashes.role({ account: id, member, role: "owner" });
      const opens = { name, plan: signupPlan, time_zone: timeZone, grant };
      const claim = { account: id, member, email, opens, at: call.at };
      return await join(claim, { password, client }, envelope, () => isFirst({ account: id, member }, envelope));
    },

    async memberOf(email) {
      const { state } = await aggregates.load(emailClaim, streamOf(email));
      return state.phase === "free" ? null : { account: state.claim.account, subject: state.claim.member };
    },

    async logIn(email, password, call) {
      const { state } = await aggregates.load(emailClaim, streamOf(email), 0);
      const claim = state.phase === "claimed" ? state.claim : null;
      // An unknown address causes the same reads, so timing does not give it away.
      const owner = claim?.account ?? derivedId("acc_", email);
      const { state: there } = await aggregates.load(account, accountStream(owner), 0);
      const belonging = claim === null || there.phase !== "open" ? null : belongingTo(there, claim.member);
      // Without a member, a crash came before the account's record, or the member was removed.
      const sealed = belonging?.member.password ?? claim?.password ?? null;
      const hash = sealed && claim && box.open(sealed, passwordPlace(claim.account, claim.member));
      const checked = await passwords.verify(hash, password);
      if (checked === "overloaded") return refused("overloaded");
      if (checked === "wrong" || claim === null) return refused("invalid-credentials");
      // The epoch is from before the check, so a concurrent password change ends the session.
      if (belonging !== null) return { outcome: "joined", position: undefined, ...belonging };
      const actor = { kind: "member", id: claim.member } as const;
      const finished = await finishClaim(claim, { ...call, account: claim.account, actor });
      return finished.outcome === "joined" ? finished : refused("invalid-credentials");
    },

    async accept({ account: id, member, email, ...use }, call) {
      const envelope: Envelope = { ...call, account: id, actor: { kind: "member", id: member } };
      return await join({ account: id, member, email, opens: null, at: call.at }, use, envelope);
    },

    async reset({ account: id, member, mac, password, client: from }, call) {
      const sealed = await sealedHash(id, member, password);
      if (sealed === "overloaded") return refused(sealed);
      const envelope: Envelope = { ...call, account: id, actor: { kind: "member", id: member } };
      const client = await personal.keep(accountStream(id), from, envelope);
      const command = { type: "ResetPassword", member, mac, password: sealed, client, at: call.at } as const;
      const set = await aggregates.handle(account, accountStream(id), command, envelope);
      if (set.outcome === "rejected") {
        await personal.forget(client);
        return refused(set.rejection);
      }
      const belonging = set.state.phase === "open" ? belongingTo(set.state, member) : null;
      if (belonging?.member.password !== sealed) return refused("link-gone");
      return { outcome: "joined", position: set.position, ...belonging };
    },

    async changePassword({ member, current, next, keeps, client: from }, envelope) {
      const stream = accountStream(envelope.account);
      const { state } = await aggregates.load(account, stream, 0);
      const verified = state.phase === "open" ? state.members.get(member)?.password : undefined;
      if (verified === undefined) return refused("member-absent");
      const checked = await passwords.verify(box.open(verified, passwordPlace(envelope.account, member)), current);
      if (checked === "overloaded") return refused("overloaded");
      if (checked === "wrong") return refused("invalid-credentials");
      const password = await sealedHash(envelope.account, member, next);
      if (password === "overloaded") return refused("overloaded");
      const client = await personal.keep(stream, from, envelope);
      const command = { type: "ChangePassword", member, verified, password, client, keeps, at: envelope.at } as const;
      const changed = await aggregates.handle(account, stream, command, envelope);
      if (changed.outcome === "rejected") {
        await personal.forget(client);
        return refused(changed.rejection === "password-changed" ? "invalid-credentials" : changed.rejection);
      }
      return { outcome: "changed", position: changed.position };
    },

    async removeMember(member, envelope) {
      const stream = accountStream(envelope.account);
      const before = await aggregates.load(account, stream, 0);
      const leaving = before.state.phase === "open" ? before.state.members.get(member) : undefined;
      const command = { type: "RemoveMember", member, by: makerOf(envelope), at: envelope.at } as const;
      const removed = await aggregates.handle(account, stream, command, envelope);
      if (removed.outcome === "rejected") return refused(removed.rejection);
      if (leaving !== undefined)
        await releaseEmail({ account: envelope.account, id: member, email: leaving.email }, envelope);
      return { outcome: "removed", position: removed.position };
    },
  };
};
