import { account } from "../../domain/account/decider.ts";
import { type Claim, emailClaim } from "../../domain/account/email-claim.ts";
import type { Words } from "../../domain/personal/words.ts";
import type { Envelope } from "../streams/envelope.ts";
import {
  type Accounts,
  type AccountsDeps,
  accountMember,
  accountStream,
  emailStream,
  type Joined,
  type JoinRejection,
  type LinkUse,
  type Refused,
  refused,
} from "./accounts.ts";
import type { MemberPasswords } from "./member-passwords.ts";

type NewClaim = Omit<Claim, "email" | "password" | "client">;

/** The address of an invited person is kept already. */
type NewMember = Pick<LinkUse, "password" | "client"> & { readonly email: string | Words };

export type EmailClaims = Pick<Accounts, "finishClaim" | "releaseEmail"> & {
  join(
    claim: NewClaim,
    use: NewMember,
    envelope: Envelope,
    isFirst?: () => Promise<boolean>,
  ): Promise<Joined | Refused<JoinRejection>>;
};

type EmailClaimsDeps = Pick<AccountsDeps, "aggregates" | "personal"> & {
  readonly passwords: MemberPasswords;
};

/** An address is claimed in its own stream before its member is added, so that no two members have the same. */
export const emailClaims = ({ aggregates, personal, passwords }: EmailClaimsDeps): EmailClaims => {
  const releaseEmail: Accounts["releaseEmail"] = async ({ account, id, address }, cause) => {
    const command = { type: "ReleaseEmail", account, member: id, at: cause.at } as const;
    // The request and the reactor use the same command id, so that the second of them appends nothing.
    await aggregates.handle(emailClaim, emailStream(address), command, {
      ...cause,
      account,
      commandId: `release-${id}`,
    });
  };

  const finishClaim: Accounts["finishClaim"] = async (claim, cause) => {
    const { member, email, address, opens, password, client, at } = claim;
    const envelope = { ...cause, account: claim.account, commandId: `join-${member}` };
    const { state: held } = await aggregates.load(emailClaim, emailStream(address), 0);
    // Without this check, a member whose address was released meanwhile would be added and could never log in.
    if (held.phase === "free" || held.claim.member !== member) return refused("link-gone");
    const joined = await aggregates.handle(
      account,
      accountStream(claim.account),
      opens === null
        ? { type: "AcceptInvitation", member, password, client, at }
        : { type: "OpenAccount", account: claim.account, ...opens, member, email, address, password, client, at },
      envelope,
    );
    if (joined.outcome === "rejected") {
      await releaseEmail({ account: claim.account, id: member, address }, cause);
      return refused(joined.rejection);
    }
    const found = joined.state.phase === "open" ? accountMember(joined.state, member) : null;
    if (found === null) return refused("member-absent");
    return { outcome: "joined", position: joined.position, ...found };
  };

  /** The password's slow hash is made only if the address seems to be free. */
  const join = async (
    claim: NewClaim,
    { email: given, password, client: from }: NewMember,
    envelope: Envelope,
    isFirst: () => Promise<boolean> = async () => true,
  ): Promise<Joined | Refused<JoinRejection>> => {
    const stream = emailStream(claim.address);
    const { state } = await aggregates.load(emailClaim, stream, 0);
    if (state.phase === "claimed") return refused(state.claim.member === claim.member ? "link-gone" : "email-taken");
    const sealed = await passwords.seal({ account: claim.account, member: claim.member }, password);
    if (sealed === "overloaded") return refused(sealed);
    if (!(await isFirst())) return refused("link-gone");

    // The claim names them, and a crash may keep the member from being added for longer than what no record names stays.
    const client = await personal.keep(stream, from, envelope);
    const email = typeof given === "string" ? await personal.keep(stream, given, envelope) : given;
    const command = { type: "ClaimEmail", ...claim, email, password: sealed, client } as const;
    // The id names the command too: if two people use one link at once, neither claim passes for a repeat of the other.
    const commandId = `claim-${claim.member}-${envelope.commandId}`;
    const claimed = await aggregates.handle(emailClaim, stream, command, { ...envelope, commandId });
    const held = claimed.state;
    // No two sealed passwords are equal, so a different one means that another call has the claim.
    if (claimed.outcome === "rejected" || held.phase === "free" || held.claim.password !== sealed) {
      // Personal data that no record names is erased now; that of a released claim is erased with the claim.
      if (held.phase === "claimed") {
        await personal.forget(client);
        if (typeof given === "string") await personal.forget(email);
      }
      return refused(claimed.outcome === "rejected" ? claimed.rejection : "link-gone");
    }
    return await finishClaim(held.claim, envelope);
  };

  return { finishClaim, releaseEmail, join };
};
