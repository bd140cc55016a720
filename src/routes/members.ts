import { ROLES, type Role } from "../../domain/account/events.ts";
import type { ViewStore } from "../../domain/ports.ts";
import { members } from "../../projections/members.ts";
import type { Accounts } from "../accounts.ts";
import { accountProblem, EMAIL_SCHEMA, emailOf, newPasswordOf, PASSWORD_SCHEMA } from "./account-problems.ts";
import { isPage, LISTING_QUERY, listOf, pageOf } from "./listing.ts";
import { type JsonSchema, positionOf, type Route } from "./route.ts";

export type MembersDeps = { readonly accounts: Accounts; readonly views: Pick<ViewStore, "page"> };

type MemberBody = { readonly email: string; readonly password: string; readonly role: Role };

const BODY: JsonSchema = {
  type: "object",
  required: ["email", "password", "role"],
  additionalProperties: false,
  properties: { email: EMAIL_SCHEMA, password: PASSWORD_SCHEMA, role: { enum: ROLES } },
};

const MEMBER: JsonSchema = {
  type: "object",
  required: ["id", "email", "role"],
  properties: {
    id: { type: "string" },
    email: { type: "string" },
    role: { enum: ROLES },
    created_at: { type: "string", format: "date-time" },
  },
};

const add =
  ({ accounts }: MembersDeps): Route["handle"] =>
  async (call) => {
    // The route's schema has checked the shape.
    const body = call.body as MemberBody;
    const email = emailOf(body.email);
    if (typeof email !== "string") return email;
    const password = newPasswordOf(body.password, email);
    if (typeof password !== "string") return password;
    const joined = await accounts.addMember({ email, password, role: body.role }, call.envelope);
    if (joined.outcome === "refused") return accountProblem(joined.rejection);
    const { id, role } = joined.member;
    const added = { id, email: joined.member.email, role, created_at: call.envelope.at };
    return { status: 201, body: added, ...positionOf(joined) };
  };

const list =
  ({ views }: MembersDeps): Route["handle"] =>
  async ({ principal, query }) => {
    const where = [{ field: "account", is: "=", value: principal.account }] as const;
    const sort = { field: "created_at", order: "desc" } as const;
    const page = await pageOf(views, { view: members.schema.name, where, sort }, query, (document, id) => {
      const { email, role, created_at } = document;
      return { id, email, role, created_at };
    });
    return isPage(page) ? { status: 200, body: page } : page;
  };

const remove =
  ({ accounts }: MembersDeps): Route["handle"] =>
  async ({ params, envelope }) => {
    const removed = await accounts.removeMember(params.id ?? "", envelope);
    if (removed.outcome === "refused") return accountProblem(removed.rejection);
    return { status: 204, ...positionOf(removed) };
  };

export const memberRoutes = (deps: MembersDeps): readonly Route[] => [
  {
    method: "POST",
    path: "/v1/members",
    who: { session: "owner" },
    summary: "Add a member",
    tag: "accounts",
    body: BODY,
    answers: { 201: MEMBER },
    handle: add(deps),
  },
  {
    method: "GET",
    path: "/v1/members",
    who: { session: "owner" },
    summary: "List the members, newest first",
    tag: "accounts",
    query: LISTING_QUERY,
    answers: { 200: listOf(MEMBER) },
    reads: [members.schema.name],
    handle: list(deps),
  },
  {
    method: "DELETE",
    path: "/v1/members/{id}",
    who: { session: "owner" },
    summary: "Remove a member and end their sessions",
    tag: "accounts",
    answers: { 204: null },
    handle: remove(deps),
  },
];
