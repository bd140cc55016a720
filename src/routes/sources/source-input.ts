import { parseFieldPath } from "../../../domain/gate/field-path.ts";
import {
  type DedupeRule,
  type HmacAuth,
  PROVIDER_TYPES,
  type ProviderType,
  type SourceSettings,
} from "../../../domain/source/events.ts";
import { SAME_BODY_MS } from "../../admission/body-keys.ts";
import { nonBlank, time } from "../../http/json-schema.ts";
import { named } from "../../http/named-schemas.ts";
import type { BodyOf, JsonSchema } from "../../http/route.ts";
import { checkSecret, isProviderType } from "../../providers/catalogue.ts";
import { hmacDefaults, PROVIDERS } from "../../providers/provider-schemes.ts";
import { type Problem, problem } from "../../streams/problems.ts";
import type { SourceAnswer } from "./source-answer.ts";

const NAME = nonBlank(100);
const ID = { type: ["string", "null"], maxLength: 64 } as const satisfies JsonSchema;
const STATUS = { enum: ["active", "paused"] } as const satisfies JsonSchema;
/** The name of a header (RFC 9110, section 5.1). */
const HEADER = {
  type: "string",
  minLength: 1,
  maxLength: 64,
  pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
} as const satisfies JsonSchema;
const SECRET = {
  type: "string",
  minLength: 1,
  maxLength: 512,
  description: "left out: one is generated",
} as const satisfies JsonSchema;

const AUTH = named("HmacAuth", {
  type: "object",
  additionalProperties: false,
  description: "hmac only",
  properties: {
    header: { ...HEADER, description: "X-Signature when left out" },
    algorithm: { enum: ["sha256", "sha512"], description: "sha256 when left out" },
    encoding: { enum: ["hex", "base64"], description: "hex when left out" },
    prefix: { type: "string", minLength: 1, maxLength: 32, pattern: "^[\\x21-\\x7e]+$" },
    timestamp_header: { ...HEADER, description: "signed is `<timestamp>.` and the body; 300 s either way" },
  },
});

/** `newSourceOf` checks that the members fit together: errors of a `oneOf` would not tell which form was meant. */
const DEDUPE = named("DeliveryIdPlace", {
  type: ["object", "string"],
  additionalProperties: false,
  description:
    "The place of the delivery id: {header} or {pointer}; left out: by the provider's rule. hmac, bearer and slack: requests without " +
    `a delivery id and with the same body are one delivery for ${SAME_BODY_MS / 1_000} s from the first ("body", as when left out), or never ("none").`,
  properties: { header: HEADER, pointer: { type: "string", minLength: 1, maxLength: 256 } },
});

export const NEW_SOURCE = named("NewSource", {
  type: "object",
  required: ["name", "type"],
  additionalProperties: false,
  properties: {
    name: NAME,
    type: { type: "string", maxLength: 64, description: PROVIDER_TYPES.join(", ") },
    secret: SECRET,
    policy_id: ID,
    endpoint_id: ID,
    dedupe: DEDUPE,
    auth: AUTH,
  },
  examples: [{ name: "shop", type: "stripe", endpoint_id: "end_01j9z3k4m5n6p7q8r9s0t1v2w3" }],
});

export const SOURCE_CHANGES = named("SourceChanges", {
  type: "object",
  additionalProperties: false,
  properties: { name: NAME, policy_id: ID, endpoint_id: ID, status: STATUS },
  examples: [{ status: "paused" }],
});

export const NEW_SECRET = named("NewSourceSecret", {
  type: "object",
  additionalProperties: false,
  properties: { secret: SECRET },
  examples: [{ secret: "whsec_from_the_provider" }],
});

export const SOURCE: JsonSchema = named("Source", {
  type: "object",
  required: ["id", "name", "type", "ingest_url", "status", "policy_id", "endpoint_id", "auth", "dedupe", "created_at"],
  properties: {
    id: { type: "string" },
    name: NAME,
    type: { enum: PROVIDER_TYPES },
    ingest_url: { type: "string" },
    status: STATUS,
    policy_id: ID,
    endpoint_id: ID,
    auth: { anyOf: [AUTH, { type: "null" }] },
    dedupe: { anyOf: [DEDUPE, { type: "null" }] },
    created_at: time,
    secret: { type: "string", description: "only if it was generated, and shown only once" },
  } satisfies Record<"secret" | keyof SourceAnswer, JsonSchema>,
});

export const ROTATED: JsonSchema = named("RotatedSourceSecret", {
  type: "object",
  required: ["previous_valid_until"],
  properties: {
    secret: { type: "string", description: "only if it was generated, and shown only once" },
    previous_valid_until: time,
  },
});

type NewSourceBody = BodyOf<typeof NEW_SOURCE>;

export type NewSource = {
  readonly type: ProviderType;
  readonly settings: SourceSettings;
  readonly auth: HmacAuth | null;
  readonly dedupe: DedupeRule | null;
  readonly secret: string | null;
};

const invalid = (path: string, message: string): Problem =>
  problem("invalid-request", `${path} ${message}.`, { errors: [{ path, message }] });

export const secretProblem = (type: ProviderType, secret: string): Problem | null => {
  const fault = checkSecret(type, secret);
  return fault === null ? null : problem("invalid-request", fault, { errors: [{ path: "/secret", message: fault }] });
};

/** Compares names of headers, in which the case of letters means nothing (RFC 9110, section 5.1). */
const isSameHeader = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

const dedupeRule = (
  type: ProviderType,
  given: NonNullable<NewSourceBody["dedupe"]>,
): { readonly rule: DedupeRule } | Problem => {
  if (typeof given === "string") {
    if (given !== "body" && given !== "none") return invalid("/dedupe", 'must be an object, "body" or "none"');
    if (PROVIDERS[type].mayHaveNoKey) return { rule: given };
    return invalid("/dedupe", `${given} is for hmac, bearer and slack alone`);
  }
  const { header, pointer } = given;
  if (header !== undefined && pointer === undefined) return { rule: { header } };
  if (pointer === undefined || header !== undefined) return invalid("/dedupe", "must have either header or pointer");
  if (parseFieldPath(pointer) === null) return invalid("/dedupe/pointer", "must be a JSON Pointer or a dotted path");
  return { rule: { pointer } };
};

export const newSourceOf = (body: NewSourceBody): NewSource | Problem => {
  const { type, secret = null, dedupe, auth, policy_id = null, endpoint_id = null } = body;
  if (!isProviderType(type)) {
    return problem("unknown-provider", `The type must be one of ${PROVIDER_TYPES.join(", ")}.`, {
      extra: { providers: PROVIDER_TYPES },
    });
  }
  if (auth !== undefined && type !== "hmac") return invalid("/auth", "is for the type hmac alone");
  if (auth?.timestamp_header !== undefined && isSameHeader(auth.timestamp_header, hmacDefaults(auth).header))
    return invalid("/auth/timestamp_header", "must be another header than the signature's");
  const chosen =
    dedupe === undefined ? { rule: PROVIDERS[type].mayHaveNoKey ? ("body" as const) : null } : dedupeRule(type, dedupe);
  if ("problem" in chosen) return chosen;
  const fault = secret === null ? null : secretProblem(type, secret);
  if (fault !== null) return fault;
  const settings = { name: body.name.trim(), policy_id, endpoint_id, status: "active" } as const;
  return { type, settings, auth: type === "hmac" ? hmacDefaults(auth ?? {}) : null, dedupe: chosen.rule, secret };
};
