import { account } from "../../../domain/account/decider.ts";
import { ROLES } from "../../../domain/account/events.ts";
import { mayChangeMembers } from "../../../domain/account/membership.ts";
import type { Randomness } from "../../../domain/ports/randomness.ts";
import { randomId } from "../../../infra/crypto/ids.ts";
import { MEMBER_STATES, type MemberDocument, members } from "../../../projections/members.ts";
import { type Accounts, accountStream, makerOf } from "../../accounts/accounts.ts";
import type { CredentialHashes } from "../../accounts/credential-hashes.ts";
import { linkUrl } from "../../accounts/links.ts";
import type { MemberLinks } from "../../accounts/member-links.ts";
import { eraseMember, type MemberErasuresDeps } from "../../audit/member-erasures.ts";
import type { Controls } from "../../change-control/control-change.ts";
import type { PersonalData } from "../../erasure/personal-data.ts";
import { OPTIONAL_REASON_BODY, PERSONAL_DATA_ERASED } from "../../http/json-schema.ts";
import { isPage, LISTING_QUERY, listOf, pageOf } from "../../http/listing.ts";
import { named } from "../../http/named-schemas.ts";
import { type Handler, HELD_CHANGE, type JsonSchema, positionOf, type Route, route } from "../../http/route.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import { notFound, problem } from "../../streams/problems.ts";
import { accountProblem, EMAIL_SCHEMA, emailOf } from "./account-problems.ts";

export type MembersDeps = MemberErasuresDeps & {
  readonly accounts: Accounts;
  readonly memberLinks: MemberLinks;
  readonly aggregates: Pick<Aggregates, "handle" | "load">;
  readonly controls: Controls;
  readonly randomness: Randomness;
  readonly publicUrl: () => string;
  readonly hashes: Pick<CredentialHashes, "role">;
  readonly personal: Pick<PersonalData, "keep" | "shown">;
};

const INVITATION_BODY = named("NewInvitation", {
  type: "object",
  required: ["email", "role"],
  additionalProperties: false,
  properties: { email: EMAIL_SCHEMA, role: { enum: ROLES } },
  examples: [{ email: "grace@example.com", role: "approver" }],
});

const ROLE_BODY = named("RoleChange", {
  type: "object",
  required: ["role"],
  additionalProperties: false,
  properties: { role: { enum: ROLES } },
  examples: [{ role: "auditor" }],
});

const COMMON = {
  id: { type: "string" },
  email: { type: "string" },
  role: { enum: ROLES },
  state: { enum: MEMBER_STATES },
} as const satisfies Record<string, JsonSchema>;
const REQUIRED = ["id", "email", "role", "state"];
const TIME: JsonSchema = { type: "string", format: "date-time" };

const MEMBER: JsonSchema = named("ListedMember", {
  type: "object",
  required: [...REQUIRED, "created_at", "expires_at", "last_sign_in_at"],
  properties: {
    ...COMMON,
    created_at: TIME,
    expires_at: { type: ["string", "null"], format: "date-time", description: "Of an invitation; null for a member" },
    last_sign_in_at: {
      type: ["string", "null"],
      format: "date-time",
      description:
        "When the member last opened a session, in a browser or from the command line. A session lasts two weeks, so the " +
        "member may have used the account since. Null before the first",
    },
  },
});

const REMOVAL_QUERY = {
  erase: { enum: ["1"], description: "1: also erase all personal data of the person; the body has the reason" },
} as const satisfies Record<string, JsonSchema>;

const LINK: JsonSchema = { type: "string", description: "Shown only once. Give it to this person only." };
const INVITATION: JsonSchema = named("Invitation", {
  type: "object",
  required: [...REQUIRED, "invitation_url", "expires_at"],
  properties: { ...COMMON, invitation_url: LINK, expires_at: TIME },
});
const RESET: JsonSchema = named("PasswordReset", {
  type: "object",
  required: ["id", "email", "reset_url", "expires_at"],
  properties: { id: COMMON.id, email: COMMON.email, reset_url: LINK, expires_at: TIME },
});
const CHANGED: JsonSchema = named("ChangedMember", { type: "object", required: REQUIRED, properties: COMMON });

const invite =
  ({ memberLinks, publicUrl, controls, randomness }: MembersDeps): Handler<{ body: typeof INVITATION_BODY }> =>
  async (call) => {
    const { body, envelope } = call;
    const { email: given, role } = body;
    const email = emailOf(given);
    if (typeof email !== "string") return email;
    const id = randomId("mem_", randomness);
    const refusal = await controls.authorize(call, { kind: "member", id, base: null, changes: { role } });
    if (refusal !== null) return refusal;
    const made = await memberLinks.invite({ member: id, email, role }, envelope);
    if (made.outcome === "refused") return accountProblem(made.rejection);
    const { expires_at } = made;
    const invitation_url = linkUrl(publicUrl(), "invitation", made.token);
    const invited = { id, email, role, state: "invited", invitation_url, expires_at };
    return { status: 201, body: invited, ...positionOf(made) };
  };

const reset =
  ({ memberLinks, publicUrl }: MembersDeps): Handler<{ params: "id" }> =>
  async ({ params, envelope }) => {
    const made = await memberLinks.reset(params.id, envelope);
    if (made.outcome === "refused") return accountProblem(made.rejection);
    const { member: id, email, expires_at } = made;
    const reset_url = linkUrl(publicUrl(), "reset", made.token);
    return { status: 201, body: { id, email, reset_url, expires_at }, ...positionOf(made) };
  };

const changeRole =
  ({ aggregates, controls, hashes, personal }: MembersDeps): Handler<{ body: typeof ROLE_BODY; params: "id" }> =>
  async (call) => {
    const { params, body, envelope } = call;
    const { id } = params;
    const { role } = body;
    const { state } = await aggregates.load(account, accountStream(envelope.account), 0);
    const before = state.phase === "open" ? state.members.get(id) : undefined;
    if (state.phase !== "open" || before === undefined) return accountProblem("member-absent");
    const by = makerOf(envelope);
    // This is checked before the controls are asked, because they would record a weakening that does not happen.
    if (!mayChangeMembers(state, by)) return accountProblem("not-owner");
    const base = { role: before.role };
    const change = { kind: "member", id, base, changes: { role } } as const;
    const grant = hashes.role({ account: envelope.account, member: id, role });
    const command = { type: "ChangeRole", member: id, role, grant, by, at: envelope.at } as const;
    const refusal = await controls.authorize(call, change, { command: () => command, after: { role } });
    if (refusal !== null) return refusal;
    const changed = await aggregates.handle(account, accountStream(envelope.account), command, envelope);
    if (changed.outcome === "rejected") return accountProblem(changed.rejection);
    const member = changed.state.phase === "open" ? changed.state.members.get(id) : undefined;
    if (member === undefined) return notFound();
    return {
      status: 200,
      body: await personal.shown({ id, email: member.email, role: member.role, state: "active" }, envelope.account),
      ...positionOf(changed),
    };
  };

const list =
  ({ views, personal }: MembersDeps): Handler =>
  async ({ principal, query, envelope }) => {
    const where = [
      { field: "account", is: "=", value: principal.account },
      { field: "open_until", is: ">", value: envelope.at },
    ] as const;
    const sort = { field: "created_at", order: "desc" } as const;
    const page = await pageOf(
      views,
      { view: members.schema.name, where, sort },
      query,
      (document: MemberDocument, id) => {
        const { email, role, state, created_at, open_until, last_sign_in_at } = document;
        const expires_at = state === "invited" ? open_until : null;
        return { id, email, role, state, created_at, expires_at, last_sign_in_at };
      },
    );
    return isPage(page) ? { status: 200, body: await personal.shown(page, principal.account) } : page;
  };

type Removal = {
  readonly query: typeof REMOVAL_QUERY;
  readonly body: typeof OPTIONAL_REASON_BODY;
  readonly params: "id";
};

const WITHOUT_REASON = problem("invalid-request", "An erasure takes a reason.", {
  errors: [{ path: "/reason", message: "must say why the data is erased" }],
});

/** With `erase`, a person who was removed before is erased too. */
const remove =
  (deps: MembersDeps): Handler<Removal> =>
  async ({ params: { id }, query: { erase }, body, envelope }) => {
    const isErasure = erase === "1";
    if (isErasure && body?.reason === undefined) return WITHOUT_REASON;
    const removed = await deps.accounts.removeMember(id, envelope);
    if (removed.outcome === "refused" && !(isErasure && removed.rejection === "member-absent"))
      return accountProblem(removed.rejection);
    if (!isErasure) return { status: 204, ...(removed.outcome === "removed" ? positionOf(removed) : {}) };
    const erased = await eraseMember(deps, id, body.reason ?? "", {
      ...envelope,
      commandId: `${envelope.commandId}/erasure`,
    });
    if (erased === null) return notFound();
    const shown = { id, erased_at: erased.erasedAt, bytes_removed: deps.log.bytesRemoved };
    return { status: 200, body: shown, ...positionOf(erased) };
  };

export const memberRoutes = (deps: MembersDeps): readonly Route[] => [
  route({
    method: "POST",
    path: "/v1/members/invitations",
    who: { session: "owner" },
    summary: "Invite a person by a one-time link; it is shown only once, and replaces an earlier one",
    tag: "accounts",
    body: INVITATION_BODY,
    problems: ["conflict", "limit-reached", "not-found"],
    answers: { 201: INVITATION },
    handle: invite(deps),
  }),
  route({
    method: "GET",
    path: "/v1/members",
    who: { session: "owner" },
    summary: "List the members and the open invitations, newest first",
    tag: "accounts",
    query: LISTING_QUERY,
    answers: { 200: listOf(MEMBER) },
    reads: [members.schema.name],
    handle: list(deps),
  }),
  route({
    method: "PATCH",
    path: "/v1/members/{id}",
    who: { session: "owner" },
    summary: "Change a member's role",
    tag: "accounts",
    body: ROLE_BODY,
    problems: ["conflict", "too-few-approvers", "limit-reached"],
    answers: { 200: CHANGED, 202: HELD_CHANGE },
    handle: changeRole(deps),
  }),
  route({
    method: "POST",
    path: "/v1/members/{id}/reset",
    who: { session: "owner" },
    summary: "Make a one-time link with which a member sets a new password; it is shown only once",
    tag: "accounts",
    problems: ["conflict"],
    answers: { 201: RESET },
    handle: reset(deps),
  }),
  route({
    method: "DELETE",
    path: "/v1/members/{id}",
    who: { session: "owner" },
    summary:
      "Remove a member and end their sessions, or withdraw an invitation; with erase=1 also erase the person's data: the " +
      "address, where their sessions came from, and what they wrote. It erases a removed member too. Records stay",
    tag: "accounts",
    query: REMOVAL_QUERY,
    body: OPTIONAL_REASON_BODY,
    bodyOptional: true,
    problems: ["conflict"],
    answers: { 200: PERSONAL_DATA_ERASED, 204: null },
    handle: remove(deps),
  }),
];
