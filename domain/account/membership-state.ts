import { defined } from "../defined.ts";
import type { Sealed } from "../sealed.ts";
import type { Addressed, LinkMaker, MembershipEvent, Role } from "./events.ts";

type UsedLink = { readonly by: LinkMaker; readonly at: string };

export type OpenLink = {
  readonly mac: string;
  readonly expires_at: string;
  readonly by: LinkMaker;
};

export type Member = Addressed & {
  readonly role: Role;
  readonly grant: string;
  readonly password: Sealed;
  /** A session is valid if it was opened in this epoch, or if its id is `keeps`. */
  readonly epoch: number;
  readonly keeps: string | null;
  readonly invited: UsedLink | null;
  readonly reset: UsedLink | null;
  readonly openReset: OpenLink | null;
};

export type Invitation = OpenLink & Addressed & { readonly role: Role; readonly grant: string };

export type Membership = {
  readonly account: string;
  readonly members: ReadonlyMap<string, Member>;
  /** The keys are the ids that the invited people will have. Expired invitations stay until the next one is made. */
  readonly invitations: ReadonlyMap<string, Invitation>;
  /** Ids of removed members and revoked keys: a repeated command must not bring one back. */
  readonly gone: ReadonlySet<string>;
};

/** Each removal copies the set `gone`, so it keeps the newest ids alone: a command is repeated within days. */
const GONE_MAX = 1_000;

export const isOpen = (link: OpenLink, at: string): boolean => link.expires_at > at;

export const openInvitation = (state: Membership, member: string, at: string): Invitation | undefined => {
  const invitation = state.invitations.get(member);
  return invitation !== undefined && isOpen(invitation, at) ? invitation : undefined;
};

export const openReset = (state: Membership, member: string, at: string): OpenLink | undefined => {
  const link = state.members.get(member)?.openReset ?? null;
  return link !== null && isOpen(link, at) ? link : undefined;
};

export const holdsSession = ({ epoch, keeps }: Member, session: { id: string; epoch: number }): boolean =>
  session.epoch === epoch || session.id === keeps;

export const withEntry = <V>(map: ReadonlyMap<string, V>, id: string, value: V): ReadonlyMap<string, V> =>
  new Map(map).set(id, value);

export const without = <V>(map: ReadonlyMap<string, V>, id: string): ReadonlyMap<string, V> => {
  const rest = new Map(map);
  rest.delete(id);
  return rest;
};

export const withGone = (gone: ReadonlySet<string>, id: string): ReadonlySet<string> =>
  new Set([...(gone.size < GONE_MAX ? gone : [...gone].slice(1)), id]);

const changed = (state: Membership, id: string, change: Partial<Member>): Partial<Membership> => {
  const member = state.members.get(id);
  if (member === undefined) return {};
  return { members: withEntry(state.members, id, { ...member, ...change }) };
};

const invitedNow = (state: Membership, data: Extract<MembershipEvent, { type: "MemberInvited" }>["data"]) => {
  const { member, email, address, role, grant, mac, expires_at, by, at } = data;
  // Expired invitations are dropped here, so that their number stays bounded.
  const open = new Map([...state.invitations].filter(([, it]) => isOpen(it, at)));
  return { invitations: open.set(member, { email, address, role, grant, mac, expires_at, by }) };
};

const withoutResetsOf = (members: Membership["members"], maker: string): Membership["members"] =>
  new Map([...members].map(([id, it]) => [id, it.openReset?.by.id === maker ? { ...it, openReset: null } : it]));

export const evolveMembership = (state: Membership, event: MembershipEvent): Partial<Membership> => {
  switch (event.type) {
    case "MemberInvited":
      return invitedNow(state, event.data);
    case "InvitationWithdrawn":
      return { invitations: without(state.invitations, event.data.member) };
    case "MemberAdded": {
      const { member, email, address, role, grant, password, invited_by, at } = event.data;
      const invited = invited_by === null ? null : { by: invited_by, at };
      const added: Member = {
        email,
        address,
        role,
        grant,
        password,
        epoch: 0,
        keeps: null,
        invited,
        reset: null,
        openReset: null,
      };
      return { members: withEntry(state.members, member, added), invitations: without(state.invitations, member) };
    }
    case "MemberRemoved": {
      const { member } = event.data;
      const members = withoutResetsOf(without(state.members, member), member);
      return { members, gone: withGone(state.gone, member) };
    }
    case "MemberRoleChanged": {
      const { member, role, grant } = event.data;
      const { members = state.members } = changed(state, member, { role, grant });
      return { members: role === "owner" ? members : withoutResetsOf(members, member) };
    }
    case "ResetLinkMade": {
      const { member, mac, expires_at, by } = event.data;
      return changed(state, member, { openReset: { mac, expires_at, by } });
    }
    case "PasswordChanged": {
      const { member, password, epoch, keeps, reset_by, at } = event.data;
      const reset = reset_by === null ? undefined : { by: reset_by, at };
      return changed(state, member, defined({ password, epoch, keeps, openReset: null, reset }));
    }
    case "SessionsEnded": {
      const { member, epoch, keeps } = event.data;
      return changed(state, member, { epoch, keeps });
    }
  }
};
