import { accept, type Decision, reject } from "../decider.ts";
import { defined } from "../defined.ts";
import type { Commitment } from "../personal/events.ts";
import type { Sealed } from "../sealed.ts";
import type { AccountEvent, LinkMaker, MembershipEvent, Role } from "./events.ts";

type UsedLink = { readonly by: LinkMaker; readonly at: string };

export type OpenLink = {
  readonly mac: string;
  readonly expires_at: string;
  readonly by: LinkMaker;
};

export type Member = {
  readonly email: string;
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

export type Invitation = OpenLink & { readonly email: string; readonly role: Role; readonly grant: string };

export type Membership = {
  readonly account: string;
  readonly members: ReadonlyMap<string, Member>;
  /** The key is the id that the member will have. Expired invitations stay until the next one is made. */
  readonly invitations: ReadonlyMap<string, Invitation>;
  /** A repeated command must not bring a removed member back. */
  readonly gone: ReadonlySet<string>;
};

type AboutMember = { readonly member: string; readonly at: string };
type NewPassword = { readonly password: Sealed; readonly client: Commitment };
type Link = { readonly mac: string; readonly expires_at: string; readonly by: LinkMaker };

export type MembershipCommand =
  | ({ readonly type: "InviteMember"; readonly email: string; readonly role: Role; readonly grant: string } & Link &
      AboutMember)
  /** The link is used when the address is claimed, which is `at`. */
  | ({ readonly type: "AcceptInvitation" } & NewPassword & AboutMember)
  | ({ readonly type: "RemoveMember"; readonly by: LinkMaker } & AboutMember)
  | ({ readonly type: "ChangeRole"; readonly role: Role; readonly grant: string; readonly by: LinkMaker } & AboutMember)
  | ({ readonly type: "MakeResetLink" } & Link & AboutMember)
  | ({ readonly type: "ResetPassword"; readonly mac: string } & NewPassword & AboutMember)
  /** `verified` is the sealed hash that the current password was compared with; `keeps` is the caller's session. */
  | ({ readonly type: "ChangePassword"; readonly verified: Sealed; readonly keeps: string } & NewPassword & AboutMember)
  | ({ readonly type: "EndSessions"; readonly keeps: string } & AboutMember);

export type MembershipRejection =
  | "member-absent"
  | "member-limit"
  | "member-already"
  | "not-owner"
  | "last-owner"
  | "link-gone"
  | "own-reset"
  | "password-changed";

/** Each removal copies the set of removed ids, so only the newest are listed: a command is repeated within days. */
const GONE_MAX = 1_000;

type Decided = Decision<AccountEvent, MembershipRejection>;
type CommandOf<T extends MembershipCommand["type"]> = Extract<MembershipCommand, { type: T }>;

const isOpen = (link: OpenLink, at: string): boolean => link.expires_at > at;

const isOwner = (state: Membership, id: string): boolean => state.members.get(id)?.role === "owner";

/**
 * The caller's role was looked up earlier, on a node that may lag by a second. An owner removed meanwhile must not come
 * back by a link or a role.
 */
export const mayChangeMembers = (state: Membership, by: LinkMaker): boolean =>
  by.kind !== "member" || isOwner(state, by.id);

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

const invite = (
  { type: _, ...invitation }: CommandOf<"InviteMember">,
  state: Membership,
  membersMax: number,
): Decided => {
  const { account } = state;
  const { member, email, by, at } = invitation;
  if (state.members.has(member) || state.gone.has(member)) return accept();
  if (!mayChangeMembers(state, by)) return reject("not-owner");
  if ([...state.members.values()].some((it) => it.email === email)) return reject("member-already");
  const open = [...state.invitations].filter(([, it]) => isOpen(it, at));
  const replaced = open.find(([, it]) => it.email === email)?.[0];
  const count = state.members.size + open.length - (replaced === undefined ? 0 : 1);
  if (count >= membersMax) return reject("member-limit");
  const invited: AccountEvent = { type: "MemberInvited", data: { account, ...invitation } };
  if (replaced === undefined) return accept(invited);
  return accept<AccountEvent>({ type: "InvitationWithdrawn", data: { account, member: replaced, at } }, invited);
};

const acceptInvitation = (
  { member, password, client, at }: CommandOf<"AcceptInvitation">,
  state: Membership,
  membersMax: number,
): Decided => {
  if (state.members.has(member)) return accept();
  const invitation = openInvitation(state, member, at);
  if (invitation === undefined) return reject("link-gone");
  if (state.members.size >= membersMax) return reject("member-limit");
  const { email, role, grant, by } = invitation;
  const { account } = state;
  return accept({
    type: "MemberAdded",
    data: { account, member, email, role, grant, password, client, invited_by: by, at },
  });
};

/** The invitations that an owner made end when that owner leaves or loses the role; so do the reset links. */
const withdrawnOf = (state: Membership, owner: string, at: string): readonly AccountEvent[] =>
  [...state.invitations]
    .filter(([, { by }]) => by.kind === "member" && by.id === owner)
    .map(([member]) => ({ type: "InvitationWithdrawn", data: { account: state.account, member, at } }));

/** An account without an owner could never change its members again. */
const isLastOwner = (state: Membership, id: string): boolean =>
  isOwner(state, id) && [...state.members.values()].filter(({ role }) => role === "owner").length === 1;

const remove = ({ member, by, at }: CommandOf<"RemoveMember">, state: Membership): Decided => {
  const { account } = state;
  const leaving = state.members.get(member);
  if (leaving === undefined && !state.invitations.has(member)) return reject("member-absent");
  if (!mayChangeMembers(state, by)) return reject("not-owner");
  if (leaving === undefined) return accept({ type: "InvitationWithdrawn", data: { account, member, at } });
  if (isLastOwner(state, member)) return reject("last-owner");
  const removed: AccountEvent = { type: "MemberRemoved", data: { account, member, email: leaving.email, at } };
  return accept(removed, ...withdrawnOf(state, member, at));
};

const changeRole = ({ member, role, grant, by, at }: CommandOf<"ChangeRole">, state: Membership): Decided => {
  const current = state.members.get(member);
  if (current === undefined) return reject("member-absent");
  if (current.role === role) return accept();
  if (!mayChangeMembers(state, by)) return reject("not-owner");
  if (isLastOwner(state, member)) return reject("last-owner");
  const { account } = state;
  const changed: AccountEvent = {
    type: "MemberRoleChanged",
    data: { account, member, role, grant, previous_role: current.role, at },
  };
  return current.role === "owner" ? accept(changed, ...withdrawnOf(state, member, at)) : accept(changed);
};

const makeResetLink = ({ type: _, ...link }: CommandOf<"MakeResetLink">, state: Membership): Decided => {
  if (!state.members.has(link.member)) return reject("member-absent");
  if (!mayChangeMembers(state, link.by)) return reject("not-owner");
  // A stolen session of an owner must not set a new password without the current one.
  if (link.by.kind === "member" && link.by.id === link.member) return reject("own-reset");
  return accept({ type: "ResetLinkMade", data: { account: state.account, ...link } });
};

type Change = NewPassword & { readonly keeps: string | null; readonly reset_by: LinkMaker | null };

const passwordChanged = ({ account }: Membership, { member, at }: AboutMember, epoch: number, it: Change) =>
  accept({ type: "PasswordChanged", data: { account, member, epoch: epoch + 1, ...it, at } } as const);

const setPassword = (command: CommandOf<"ResetPassword" | "ChangePassword">, state: Membership): Decided => {
  const current = state.members.get(command.member);
  if (command.type === "ResetPassword") {
    const link = openReset(state, command.member, command.at);
    if (current === undefined || link?.mac !== command.mac) return reject("link-gone");
    const { password, client } = command;
    return passwordChanged(state, command, current.epoch, { password, client, keeps: null, reset_by: link.by });
  }
  if (current === undefined) return reject("member-absent");
  if (current.password !== command.verified) return reject("password-changed");
  const { password, client, keeps } = command;
  return passwordChanged(state, command, current.epoch, { password, client, keeps, reset_by: null });
};

const endSessions = ({ member, keeps, at }: CommandOf<"EndSessions">, state: Membership): Decided => {
  const current = state.members.get(member);
  if (current === undefined) return reject("member-absent");
  const { account } = state;
  return accept({ type: "SessionsEnded", data: { account, member, epoch: current.epoch + 1, keeps, at } });
};

/** `membersMax` limits members and open invitations together. */
export const decideMembership = (command: MembershipCommand, state: Membership, membersMax: number): Decided => {
  switch (command.type) {
    case "InviteMember":
      return invite(command, state, membersMax);
    case "AcceptInvitation":
      return acceptInvitation(command, state, membersMax);
    case "RemoveMember":
      return remove(command, state);
    case "ChangeRole":
      return changeRole(command, state);
    case "MakeResetLink":
      return makeResetLink(command, state);
    case "ResetPassword":
    case "ChangePassword":
      return setPassword(command, state);
    case "EndSessions":
      return endSessions(command, state);
  }
};

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
  const { member, email, role, grant, mac, expires_at, by, at } = data;
  // Dropping expired invitations bounds their number.
  const open = new Map([...state.invitations].filter(([, it]) => isOpen(it, at)));
  return { invitations: open.set(member, { email, role, grant, mac, expires_at, by }) };
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
      const { member, email, role, grant, password, invited_by, at } = event.data;
      const invited = invited_by === null ? null : { by: invited_by, at };
      const added: Member = {
        email,
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
