import { ROLES } from "../../../domain/account/events.ts";
import type { Accounts, Joined, LinkUse, Refused } from "../../accounts/accounts.ts";
import { TOKEN_LENGTH_MAX } from "../../accounts/links.ts";
import type { MemberLinks } from "../../accounts/member-links.ts";
import type { Sessions } from "../../accounts/sessions.ts";
import type { StartLinks } from "../../accounts/start-links.ts";
import { clientOf, type PersonalData } from "../../erasure/personal-data.ts";
import { named } from "../../http/named-schemas.ts";
import type { Attempts } from "../../http/rate-limit.ts";
import { whyUnrecorded } from "../../http/recorded-problems.ts";
import {
  type Answer,
  type Call,
  type Handler,
  isProblem,
  type JsonSchema,
  type Route,
  route,
} from "../../http/route.ts";
import type { Envelope } from "../../streams/envelope.ts";
import type { Problem } from "../../streams/problems.ts";
import { accountProblem, linkGone, newPasswordOf, PASSWORD_SCHEMA } from "./account-problems.ts";
import { openSession, rateLimited, SIGNED_IN } from "./login-answer.ts";
import { SIGNUP_PROPERTIES, signupOf } from "./signup-input.ts";

export type LinksDeps = {
  readonly accounts: Accounts;
  readonly memberLinks: MemberLinks;
  readonly startLinks: StartLinks;
  readonly sessions: Sessions;
  readonly attempts: Attempts;
  readonly personal: Pick<PersonalData, "shown">;
};

const TOKEN_SCHEMA = {
  type: "string",
  minLength: 1,
  maxLength: TOKEN_LENGTH_MAX,
  description: "The part of the link after #",
} as const satisfies JsonSchema;

const BODY = named("LinkPassword", {
  type: "object",
  required: ["token", "password"],
  additionalProperties: false,
  properties: { token: TOKEN_SCHEMA, password: PASSWORD_SCHEMA },
  examples: [{ token: "the part of the link after #", password: "correct horse battery" }],
});

const TOKEN_BODY = named("LinkToken", {
  type: "object",
  required: ["token"],
  additionalProperties: false,
  properties: { token: TOKEN_SCHEMA },
  examples: [{ token: "the part of the link after #" }],
});

const text = { type: "string" } as const;

const OPEN_INVITATION: JsonSchema = named("OpenInvitation", {
  type: "object",
  required: ["account_name", "email", "role", "invited_by", "expires_at"],
  properties: {
    account_name: text,
    email: { ...text, description: "The address that was invited, and will be the login's" },
    role: { enum: ROLES },
    invited_by: { ...text, description: "The address of the owner who invites" },
    expires_at: { ...text, format: "date-time" },
  },
});

const OPEN_RESET: JsonSchema = named("OpenReset", {
  type: "object",
  required: ["account_name", "email", "expires_at"],
  properties: {
    account_name: text,
    email: { ...text, description: "The address of the login whose password is set" },
    expires_at: { ...text, format: "date-time" },
  },
});

const START_BODY = named("FirstAccount", {
  type: "object",
  required: ["token", "email", "password"],
  additionalProperties: false,
  properties: { token: TOKEN_SCHEMA, ...SIGNUP_PROPERTIES },
  examples: [{ token: "the part of the link after #", email: "ada@example.com", password: "correct horse battery" }],
});

type WithLink = { readonly body: typeof BODY };
type Used = Joined | Refused<Parameters<typeof accountProblem>[0]>;

/** A call with an invalid link counts as a failed login, as it makes the server read a stream that the caller names. */
const limited =
  <C extends Call & { readonly body: { readonly token: string } }>(
    { attempts, memberLinks }: LinksDeps,
    handle: (call: C) => Promise<Answer | Problem>,
  ) =>
  async (call: C): Promise<Answer | Problem> => {
    const { token } = call.body;
    const about = () => memberLinks.namedIn(token);
    const attempt = attempts.take("failed-login-ip", call.ip);
    // This refusal is recorded for no member: finding out whose link it is would be a read beyond the limit.
    if (!attempt.ok) return rateLimited(attempt.retryAfterS);
    let isGone = false;
    try {
      const answer = await handle(call);
      isGone = isProblem(answer) && answer.problem === "not-found";
      const isDecision = isProblem(answer) && (isGone || whyUnrecorded(false, answer.problem) === null);
      return isDecision ? { ...answer, about } : answer;
    } finally {
      if (!isGone) attempts.giveBack("failed-login-ip", call.ip);
    }
  };

const useOf = async (
  { memberLinks, personal }: LinksDeps,
  purpose: "invitation" | "reset",
  call: Call<WithLink>,
): Promise<LinkUse | Problem> => {
  const { token, password: given } = call.body;
  const opened = await memberLinks.opened(purpose, token, call.envelope.at);
  if (opened === null) return linkGone();
  const password = newPasswordOf(given, await personal.shown(opened.email, opened.account));
  return typeof password === "string" ? { ...opened, password, client: clientOf(call) } : password;
};

const answered = async (deps: LinksDeps, used: Used, call: Call): Promise<Answer | Problem> =>
  used.outcome === "joined" ? await openSession(deps, 200, used, call) : accountProblem(used.rejection);

/** What a link says to whoever holds it, without using it. */
const read =
  (
    { personal }: LinksDeps,
    open: (token: string, at: string) => Promise<({ readonly account: string } & object) | null>,
  ): Handler<{ body: typeof TOKEN_BODY }> =>
  async ({ body, envelope }) => {
    const link = await open(body.token, envelope.at);
    if (link === null) return linkGone();
    const { account, ...said } = link;
    return { status: 200, body: await personal.shown(said, account) };
  };

const accept =
  (deps: LinksDeps): Handler<WithLink> =>
  async (call) => {
    const use = await useOf(deps, "invitation", call);
    if ("problem" in use) return use;
    // An invited address that has an account is answered `email-taken`, so this call has the limit of sign-ups too.
    const attempt = deps.attempts.take("signup-ip", call.ip);
    if (!attempt.ok) return rateLimited(attempt.retryAfterS);
    const used = await deps.accounts.accept(use, call.envelope);
    if (used.outcome === "refused" && used.rejection === "overloaded") deps.attempts.giveBack("signup-ip", call.ip);
    return await answered(deps, used, call);
  };

const reset =
  (deps: LinksDeps): Handler<WithLink> =>
  async (call) => {
    const use = await useOf(deps, "reset", call);
    return "problem" in use ? use : await answered(deps, await deps.accounts.reset(use, call.envelope), call);
  };

const start =
  (deps: LinksDeps): Handler<{ body: typeof START_BODY }> =>
  async (call) => {
    const { token, ...given } = call.body;
    const link = await deps.startLinks.opened(token, call.envelope.at);
    if (link === null) return linkGone();
    const person = signupOf(given, call);
    if ("problem" in person) return person;
    const isFirst = (ids: { account: string; member: string }, envelope: Envelope): Promise<boolean> =>
      deps.startLinks.use(link, ids, envelope);
    return await answered(deps, await deps.accounts.signUp(person, call.envelope, isFirst), call);
  };

/** Calls whose credential is the one-time link in their body. */
export const linkRoutes = (deps: LinksDeps): readonly Route[] => [
  route({
    method: "POST",
    path: "/v1/auth/invitations/read",
    who: "anyone",
    summary: "Read what an invitation offers, before it is accepted; the token is in the body, so that no log has it",
    tag: "accounts",
    body: TOKEN_BODY,
    problems: ["not-found", "rate-limited", "overloaded"],
    answers: { 200: OPEN_INVITATION },
    handle: limited(deps, read(deps, deps.memberLinks.invitation)),
  }),
  route({
    method: "POST",
    path: "/v1/auth/invitations/accept",
    who: "anyone",
    summary: "Accept an invitation with a new password, and log in",
    tag: "accounts",
    body: BODY,
    problems: ["not-found", "email-taken", "weak-password", "limit-reached", "conflict", "rate-limited", "overloaded"],
    answers: { 200: SIGNED_IN },
    handle: limited(deps, accept(deps)),
  }),
  route({
    method: "POST",
    path: "/v1/auth/reset/read",
    who: "anyone",
    summary:
      "Read whose password a reset link sets, before it is used; the token is in the body, so that no log has it",
    tag: "accounts",
    body: TOKEN_BODY,
    problems: ["not-found", "rate-limited", "overloaded"],
    answers: { 200: OPEN_RESET },
    handle: limited(deps, read(deps, deps.memberLinks.resetLink)),
  }),
  route({
    method: "POST",
    path: "/v1/auth/reset",
    who: "anyone",
    summary: "Set a new password with a reset link, end every session, and log in",
    tag: "accounts",
    body: BODY,
    problems: ["not-found", "weak-password", "rate-limited", "overloaded"],
    answers: { 200: SIGNED_IN },
    handle: limited(deps, reset(deps)),
  }),
  route({
    method: "POST",
    path: "/v1/auth/start",
    who: "anyone",
    summary: "Create the first account with the link that the first start printed, and log in",
    tag: "accounts",
    body: START_BODY,
    problems: ["not-found", "email-taken", "weak-password", "rate-limited", "overloaded"],
    answers: { 200: SIGNED_IN },
    handle: limited(deps, start(deps)),
  }),
];
