import type { AccountRejection } from "../domain/account/commands.ts";
import { account, type Member, type OpenAccount } from "../domain/account/decider.ts";
import { type Claim, emailClaim } from "../domain/account/email-claim.ts";
import type { Role } from "../domain/account/events.ts";
import type { Plan } from "../domain/account/plans.ts";
import type { Position, Randomness } from "../domain/ports.ts";
import { derivedId, randomId } from "../infra/crypto/ids.ts";
import type { Passwords } from "../infra/crypto/passwords.ts";
import type { SecretBox } from "../infra/crypto/secret-box.ts";
import type { Aggregates } from "./aggregates.ts";
import type { Envelope } from "./envelope.ts";

export type AccountsDeps = {
  readonly aggregates: Aggregates;
  readonly randomness: Randomness;
  readonly box: SecretBox;
  readonly passwords: Passwords;
  /** The plan of a new account; "free" unless configured. */
  readonly signupPlan: Plan["name"];
};

export const accountStream = (id: string): string => `account-${id}`;
/** Of a normalised address. The address itself is in no stream's name. */
export const emailStream = (email: string): string => `email-${derivedId("eml_", email)}`;

/** A person who is known to be a member, with the account as it stands. */
export type Belonging = { readonly account: OpenAccount; readonly member: { readonly id: string } & Member };

export type Signup = {
  /** Normalised, as everywhere here. */
  readonly email: string;
  /** Normalised and strong enough. */
  readonly password: string;
  readonly name: string;
  readonly timeZone: string;
};

export type NewMember = { readonly email: string; readonly password: string; readonly role: Role };

/** `position`: undefined when nothing had to be written. */
export type Joined = { readonly outcome: "joined"; readonly position: Position | undefined } & Belonging;
export type Removed = { readonly outcome: "removed"; readonly position: Position | undefined };
type Refused<R> = { readonly outcome: "refused"; readonly rejection: R };
const refused = <R>(rejection: R): Refused<R> => ({ outcome: "refused", rejection });

type JoinRejection = "email-taken" | "overloaded" | AccountRejection;

/** What takes several streams. Each step is idempotent and the first one carries all that the rest needs, so that
 * whoever comes second, the caller or the process manager after a crash, finishes what was begun. */
export type Accounts = {
  signUp(signup: Signup, envelope: Envelope): Promise<Joined | Refused<JoinRejection>>;
  logIn(
    email: string,
    password: string,
    envelope: Envelope,
  ): Promise<Joined | Refused<"invalid-credentials" | "overloaded">>;
  addMember(member: NewMember, envelope: Envelope): Promise<Joined | Refused<JoinRejection>>;
  removeMember(member: string, envelope: Envelope): Promise<Removed | Refused<AccountRejection>>;
  /** Makes the member that a claim is for, or releases the address when the account refuses. */
  finishClaim(claim: Claim, envelope: Envelope): Promise<Joined | Refused<AccountRejection>>;
  releaseEmail(member: { account: string; id: string; email: string }, envelope: Envelope): Promise<void>;
};

export const belongingTo = (state: OpenAccount, id: string): Belonging | null => {
  const member = state.members.get(id);
  return member === undefined ? null : { account: state, member: { id, ...member } };
};

export const accounts = ({ aggregates, randomness, box, passwords, signupPlan }: AccountsDeps): Accounts => {
  const releaseEmail: Accounts["releaseEmail"] = async ({ account, id, email }, cause) => {
    const command = { type: "ReleaseEmail", account, member: id, at: cause.at } as const;
    // Named after the member, as below: the caller and the process manager mint the same events.
    await aggregates.handle(emailClaim, emailStream(email), command, { ...cause, account, commandId: `release-${id}` });
  };

  const finishClaim: Accounts["finishClaim"] = async (claim, cause) => {
    const { member, email, role, opens, at } = claim;
    const envelope = { ...cause, account: claim.account, commandId: `join-${member}` };
    const { state: address } = await aggregates.load(emailClaim, emailStream(email), 0);
    // Released since, as the account had no room: a member who comes in later could never log in, and would count as one.
    if (address.phase === "free" || address.claim.member !== member) return refused("member-limit");
    const joined = await aggregates.handle(
      account,
      accountStream(claim.account),
      opens === null
        ? { type: "AddMember", member, email, role, at }
        : { type: "OpenAccount", account: claim.account, ...opens, member, email, role, at },
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

  /** Claims the address, then joins. The slow hash is made only when the address looks free. */
  const join = async (
    claim: Omit<Claim, "password">,
    password: string,
    envelope: Envelope,
  ): Promise<Joined | Refused<JoinRejection>> => {
    const stream = emailStream(claim.email);
    const { state } = await aggregates.load(emailClaim, stream, 0);
    if (state.phase === "claimed" && state.claim.member !== claim.member) return refused("email-taken");
    const hashed = await passwords.hash(password);
    if (hashed === "overloaded") return refused("overloaded");

    const sealed = box.seal(hashed.hash, { account: claim.account, stream, field: "password" });
    const command = { type: "ClaimEmail", ...claim, password: sealed } as const;
    const claimed = await aggregates.handle(emailClaim, stream, command, {
      ...envelope,
      commandId: `claim-${claim.member}`,
    });
    if (claimed.outcome === "rejected") return refused(claimed.rejection);
    const held = claimed.state;
    // The repeat of a command that the account refused: its claim was made and released then.
    if (held.phase === "free" || held.claim.member !== claim.member) return refused("member-limit");
    return await finishClaim(held.claim, envelope);
  };

  return {
    finishClaim,
    releaseEmail,

    async signUp({ email, password, name, timeZone }, call) {
      // Random and not derived from the command: a signup has no credential, and nobody may choose another's ids.
      const id = randomId("acc_", randomness);
      const member = randomId("mem_", randomness);
      const envelope: Envelope = { ...call, account: id, actor: { kind: "member", id: member } };
      const opens = { name, plan: signupPlan, time_zone: timeZone };
      return await join({ account: id, member, email, role: "owner", opens, at: call.at }, password, envelope);
    },

    async logIn(email, password, call) {
      const stream = emailStream(email);
      const { state } = await aggregates.load(emailClaim, stream, 0);
      const claim = state.phase === "claimed" ? state.claim : null;
      const hash = claim && box.open(claim.password, { account: claim.account, stream, field: "password" });
      const checked = await passwords.verify(hash, password);
      if (checked === "overloaded") return refused("overloaded");
      if (checked === "wrong" || claim === null) return refused("invalid-credentials");

      const there = await aggregates.load(account, accountStream(claim.account), 0);
      const belonging = there.state.phase === "open" ? belongingTo(there.state, claim.member) : null;
      if (belonging !== null) return { outcome: "joined", position: undefined, ...belonging };
      // The process ended between the claim and the account, or the member was removed: then this changes nothing.
      const actor = { kind: "member", id: claim.member } as const;
      const finished = await finishClaim(claim, { ...call, account: claim.account, actor });
      return finished.outcome === "joined" ? finished : refused("invalid-credentials");
    },

    async addMember({ email, password, role }, envelope) {
      const member = derivedId("mem_", envelope.account, envelope.commandId);
      const claim = { account: envelope.account, member, email, role, opens: null, at: envelope.at };
      return await join(claim, password, envelope);
    },

    async removeMember(member, envelope) {
      const stream = accountStream(envelope.account);
      const before = await aggregates.load(account, stream, 0);
      const leaving = before.state.phase === "open" ? before.state.members.get(member) : undefined;
      const command = { type: "RemoveMember", member, at: envelope.at } as const;
      const removed = await aggregates.handle(account, stream, command, envelope);
      if (removed.outcome === "rejected") return refused(removed.rejection);
      if (leaving !== undefined)
        await releaseEmail({ account: envelope.account, id: member, email: leaving.email }, envelope);
      return { outcome: "removed", position: removed.position };
    },
  };
};
