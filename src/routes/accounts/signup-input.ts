import type { Signup } from "../../accounts/accounts.ts";
import { clientOf } from "../../erasure/personal-data.ts";
import { nonBlank } from "../../http/json-schema.ts";
import { named } from "../../http/named-schemas.ts";
import type { BodyOf, Call, JsonSchema } from "../../http/route.ts";
import { type Problem, problem } from "../../streams/problems.ts";
import { EMAIL_SCHEMA, emailOf, newPasswordOf, PASSWORD_SCHEMA } from "./account-problems.ts";

export const ACCOUNT_NAME_MAX = 100;

export const TIME_ZONE = {
  type: "string",
  minLength: 1,
  maxLength: 64,
  description: "an IANA name, such as Europe/Madrid",
} as const satisfies JsonSchema;

export const SIGNUP_PROPERTIES = {
  email: EMAIL_SCHEMA,
  password: PASSWORD_SCHEMA,
  account_name: nonBlank(ACCOUNT_NAME_MAX),
  time_zone: TIME_ZONE,
} as const satisfies Record<string, JsonSchema>;

export const SIGNUP_BODY = named("SignUp", {
  type: "object",
  required: ["email", "password"],
  additionalProperties: false,
  properties: SIGNUP_PROPERTIES,
  examples: [{ email: "ada@example.com", password: "correct horse battery", account_name: "Shop" }],
});

/** No part of the address is in the name: a name stays in the clear, and an address can be erased. */
const UNNAMED = "My account";

/** The canonical name of an IANA time zone, or null. Offsets such as "+01:00" are refused: they know no summer time. */
export const timeZoneOf = (name: string): string | null => {
  if (/^[+-]/.test(name)) return null;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
};

export const UNKNOWN_TIME_ZONE = problem("invalid-request", "This time zone is not known.", {
  errors: [{ path: "/time_zone", message: "must be an IANA time zone, such as Europe/Madrid" }],
});

export const signupOf = (
  given: BodyOf<typeof SIGNUP_BODY>,
  client: Pick<Call, "ip" | "userAgent">,
): Signup | Problem => {
  const email = emailOf(given.email);
  if (typeof email !== "string") return email;
  const password = newPasswordOf(given.password, email);
  if (typeof password !== "string") return password;
  const timeZone = timeZoneOf(given.time_zone ?? "UTC");
  if (timeZone === null) return UNKNOWN_TIME_ZONE;
  return { email, password, name: given.account_name?.trim() ?? UNNAMED, timeZone, client: clientOf(client) };
};
