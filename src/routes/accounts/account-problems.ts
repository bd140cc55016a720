import type { AccountRejection } from "../../../domain/account/commands.ts";
import { API_KEYS_MAX } from "../../../domain/account/decider.ts";
import { EMAIL_LENGTH_MAX, normalizeEmail } from "../../../domain/account/email-address.ts";
import { normalizePassword, PASSWORD_LENGTH_MAX, weaknessOf } from "../../../domain/account/password-rule.ts";
import type { JsonSchema } from "../../http/route.ts";
import { limitReached, notFound, type Problem, problem } from "../../streams/problems.ts";

const OVERLOADED_RETRY_S = 2;

const invalidCredentials = (): Problem => problem("invalid-credentials", "The address or the password is wrong.");

/** An unknown, used, withdrawn, replaced or expired link gets the same answer, which so tells nobody which it is. */
export const linkGone = (): Problem =>
  problem("not-found", "This link was used or has expired. Ask for a new one where you got it.");

const PROBLEM_OF: Record<AccountRejection | "email-taken" | "invalid-credentials" | "overloaded", Problem> = {
  "account-absent": notFound(),
  "member-absent": notFound(),
  "key-absent": notFound(),
  "link-gone": linkGone(),
  "member-limit": limitReached("members"),
  "member-already": problem("conflict", "This address belongs to a member of the account already."),
  "not-owner": problem("forbidden", "This call needs the role owner."),
  "last-owner": problem("conflict", "This is the account's last owner. Make another member an owner first."),
  "own-reset": problem("conflict", "Change your own password with POST /v1/auth/password; a reset link is for others."),
  "password-changed": invalidCredentials(),
  "invalid-credentials": invalidCredentials(),
  "key-limit": problem("conflict", `An account has at most ${API_KEYS_MAX} active keys. Revoke one first.`),
  "expiry-past": problem("invalid-request", "expires_at must be in the future.", {
    errors: [{ path: "/expires_at", message: "must be in the future" }],
  }),
  "email-taken": problem("email-taken", "Someone has signed up with this address. Log in, or use another one."),
  overloaded: problem("overloaded", "Too many passwords are being checked at this moment. Repeat the request.", {
    retryAfterS: OVERLOADED_RETRY_S,
  }),
};

export const accountProblem = (rejection: keyof typeof PROBLEM_OF): Problem => PROBLEM_OF[rejection];

/** This schema and the next accept text as it was typed; `emailOf` and `newPasswordOf` normalise and check it. */
export const EMAIL_SCHEMA = { type: "string", minLength: 3, maxLength: EMAIL_LENGTH_MAX } as const satisfies JsonSchema;
export const PASSWORD_SCHEMA = {
  type: "string",
  minLength: 1,
  maxLength: PASSWORD_LENGTH_MAX,
} as const satisfies JsonSchema;

export const emailOf = (raw: string): string | Problem =>
  normalizeEmail(raw) ??
  problem("invalid-request", "This is not an e-mail address.", {
    errors: [{ path: "/email", message: "must be an e-mail address" }],
  });

/** Returns the normalised password, or the problem that tells why it is too weak. */
export const newPasswordOf = (raw: string, email: string, path = "/password"): string | Problem => {
  const password = normalizePassword(raw);
  const weakness = weaknessOf(password, email);
  if (weakness === null) return password;
  return problem("weak-password", weakness, { errors: [{ path, message: weakness }] });
};
