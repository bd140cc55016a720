import { HEADER_NAME_LENGTH_MAX, HEADER_VALUE_LENGTH_MAX, HEADERS_MAX } from "../../../domain/endpoint/own-headers.ts";
import { URL_LENGTH_MAX } from "../../../infra/http/addresses.ts";
import type { EndpointHealth } from "../../../projections/endpoints.ts";
import { nonBlank, nullable, nullableTime, time } from "../../http/json-schema.ts";
import { named } from "../../http/named-schemas.ts";
import type { BodyOf, JsonSchema } from "../../http/route.ts";
import { NOTIFICATIONS } from "../../notifications/names.ts";

export const DEFAULTS = {
  timeout_ms: 15_000,
  retry_schedule_s: [5, 30, 120, 600, 1_800, 7_200, 18_000, 36_000, 36_000, 86_400],
  /** A small application can handle so many requests at once. */
  concurrency: 16,
  rate_per_second: null,
} as const;

/** Is shown instead of each header's value. A change that sends it back leaves the value as it is. */
export const REDACTED = "[redacted]";

const TIMEOUT_MS = { minimum: 1_000, maximum: 60_000 };
const RETRIES_MAX = 20;
const RETRY_DELAY_S = { minimum: 1, maximum: 86_400 };
const CONCURRENCY = { minimum: 1, maximum: 256 };
const RATE_PER_SECOND = { minimum: 1, maximum: 10_000 };

const HEADER_VALUE = { type: "string", minLength: 1, maxLength: HEADER_VALUE_LENGTH_MAX } as const;

const FIELDS = {
  name: nonBlank(100),
  url: { type: "string", minLength: 1, maxLength: URL_LENGTH_MAX, description: "http or https, a public address" },
  timeout_ms: {
    type: "integer",
    ...TIMEOUT_MS,
    description: "for one attempt, from the DNS look-up to the complete response",
  },
  retry_schedule_s: {
    type: "array",
    maxItems: RETRIES_MAX,
    items: { type: "integer", ...RETRY_DELAY_S },
    description: "seconds between one attempt and the next; its length is the number of retries",
  },
  concurrency: { type: "integer", ...CONCURRENCY, description: "requests in flight at the same time" },
  rate_per_second: { type: ["integer", "null"], ...RATE_PER_SECOND, description: "null: no limit" },
  headers: {
    type: "object",
    maxProperties: HEADERS_MAX,
    propertyNames: { type: "string", minLength: 1, maxLength: HEADER_NAME_LENGTH_MAX },
    additionalProperties: {
      oneOf: [
        HEADER_VALUE,
        named("HeaderSetting", {
          type: "object",
          required: ["value", "secret"],
          additionalProperties: false,
          properties: { value: HEADER_VALUE, secret: { type: "boolean" } },
        }),
      ],
    },
    description: `sent with every delivery; values are stored sealed and shown as ${REDACTED}. An approval is bound to the values, but of a secret header to its name only: if the endpoint needs approvals, only a person with a session may change such a value`,
  },
  notifications: {
    type: "array",
    maxItems: NOTIFICATIONS.length,
    uniqueItems: true,
    items: { enum: NOTIFICATIONS },
    description: "its notifications, each sent as a signed event",
  },
  policy_id: {
    type: ["string", "null"],
    maxLength: 64,
    description: "a policy that every request to this endpoint has to pass; null: none",
  },
} as const satisfies Record<string, JsonSchema>;

export const NEW_ENDPOINT = named("NewEndpoint", {
  type: "object",
  required: ["name", "url"],
  additionalProperties: false,
  properties: FIELDS,
  examples: [{ name: "shop", url: "https://shop.example.com/hooks", timeout_ms: 10_000 }],
});

export const ENDPOINT_CHANGES = named("EndpointChanges", {
  type: "object",
  additionalProperties: false,
  properties: FIELDS,
  examples: [{ concurrency: 4, retry_schedule_s: [5, 60, 600] }],
});

export type EndpointBody = BodyOf<typeof ENDPOINT_CHANGES>;

const HEALTH: JsonSchema = named("EndpointHealth", {
  type: "object",
  properties: {
    state: { enum: ["healthy", "degraded", "open", "disabled"] },
    success_rate_1h: nullable("number"),
    p50_ms: nullable("number"),
    p99_ms: nullable("number"),
    consecutive_failures: { type: "integer" },
    last_success_at: nullableTime,
    last_failure: named("LastFailure", {
      type: ["object", "null"],
      description: "The last attempt that failed, with its event and its number among the attempts of that event",
      properties: {
        at: time,
        kind: { type: "string" },
        status_code: { type: ["integer", "null"] },
        event_id: { type: "string" },
        attempt: { type: "integer" },
      },
    }),
    since: { ...nullableTime, description: "When it came into its state; null while it is healthy" },
    next_probe_at: nullableTime,
    queued: { type: "integer", description: "How many admitted events wait for it" },
  } satisfies Record<keyof EndpointHealth, JsonSchema>,
});

const SHOWN = {
  id: { type: "string" },
  ...FIELDS,
  headers: {
    type: "object",
    additionalProperties: {
      oneOf: [
        { const: REDACTED },
        named("RedactedHeader", {
          type: "object",
          required: ["value", "secret"],
          properties: { value: { const: REDACTED }, secret: { type: "boolean", const: true } },
        }),
      ],
    },
  },
  disabled: named("Disabled", { type: ["object", "null"], properties: { reason: { type: "string" }, at: time } }),
  created_at: time,
  health: HEALTH,
};

export const ENDPOINT: JsonSchema = named("Endpoint", {
  type: "object",
  required: Object.keys(SHOWN),
  properties: SHOWN,
});

const SIGNING_SECRET: JsonSchema = { type: "string", description: "shown only once" };

export const REGISTERED: JsonSchema = named("CreatedEndpoint", {
  type: "object",
  required: [...Object.keys(SHOWN), "signing_secret"],
  properties: { ...SHOWN, signing_secret: SIGNING_SECRET },
});

export const ROTATED: JsonSchema = named("RotatedEndpointSecret", {
  type: "object",
  required: ["signing_secret", "previous_valid_until"],
  properties: { signing_secret: SIGNING_SECRET, previous_valid_until: time },
});

export const TESTED: JsonSchema = named("EndpointTest", {
  type: "object",
  required: ["outcome", "status_code", "timings_ms", "failure"],
  properties: {
    outcome: { enum: ["succeeded", "failed"] },
    status_code: { type: ["integer", "null"] },
    timings_ms: {
      type: "object",
      properties: {
        dns: { type: "integer" },
        connect: { type: "integer" },
        tls: { type: "integer" },
        first_byte: { type: ["integer", "null"] },
        total: { type: "integer" },
      },
    },
    failure: {
      type: ["object", "null"],
      properties: { kind: { type: "string" }, detail: { type: "string" } },
    },
  },
});
