import { accept, type Decision, reject } from "../decider.ts";
import type { Commitment } from "../evidence/commitment.ts";
import type { Sealed } from "../sealed.ts";
import type { AccountEvent, Addressed, LinkMaker, Role } from "./events.ts";
import { isOpen, type Membership, type OpenLink, openInvitation, openReset } from "./membership-state.ts";

type AboutMember = { readonly member: string; readonly at: string };
type NewPassword = { readonly password: Sealed; readonly client: Commitment };

export type MembershipCommand =
  | ({ readonly type: "InviteMember"; readonly role: Role; readonly grant: string } & Addressed &
      OpenLink &
      AboutMember)
  /** `at` is when the invited person used the link, even if the command is given later. */
  | ({ readonly type: "AcceptInvitation" } & NewPassword & AboutMember)
  | ({ readonly type: "RemoveMember"; readonly by: LinkMaker } & AboutMember)
  | ({ readonly type: "ChangeRole"; readonly role: Role; readonly grant: string; readonly by: LinkMaker } & AboutMember)
  | ({ readonly type: "MakeResetLink" } & OpenLink & AboutMember)
  | ({ readonly type: "ResetPassword"; readonly mac: string } & NewPassword & AboutMember)
  /** `verified` is the hash that the caller's password matched; `keeps` is the caller's session, which goes on. */
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

type Decided = Decision<AccountEvent, MembershipRejection>;
type CommandOf<T extends MembershipCommand["type"]> = Extract<MembershipCommand, { type: T }>;

const isOwner = (state: Membership, id: string): boolean => state.members.get(id)?.role === "owner";

/**
 * The caller's role was looked up earlier, on a node that may lag by a second, so it is checked again: an owner who was
 * removed meanwhile must not come back through a link or a role.
 */
export const mayChangeMembers = (state: Membership, by: LinkMaker): boolean =>
  by.kind !== "member" || isOwner(state, by.id);

const invite = (
  { type: _, ...invitation }: CommandOf<"InviteMember">,
  state: Membership,
  membersMax: number,
): Decided => {
  const { account } = state;
  const { member, address, by, at } = invitation;
  if (state.members.has(member) || state.gone.has(member)) return accept();
  if (!mayChangeMembers(state, by)) return reject("not-owner");
  if ([...state.members.values()].some((it) => it.address === address)) return reject("member-already");
  const open = [...state.invitations].filter(([, it]) => isOpen(it, at));
  const replaced = open.find(([, it]) => it.address === address)?.[0];
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
  const { email, address, role, grant, by } = invitation;
  const { account } = state;
  return accept({
    type: "MemberAdded",
    data: { account, member, email, address, role, grant, password, client, invited_by: by, at },
  });
};

/** The invitations of an owner who leaves or loses the role are withdrawn; `withoutResetsOf` ends the reset links. */
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
  const removed: AccountEvent = { type: "MemberRemoved", data: { account, member, address: leaving.address, at } };
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
  // Otherwise whoever stole an owner's session could set a new password without knowing the current one.
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

/** `membersMax` limits the sum of members and open invitations. */
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
