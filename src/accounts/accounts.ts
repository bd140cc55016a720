import type { AccountRejection } from "../../domain/account/commands.ts";
import type { OpenAccount } from "../../domain/account/decider.ts";
import type { Claim } from "../../domain/account/email-claim.ts";
import type { Addressed, LinkMaker } from "../../domain/account/events.ts";
import type { Member } from "../../domain/account/membership-state.ts";
import type { Plan } from "../../domain/account/plans.ts";
import type { Client } from "../../domain/personal/events.ts";
import type { Position } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { derivedId } from "../../infra/crypto/ids.ts";
import type { Passwords } from "../../infra/crypto/passwords.ts";
import type { SecretBox } from "../../infra/crypto/secret-box.ts";
import type { PersonalData } from "../erasure/personal-data.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import type { Envelope } from "../streams/envelope.ts";
import type { AccountSubject } from "../streams/problems.ts";
import type { CredentialHashes } from "./credential-hashes.ts";

export type AccountsDeps = {
  readonly aggregates: Aggregates;
  readonly randomness: Randomness;
  readonly box: SecretBox;
  readonly personal: Pick<PersonalData, "keep" | "forget" | "read">;
  readonly passwords: Passwords;
  readonly hashes: Pick<CredentialHashes, "role" | "address">;
  readonly signupPlan: Plan["name"];
};

export const accountStream = (id: string): string => `account-${id}`;
/** `email` must already be normalised. */
export const addressOf = (email: string, hashes: Pick<CredentialHashes, "address">): string =>
  derivedId("eml_", hashes.address(email));

/** The stream's name has only the keyed hash of the address. */
export const emailStream = (address: string): string => `email-${address}`;

export const makerOf = ({ actor: { kind, id } }: Envelope): LinkMaker => ({
  kind: kind === "member" ? kind : "system",
  id,
});

export type AccountMember = { readonly account: OpenAccount; readonly member: { readonly id: string } & Member };

export type Signup = {
  /** This address is normalised, like every e-mail address here. */
  readonly email: string;
  readonly password: string;
  readonly name: string;
  readonly timeZone: string;
  readonly client: Client;
};

export type LinkUse = Addressed & {
  readonly account: string;
  readonly member: string;
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

/** `position` is undefined if no record was written. */
export type Joined = { readonly outcome: "joined"; readonly position: Position | undefined } & AccountMember;
type Removed = { readonly outcome: "removed"; readonly position: Position | undefined };
type Changed = { readonly outcome: "changed"; readonly position: Position | undefined };
export type Refused<R> = { readonly outcome: "refused"; readonly rejection: R };
export type AccountRefusal = Refused<AccountRejection>;
export const refused = <R>(rejection: R): Refused<R> => ({ outcome: "refused", rejection });

export type JoinRejection = "email-taken" | "overloaded" | AccountRejection;

/** The first record of a command has all that its later records need, so that a reactor completes it after a crash. */
export type Accounts = {
  /** `isFirst` uses up the start link before any record is written. False refuses the call with "link-gone". */
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
  memberOf(email: string): Promise<AccountSubject | null>;
  accept(use: LinkUse, envelope: Envelope): Promise<Joined | Refused<JoinRejection>>;
  reset(use: LinkUse, envelope: Envelope): Promise<Joined | Refused<"overloaded" | AccountRejection>>;
  /** Ends all sessions of the member except `keeps`. */
  changePassword(
    change: PasswordChange,
    envelope: Envelope,
  ): Promise<Changed | Refused<"invalid-credentials" | "overloaded" | AccountRejection>>;
  removeMember(member: string, envelope: Envelope): Promise<Removed | Refused<AccountRejection>>;
  /** Adds the member who claimed an address; if the account refuses the member, the address is released. */
  finishClaim(claim: Claim, envelope: Envelope): Promise<Joined | Refused<AccountRejection>>;
  releaseEmail(member: { account: string; id: string; address: string }, envelope: Envelope): Promise<void>;
};

export const accountMember = (state: OpenAccount, id: string): AccountMember | null => {
  const member = state.members.get(id);
  return member === undefined ? null : { account: state, member: { id, ...member } };
};
