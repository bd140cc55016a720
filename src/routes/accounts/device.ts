import { session } from "../../../domain/account/session.ts";
import type { Clock } from "../../../domain/ports/clock.ts";
import { DEVICE_LOGIN_S, type DeviceLogins } from "../../accounts/device-logins.ts";
import { SESSION_LIFETIME_S, type Sessions } from "../../accounts/sessions.ts";
import { shownUserCode } from "../../accounts/user-code.ts";
import { clientOf } from "../../erasure/personal-data.ts";
import { type Attempts, windowCounter } from "../../http/rate-limit.ts";
import { type Answer, type Call, type Handler, type Route, route } from "../../http/route.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import { type Problem, type ProblemCode, problem } from "../../streams/problems.ts";
import { CODE_BODY, DEVICE, DEVICE_BODY, PENDING, TOKEN, TOKEN_BODY } from "./device-schemas.ts";
import { rateLimited } from "./login-answer.ts";

export type DeviceRoutesDeps = {
  readonly deviceLogins: DeviceLogins;
  readonly sessions: Sessions;
  readonly attempts: Attempts;
  readonly aggregates: Pick<Aggregates, "load">;
  readonly clock: Clock;
  readonly publicUrl: () => string;
};

/** Seconds between two calls of the command line (RFC 8628, section 3.2). */
const INTERVAL_S = 5;
/** A second less than the interval, because calls that are sent at equal intervals do not arrive so. */
const PACE_MS = (INTERVAL_S - 1) * 1_000;
const PACED_MAX = 10_000;

/** The problem says it twice: `code` as all problems do, `error` and `error_description` as RFC 6749 (5.2) does. */
const refused = (code: ProblemCode, detail: string): Problem =>
  problem(code, detail, { extra: { error: code.replaceAll("-", "_"), error_description: detail } });

const GONE = refused("expired-token", "This code is unknown, was used, or has expired. Log in again.");
const DENIED = refused("access-denied", "The login was refused in the console.");
const PENDING_YET = refused("authorization-pending", "Nobody has decided yet. Ask again after the interval.");
const TOO_SOON = refused("slow-down", "Wait 5 seconds longer between two calls.");
const NOTHING_WAITS = problem("not-found", "Nothing waits under this code: it is mistyped, was used, or has expired.");
const NOT_BY_COMMAND_LINE = problem(
  "forbidden",
  "A session of the command line lets no other one in. Decide in the console.",
);

const request =
  ({ deviceLogins, attempts, publicUrl }: DeviceRoutesDeps): Handler<{ body: typeof DEVICE_BODY }> =>
  async (call) => {
    const attempt = attempts.take("device-login-ip", call.ip);
    if (!attempt.ok) return rateLimited(attempt.retryAfterS);
    const client = { name: call.body.device_name ?? "", ...clientOf(call) };
    const { deviceCode, userCode, position } = await deviceLogins.request(client, call.envelope);
    const verification_uri = `${publicUrl()}/device`;
    const user_code = shownUserCode(userCode);
    const body = {
      ...{ device_code: deviceCode, user_code, verification_uri },
      verification_uri_complete: `${verification_uri}#${user_code}`,
      ...{ expires_in: DEVICE_LOGIN_S, interval: INTERVAL_S },
    };
    return { status: 200, body, position };
  };

const token = ({ deviceLogins, sessions, attempts, clock }: DeviceRoutesDeps): Handler<{ body: typeof TOKEN_BODY }> => {
  const pace = windowCounter(clock, PACE_MS, PACED_MAX);
  return async (call) => {
    const { device_code } = call.body;
    if (!pace.take(device_code, 1).ok) return TOO_SOON;
    // A wrong code counts as a failed login, as it makes the server read a stream that the caller names.
    const attempt = attempts.take("failed-login-ip", call.ip);
    if (!attempt.ok) return rateLimited(attempt.retryAfterS);
    const redeemed = await deviceLogins.redeem(device_code, call.envelope);
    if (redeemed === "gone") return GONE;
    attempts.giveBack("failed-login-ip", call.ip);
    if (redeemed === "pending") return PENDING_YET;
    if (redeemed === "denied") return DENIED;
    const { of } = redeemed;
    const envelope = { ...call.envelope, account: of.account, actor: { kind: "member", id: of.member } } as const;
    const from = { client: clientOf(call), madeBy: "command-line" } as const;
    const { token: access_token, position } = await sessions.open(of, from, envelope);
    return { status: 200, body: { access_token, token_type: "Bearer", expires_in: SESSION_LIFETIME_S }, position };
  };
};

type WithCode = { readonly body: typeof CODE_BODY };
type Decide = (call: Call<WithCode>, member: { account: string; member: string }) => Promise<Answer | null>;

/** Of a member's tries, only wrong codes count (RFC 8628, section 5.1). */
const ofCode =
  ({ attempts, aggregates }: DeviceRoutesDeps, decide: Decide): Handler<WithCode> =>
  async (call) => {
    const { principal } = call;
    if (principal.kind !== "member") return NOTHING_WAITS;
    const { state } = await aggregates.load(session, principal.session);
    if (state.phase !== "open" || state.madeBy !== "browser") return NOT_BY_COMMAND_LINE;
    const attempt = attempts.take("user-code", principal.id);
    if (!attempt.ok) return rateLimited(attempt.retryAfterS);
    const answer = await decide(call, { account: principal.account, member: principal.id });
    if (answer === null) return NOTHING_WAITS;
    attempts.giveBack("user-code", principal.id);
    return answer;
  };

const show = (deps: DeviceRoutesDeps): Handler<WithCode> =>
  ofCode(deps, async ({ body, envelope }) => {
    const pending = await deps.deviceLogins.pending(body.user_code, envelope.at);
    if (pending === null) return null;
    const { userCode, caller, expiresAt: expires_at } = pending;
    const { name: device_name = null, ip = null, user_agent = null } = caller ?? {};
    return { status: 200, body: { user_code: shownUserCode(userCode), device_name, ip, user_agent, expires_at } };
  });

const decision = (deps: DeviceRoutesDeps, act: "approve" | "deny"): Handler<WithCode> =>
  ofCode(deps, async ({ body, envelope }, member) => {
    const position = await deps.deviceLogins[act](body.user_code, member, envelope);
    return position === null ? null : { status: 204, position };
  });

const OF_MEMBER = { who: { session: "viewer" }, tag: "accounts", body: CODE_BODY } as const;
const PROBLEMS = ["not-found", "forbidden", "rate-limited"] as const satisfies readonly ProblemCode[];

/** The login of a command line, after RFC 8628 with bodies in JSON, and its decision by a member in the console. */
export const deviceRoutes = (deps: DeviceRoutesDeps): readonly Route[] => [
  route({
    method: "POST",
    path: "/v1/auth/device",
    who: "anyone",
    summary: "Ask for the login of a command line (RFC 8628, section 3.1, with a JSON body)",
    tag: "accounts",
    body: DEVICE_BODY,
    problems: ["rate-limited"],
    answers: { 200: DEVICE },
    handle: request(deps),
  }),
  route({
    method: "POST",
    path: "/v1/auth/device/token",
    who: "anyone",
    summary:
      "Ask whether the login was approved (RFC 8628, section 3.4); a refusal has the RFC's `error` beside the `code` of all problems",
    tag: "accounts",
    body: TOKEN_BODY,
    problems: ["authorization-pending", "slow-down", "access-denied", "expired-token", "rate-limited"],
    answers: { 200: TOKEN },
    handle: token(deps),
  }),
  route({
    ...OF_MEMBER,
    method: "POST",
    path: "/v1/auth/device/request",
    summary: "Who asks for a login under this code; changes nothing",
    problems: PROBLEMS,
    answers: { 200: PENDING },
    handle: show(deps),
  }),
  route({
    ...OF_MEMBER,
    method: "POST",
    path: "/v1/auth/device/approve",
    summary: "Let a command line in: it gets a session of yours",
    problems: PROBLEMS,
    answers: { 204: null },
    handle: decision(deps, "approve"),
  }),
  route({
    ...OF_MEMBER,
    method: "POST",
    path: "/v1/auth/device/deny",
    summary: "Refuse the login of a command line",
    problems: PROBLEMS,
    answers: { 204: null },
    handle: decision(deps, "deny"),
  }),
];
