import { account } from "../../domain/account/decider.ts";
import type { Addressed, Role } from "../../domain/account/events.ts";
import { type Invitation, openInvitation, openReset } from "../../domain/account/membership-state.ts";
import type { Position } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import type { PersonalData } from "../erasure/personal-data.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import type { Envelope } from "../streams/envelope.ts";
import type { AccountSubject } from "../streams/problems.ts";
import { type AccountRefusal, accountStream, addressOf, makerOf, refused } from "./accounts.ts";
import type { CredentialHashes } from "./credential-hashes.ts";
import { LINK_LIFETIME_MS, type Links, memberToken, memberTokenOf } from "./links.ts";

export type MemberLinksDeps = {
  readonly aggregates: Pick<Aggregates, "load" | "handle">;
  readonly links: Links;
  readonly hashes: Pick<CredentialHashes, "role" | "address">;
  readonly personal: Pick<PersonalData, "keep" | "forget" | "shown">;
  readonly randomness: Randomness;
};

type Made = {
  readonly outcome: "made";
  readonly member: string;
  readonly email: string;
  readonly token: string;
  readonly expires_at: string;
  readonly position: Position | undefined;
};

type Opened = Addressed & { readonly account: string; readonly member: string; readonly mac: string };

type ReadInvitation = Pick<Invitation, "email" | "role" | "expires_at"> & {
  readonly account: string;
  readonly account_name: string;
  /** The address of the owner who invites. */
  readonly invited_by: Invitation["email"];
};

type ReadReset = {
  readonly account: string;
  readonly account_name: string;
  readonly email: Opened["email"];
  readonly expires_at: string;
};

/** Only an HMAC of a link is stored, so a repeated command cannot find the first link and makes a new one. */
export type MemberLinks = {
  invite(
    person: { readonly member: string; readonly email: string; readonly role: Role },
    envelope: Envelope,
  ): Promise<Made | AccountRefusal>;
  reset(member: string, envelope: Envelope, lifetimeMs?: number): Promise<Made | AccountRefusal>;
  /** Null for a link that is unknown, used, withdrawn, replaced or expired. */
  opened(purpose: "invitation" | "reset", token: string, at: string): Promise<Opened | null>;
  /** What an invitation says to whoever holds its link; null as for `opened`. Addresses are commitments. */
  invitation(token: string, at: string): Promise<ReadInvitation | null>;
  /** Whose password a reset link sets, in the same way. */
  resetLink(token: string, at: string): Promise<ReadReset | null>;
  /** The member whom a refused link names, or the account if there is no such member; null without an account. */
  namedIn(token: string): Promise<AccountSubject | null>;
};

const laterThan = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString();

type Stands = { readonly account: string; readonly member: string; readonly expires_at: string };
const ofInvitation = (
  { account, member, expires_at }: Stands,
  { address, role }: Pick<Invitation, "address" | "role">,
) => [...[account, member, expires_at], ...[address, role]];
const ofReset = ({ account, member, expires_at }: Stands) => [account, member, expires_at];

export const memberLinks = ({ aggregates, links, hashes, personal, randomness }: MemberLinksDeps): MemberLinks => {
  /** A repeated command makes another link, so its records need other ids. */
  const once = (envelope: Envelope): Envelope => ({ ...envelope, commandId: randomId("cmd_", randomness) });

  const invited = async (text: string, at: string) => {
    const token = memberTokenOf(text);
    if (token === null) return null;
    const { secret, ...named } = token;
    const { state } = await aggregates.load(account, accountStream(named.account), 0);
    const invitation = state.phase === "open" ? openInvitation(state, named.member, at) : undefined;
    if (state.phase !== "open" || invitation === undefined) return null;
    const stands = ofInvitation({ ...named, expires_at: invitation.expires_at }, invitation);
    return links.matches("invitation", secret, stands, invitation.mac) ? { state, named, invitation } : null;
  };

  const resetting = async (text: string, at: string) => {
    const token = memberTokenOf(text);
    if (token === null) return null;
    const { secret, ...named } = token;
    const { state } = await aggregates.load(account, accountStream(named.account), 0);
    if (state.phase !== "open") return null;
    const link = openReset(state, named.member, at);
    const member = state.members.get(named.member);
    if (link === undefined || member === undefined) return null;
    const stands = ofReset({ ...named, expires_at: link.expires_at });
    return links.matches("reset", secret, stands, link.mac) ? { state, named, link, member } : null;
  };

  return {
    async invite({ member, email: given, role }, envelope) {
      const { account: id, at } = envelope;
      const stands = { account: id, member, expires_at: laterThan(at, LINK_LIFETIME_MS.invitation) };
      const secret = links.secret();
      const address = addressOf(given, hashes);
      const mac = links.mac("invitation", secret, ofInvitation(stands, { address, role }));
      const { expires_at } = stands;
      const granted = { role, grant: hashes.role({ account: id, member, role }) };
      const email = await personal.keep(accountStream(id), given, once(envelope), { member });
      const person = { email, address, ...granted };
      const command = { type: "InviteMember", member, ...person, mac, expires_at, by: makerOf(envelope), at } as const;
      const handled = await aggregates.handle(account, accountStream(id), command, once(envelope));
      if (handled.outcome === "rejected") {
        await personal.forget(email);
        return refused(handled.rejection);
      }
      const token = memberToken({ secret, account: id, member });
      return { outcome: "made", member, email: given, token, expires_at, position: handled.position };
    },

    async reset(member, envelope, lifetimeMs = LINK_LIFETIME_MS.reset) {
      const { account: id, at } = envelope;
      const stands = { account: id, member, expires_at: laterThan(at, lifetimeMs) };
      const secret = links.secret();
      const mac = links.mac("reset", secret, ofReset(stands));
      const { expires_at } = stands;
      const command = { type: "MakeResetLink", member, mac, expires_at, by: makerOf(envelope), at } as const;
      const made = await aggregates.handle(account, accountStream(id), command, once(envelope));
      if (made.outcome === "rejected") return refused(made.rejection);
      const email = made.state.phase === "open" ? made.state.members.get(member)?.email : undefined;
      if (email === undefined) return refused("member-absent");
      const token = memberToken({ secret, account: id, member });
      const shown = await personal.shown(email, id);
      return { outcome: "made", member, email: shown, token, expires_at, position: made.position };
    },

    async opened(purpose, text, at) {
      if (purpose === "invitation") {
        const found = await invited(text, at);
        if (found === null) return null;
        const { email, address, mac } = found.invitation;
        return { ...found.named, email, address, mac };
      }
      const found = await resetting(text, at);
      if (found === null) return null;
      const { email, address } = found.member;
      return { ...found.named, email, address, mac: found.link.mac };
    },

    async resetLink(text, at) {
      const found = await resetting(text, at);
      if (found === null) return null;
      const { state, named, link, member } = found;
      const { email } = member;
      return { account: named.account, account_name: state.name, email, expires_at: link.expires_at };
    },

    async invitation(text, at) {
      const found = await invited(text, at);
      if (found === null) return null;
      const { state, named, invitation } = found;
      const { email, role, by, expires_at } = invitation;
      // An owner who leaves or loses the role withdraws their invitations, so the maker of an open one is a member.
      const invited_by = state.members.get(by.id)?.email;
      if (invited_by === undefined) return null;
      return { account: named.account, account_name: state.name, email, role, invited_by, expires_at };
    },

    async namedIn(text) {
      const token = memberTokenOf(text);
      if (token === null) return null;
      const { state } = await aggregates.load(account, accountStream(token.account));
      if (state.phase !== "open") return null;
      const { members, invitations, gone } = state;
      const isKnown = [members, invitations, gone].some((ids) => ids.has(token.member));
      return { account: token.account, subject: isKnown ? token.member : token.account };
    },
  };
};
