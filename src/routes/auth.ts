import { account } from "../../domain/account/decider.ts";
import { normalizePassword } from "../../domain/account/password-rule.ts";
import { planAt } from "../../domain/account/subscription.ts";
import { type Accounts, accountStream, type Belonging, belongingTo, emailStream } from "../accounts.ts";
import type { Aggregates } from "../aggregates.ts";
import type { Attempts } from "../http/rate-limit.ts";
import { notFound, type Problem, problem } from "../problems.ts";
import { clearedSessionCookie, type Sessions, sessionCookie } from "../sessions.ts";
import { accountProblem, EMAIL_SCHEMA, emailOf, newPasswordOf, PASSWORD_SCHEMA } from "./account-problems.ts";
import { nonBlank } from "./json-schema.ts";
import { type Answer, type Call, type JsonSchema, positionOf, type Route } from "./route.ts";

export type AuthDeps = {
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly attempts: Attempts;
  readonly aggregates: Aggregates;
};

type Credentials = { readonly email: string; readonly password: string };
type SignupBody = Credentials & { readonly account_name?: string; readonly time_zone?: string };

const CREDENTIALS = { email: EMAIL_SCHEMA, password: PASSWORD_SCHEMA };

const SIGNUP: JsonSchema = {
  type: "object",
  required: ["email", "password"],
  additionalProperties: false,
  properties: {
    ...CREDENTIALS,
    account_name: nonBlank(100),
    time_zone: { type: "string", minLength: 1, maxLength: 64, description: "an IANA name, as Europe/Madrid" },
  },
};

const LOGIN: JsonSchema = {
  type: "object",
  required: ["email", "password"],
  additionalProperties: false,
  properties: CREDENTIALS,
};

const strings = (...names: string[]): JsonSchema => ({
  type: "object",
  required: names,
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
});

const BELONGING: JsonSchema = {
  type: "object",
  required: ["account", "member"],
  properties: { account: strings("id", "name", "plan", "time_zone"), member: strings("id", "email", "role") },
};

const shown = ({ account: { account: id, name, subscription, time_zone }, member }: Belonging, at: string) => ({
  account: { id, name, plan: planAt(subscription, at), time_zone },
  member: { id: member.id, email: member.email, role: member.role },
});

/** The canonical spelling of an IANA time zone, or null. Offsets as "+01:00" are none: they know no summer. */
const timeZoneOf = (name: string): string | null => {
  if (/^[+-]/.test(name)) return null;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
};

const rateLimited = (retryAfterS: number): Problem =>
  problem("rate-limited", "Too many attempts. Wait before the next one.", { retryAfterS });

const signedIn = async (sessions: Sessions, status: number, belonging: Belonging, call: Call): Promise<Answer> => {
  const { account: owner, member } = belonging;
  const envelope = {
    ...call.envelope,
    account: owner.account,
    actor: { kind: "member", id: member.id },
  } as const;
  const { token, position } = await sessions.open(owner.account, member.id, envelope);
  return {
    status,
    body: shown(belonging, call.envelope.at),
    headers: { "set-cookie": sessionCookie(token) },
    position,
  };
};

const signUp =
  ({ accounts, sessions, attempts }: AuthDeps): Route["handle"] =>
  async (call) => {
    // The route's schema has checked the shape.
    const body = call.body as SignupBody;
    const email = emailOf(body.email);
    if (typeof email !== "string") return email;
    const password = newPasswordOf(body.password, email);
    if (typeof password !== "string") return password;
    const timeZone = timeZoneOf(body.time_zone ?? "UTC");
    if (timeZone === null) {
      const errors = [{ path: "/time_zone", message: "must be an IANA time zone, as Europe/Madrid" }];
      return problem("invalid-request", "This time zone is not known.", { errors });
    }
    const attempt = attempts.take("signup-ip", call.ip);
    if (!attempt.ok) return rateLimited(attempt.retryAfterS);

    const [local = email] = email.split("@");
    const name = body.account_name?.trim() ?? local;
    const joined = await accounts.signUp({ email, password, name, timeZone }, call.envelope);
    if (joined.outcome === "joined") return await signedIn(sessions, 201, joined, call);
    if (joined.rejection === "overloaded") attempts.giveBack("signup-ip", call.ip);
    return accountProblem(joined.rejection);
  };

const logIn =
  ({ accounts, sessions, attempts }: AuthDeps): Route["handle"] =>
  async (call) => {
    // The route's schema has checked the shape.
    const body = call.body as Credentials;
    const email = emailOf(body.email);
    if (typeof email !== "string") return email;
    const address = emailStream(email);

    // Taken before the password is looked at, so that a hundred guesses at once are counted before they are known.
    const byIp = attempts.take("failed-login-ip", call.ip);
    if (!byIp.ok) return rateLimited(byIp.retryAfterS);
    const byAddress = attempts.take("failed-login-address", address);
    if (!byAddress.ok) {
      attempts.giveBack("failed-login-ip", call.ip);
      return rateLimited(byAddress.retryAfterS);
    }
    let wrong = false;
    try {
      const joined = await accounts.logIn(email, normalizePassword(body.password), call.envelope);
      if (joined.outcome === "joined") return await signedIn(sessions, 200, joined, call);
      if (joined.rejection === "overloaded") return accountProblem("overloaded");
      wrong = true;
      return problem("invalid-credentials", "The address or the password is wrong.");
    } finally {
      if (!wrong) {
        attempts.giveBack("failed-login-ip", call.ip);
        attempts.giveBack("failed-login-address", address);
      }
    }
  };

const logOut =
  ({ sessions }: AuthDeps): Route["handle"] =>
  async ({ principal, envelope }) => {
    if (principal.kind !== "member") return notFound();
    const position = await sessions.close(principal.session, envelope);
    const headers = { "set-cookie": clearedSessionCookie };
    return { status: 204, headers, ...positionOf({ position }) };
  };

const me =
  ({ aggregates }: AuthDeps): Route["handle"] =>
  async ({ principal, envelope }) => {
    const { state } = await aggregates.load(account, accountStream(principal.account));
    const belonging = state.phase === "open" ? belongingTo(state, principal.id) : null;
    return belonging === null ? notFound() : { status: 200, body: shown(belonging, envelope.at) };
  };

export const authRoutes = (deps: AuthDeps): readonly Route[] => [
  {
    method: "POST",
    path: "/v1/auth/signup",
    who: "anyone",
    summary: "Create an account and log in",
    tag: "accounts",
    body: SIGNUP,
    answers: { 201: BELONGING },
    handle: signUp(deps),
  },
  {
    method: "POST",
    path: "/v1/auth/login",
    who: "anyone",
    summary: "Log in",
    tag: "accounts",
    body: LOGIN,
    answers: { 200: BELONGING },
    handle: logIn(deps),
  },
  {
    method: "POST",
    path: "/v1/auth/logout",
    who: { session: "viewer" },
    summary: "End the session on every node",
    tag: "accounts",
    answers: { 204: null },
    handle: logOut(deps),
  },
  {
    method: "GET",
    path: "/v1/auth/me",
    who: { session: "viewer" },
    summary: "Who is logged in",
    tag: "accounts",
    answers: { 200: BELONGING },
    handle: me(deps),
  },
];
