import { account } from "../../../domain/account/decider.ts";
import { normalizePassword } from "../../../domain/account/password-rule.ts";
import { type Accounts, accountMember, accountStream, addressOf } from "../../accounts/accounts.ts";
import type { CredentialHashes } from "../../accounts/credential-hashes.ts";
import { clearedSessionCookie, type Sessions, sessionIdOf } from "../../accounts/sessions.ts";
import type { Signup } from "../../config.ts";
import { clientOf, type PersonalData } from "../../erasure/personal-data.ts";
import { named } from "../../http/named-schemas.ts";
import type { PasswordGuesses } from "../../http/password-guesses.ts";
import type { Attempts } from "../../http/rate-limit.ts";
import { type Handler, positionOf, type Route, route } from "../../http/route.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import { notFound, problem } from "../../streams/problems.ts";
import { accountProblem, EMAIL_SCHEMA, emailOf, newPasswordOf, PASSWORD_SCHEMA } from "./account-problems.ts";
import { memberAnswer, openSession, rateLimited, SIGNED_IN } from "./login-answer.ts";
import { SIGNUP_BODY, signupOf } from "./signup-input.ts";

export type AuthDeps = {
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly attempts: Attempts;
  readonly guesses: PasswordGuesses;
  readonly signup: Signup;
  readonly aggregates: Aggregates;
  readonly personal: Pick<PersonalData, "shown">;
  readonly hashes: Pick<CredentialHashes, "address">;
};

const isWrong = (it: { readonly outcome: string; readonly rejection?: string }): boolean =>
  it.outcome === "refused" && it.rejection === "invalid-credentials";

const CREDENTIALS = { email: EMAIL_SCHEMA, password: PASSWORD_SCHEMA };

const LOGIN = named("Login", {
  type: "object",
  required: ["email", "password"],
  additionalProperties: false,
  properties: CREDENTIALS,
  examples: [{ email: "ada@example.com", password: "correct horse battery" }],
});

const NEW_PASSWORD = named("PasswordChange", {
  type: "object",
  required: ["current_password", "new_password"],
  additionalProperties: false,
  properties: { current_password: PASSWORD_SCHEMA, new_password: PASSWORD_SCHEMA },
  examples: [{ current_password: "correct horse battery", new_password: "better horse battery" }],
});

const SIGNUP_CLOSED = problem("signup-closed", "Sign-up is closed. Ask the owner of an account to invite you.");

const signUp =
  (deps: AuthDeps): Handler<{ body: typeof SIGNUP_BODY }> =>
  async (call) => {
    const { accounts, attempts, signup } = deps;
    // This is checked before the address, so that the answer does not reveal whether the address has an account.
    if (signup === "closed") return SIGNUP_CLOSED;
    const person = signupOf(call.body, call);
    if ("problem" in person) return person;
    const attempt = attempts.take("signup-ip", call.ip);
    if (!attempt.ok) return rateLimited(attempt.retryAfterS);

    const joined = await accounts.signUp(person, call.envelope);
    if (joined.outcome === "joined") return await openSession(deps, 201, joined, call);
    if (joined.rejection === "overloaded") attempts.giveBack("signup-ip", call.ip);
    const about = () => accounts.memberOf(person.email);
    return { ...accountProblem(joined.rejection), ...(joined.rejection === "email-taken" ? { about } : {}) };
  };

const logIn =
  (deps: AuthDeps): Handler<{ body: typeof LOGIN }> =>
  async (call) => {
    const { accounts, guesses, hashes } = deps;
    const { body } = call;
    const email = emailOf(body.email);
    if (typeof email !== "string") return email;
    const counted = await guesses.run(
      { address: addressOf(email, hashes), ip: call.ip },
      () => accounts.logIn(email, normalizePassword(body.password), call.envelope),
      isWrong,
    );
    const about = () => accounts.memberOf(email);
    if (!counted.ok) return { ...rateLimited(counted.retryAfterS), about };
    const { result } = counted;
    if (result.outcome === "joined") return await openSession(deps, 200, result, call);
    return { ...accountProblem(result.rejection), about };
  };

const changePassword =
  ({ accounts, guesses, personal }: AuthDeps): Handler<{ body: typeof NEW_PASSWORD }> =>
  async (call) => {
    const { principal, body, envelope, ip } = call;
    if (principal.kind !== "member") return notFound();
    const { current_password, new_password } = body;
    const email = await personal.shown(principal.email, principal.account);
    const next = newPasswordOf(new_password, email, "/new_password");
    if (typeof next !== "string") return next;
    const keeps = sessionIdOf(principal.session);
    const change = {
      member: principal.id,
      current: normalizePassword(current_password),
      next,
      keeps,
      client: clientOf(call),
    };
    const counted = await guesses.run(
      { address: principal.address, ip },
      () => accounts.changePassword(change, envelope),
      isWrong,
    );
    if (!counted.ok) return rateLimited(counted.retryAfterS);
    const { result } = counted;
    return result.outcome === "changed" ? { status: 204, ...positionOf(result) } : accountProblem(result.rejection);
  };

const logOut =
  ({ sessions }: AuthDeps): Handler =>
  async ({ principal, envelope }) => {
    if (principal.kind !== "member") return notFound();
    const position = await sessions.close(principal.session, envelope);
    const headers = { "set-cookie": clearedSessionCookie };
    return { status: 204, headers, ...positionOf({ position }) };
  };

const me =
  ({ aggregates, personal }: AuthDeps): Handler =>
  async ({ principal, envelope }) => {
    const { state } = await aggregates.load(account, accountStream(principal.account));
    const found = state.phase === "open" ? accountMember(state, principal.id) : null;
    return found === null ? notFound() : { status: 200, body: await memberAnswer(personal, found, envelope.at) };
  };

export const authRoutes = (deps: AuthDeps): readonly Route[] => [
  route({
    method: "POST",
    path: "/v1/auth/signup",
    who: "anyone",
    summary: "Create an account and log in",
    tag: "accounts",
    body: SIGNUP_BODY,
    problems: ["signup-closed", "email-taken", "weak-password", "rate-limited", "overloaded"],
    answers: { 201: SIGNED_IN },
    handle: signUp(deps),
  }),
  route({
    method: "POST",
    path: "/v1/auth/login",
    who: "anyone",
    summary: "Log in",
    tag: "accounts",
    body: LOGIN,
    problems: ["invalid-credentials", "rate-limited", "overloaded"],
    answers: { 200: SIGNED_IN },
    handle: logIn(deps),
  }),
  route({
    method: "POST",
    path: "/v1/auth/logout",
    who: { session: "viewer" },
    summary: "End the session on every node",
    tag: "accounts",
    problems: ["not-found"],
    answers: { 204: null },
    always: true,
    handle: logOut(deps),
  }),
  route({
    method: "POST",
    path: "/v1/auth/password",
    who: { session: "viewer" },
    summary: "Change the password and end every other session",
    tag: "accounts",
    body: NEW_PASSWORD,
    problems: ["invalid-credentials", "weak-password", "overloaded", "not-found"],
    answers: { 204: null },
    handle: changePassword(deps),
  }),
  route({
    method: "GET",
    path: "/v1/auth/me",
    who: { session: "viewer" },
    summary: "The member who is logged in, and the account",
    tag: "accounts",
    problems: ["not-found"],
    answers: { 200: SIGNED_IN },
    handle: me(deps),
  }),
];
