import { DEVICE_CODE_LENGTH_MAX } from "../../accounts/device-logins.ts";
import { USER_CODE_LENGTH_MAX } from "../../accounts/user-code.ts";
import { named } from "../../http/named-schemas.ts";
import type { JsonSchema } from "../../http/route.ts";

/** The id of our command line, which is the only client (RFC 6749, section 2.2). It is no secret. */
const CLIENT = "countersign-cli";
const CLIENT_ID = { const: CLIENT } as const;
const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code";
const NAME_LENGTH_MAX = 64;
export const DEVICE_BODY = named("DeviceLoginRequest", {
  type: "object",
  required: ["client_id"],
  additionalProperties: false,
  properties: {
    client_id: CLIENT_ID,
    device_name: { type: "string", maxLength: NAME_LENGTH_MAX, description: "Shown to the person who decides" },
  },
  examples: [{ client_id: CLIENT, device_name: "laptop" }],
});

export const TOKEN_BODY = named("DeviceTokenRequest", {
  type: "object",
  required: ["client_id", "grant_type", "device_code"],
  additionalProperties: false,
  properties: {
    client_id: CLIENT_ID,
    grant_type: { const: GRANT_TYPE },
    device_code: { type: "string", minLength: 1, maxLength: DEVICE_CODE_LENGTH_MAX },
  },
  examples: [{ client_id: CLIENT, grant_type: GRANT_TYPE, device_code: "kJ3…" }],
});

export const CODE_BODY = named("UserCode", {
  type: "object",
  required: ["user_code"],
  additionalProperties: false,
  properties: { user_code: { type: "string", minLength: 1, maxLength: USER_CODE_LENGTH_MAX } },
  examples: [{ user_code: "BCDF-GHJK" }],
});

const text = { type: "string" } as const;

export const DEVICE: JsonSchema = named("DeviceLogin", {
  type: "object",
  required: ["device_code", "user_code", "verification_uri", "verification_uri_complete", "expires_in", "interval"],
  properties: {
    device_code: { ...text, description: "For POST /v1/auth/device/token alone" },
    user_code: { ...text, description: "What the person compares or types" },
    verification_uri: text,
    verification_uri_complete: { ...text, description: "The code is in the fragment, which no server is sent" },
    expires_in: { type: "integer", description: "Seconds" },
    interval: { type: "integer", description: "Seconds between two calls of POST /v1/auth/device/token" },
  },
});

export const TOKEN: JsonSchema = named("DeviceToken", {
  type: "object",
  required: ["access_token", "token_type", "expires_in"],
  properties: {
    access_token: { ...text, description: "A session of the person (css_…), for Authorization: Bearer" },
    token_type: { const: "Bearer" },
    expires_in: { type: "integer", description: "Seconds" },
  },
});

export const PENDING: JsonSchema = named("PendingDeviceLogin", {
  type: "object",
  required: ["user_code", "device_name", "ip", "user_agent", "expires_at"],
  properties: {
    user_code: text,
    device_name: { type: ["string", "null"], description: "As the command line says" },
    ip: { type: ["string", "null"] },
    user_agent: { type: ["string", "null"] },
    expires_at: { type: "string", format: "date-time" },
  },
});
