import { type Counts, PLANS, type Plan } from "../../../domain/account/plans.ts";
import type { GateName } from "../../../domain/gate/verdict.ts";
import { integer, object, text } from "../../http/json-schema.ts";
import { named } from "../../http/named-schemas.ts";
import { type Handler, type JsonSchema, READERS, type Route, route } from "../../http/route.ts";
import type { CatalogueEntry } from "../../providers/catalogue.ts";

export type CapabilitiesDeps = {
  readonly planOf: (account: string) => Promise<{ readonly plan: Plan }>;
  readonly providers: readonly CatalogueEntry[];
  readonly maxPayloadBytes: number;
};

/** The gates in the order in which they are asked. The gate "scope" is asked for agents only. */
const GATES: readonly GateName[] = [
  "scope",
  "schema",
  "require_fields",
  "cost",
  "content",
  "loop",
  "rate",
  "budget",
  "quota",
  "bytes",
  "approval",
];

/** Every plan has all features; plans differ only in volume. */
const FEATURES = { agent_sdk: true, gates: true, approvals: true, bundles: true, traces: true };

const COUNTED: Readonly<Record<keyof Counts, JsonSchema>> = {
  delivery_endpoints: integer,
  policies: integer,
  agents: integer,
  actions: integer,
  members: { type: "integer", description: "Members and open invitations" },
  sessions: { type: "integer", description: "Sessions of all members; a further one ends the oldest" },
  held_approvals: { type: "integer", description: "Requests that wait for people" },
  held_changes: { type: "integer", description: "Changes of protected policies that wait for people" },
};

const PROVIDER = named(
  "Provider",
  object({
    type: text,
    category: text,
    auth: text,
    label: text,
    secret_from: {
      enum: ["provider", "either"],
      description: "provider: it makes the secret and shows it; either: it takes one that was made here",
    },
    steps: { type: "array", items: text, description: "What a person does at the provider, in this order" },
    sample_types: { type: "array", items: text, description: "Event types that POST /v1/sources/{id}/sample sends" },
  }),
);

const CAPABILITIES = named(
  "Capabilities",
  object({
    plan: { enum: Object.keys(PLANS) },
    features: object(Object.fromEntries(Object.keys(FEATURES).map((name) => [name, { type: "boolean" }]))),
    providers: { type: "array", items: PROVIDER },
    limits: object({
      events_per_month: { type: "integer", description: "Included; only the free plan stops there" },
      endpoints: { type: "integer", description: "Ingest sources; the same as sources" },
      sources: integer,
      retention_days: { type: "integer", description: "Of payloads; the audit log is kept" },
      max_payload_bytes: integer,
      stored_bytes_day: {
        type: "integer",
        description:
          "Of admitted and held requests, receivers' answers and the forms that voters saw, stored in a day (UTC)",
      },
      refused_bytes_day: {
        type: "integer",
        description:
          "Of refused requests that are stored whole in a day (UTC); of each further one the first 4 KiB are",
      },
      refused_records_day: {
        type: "integer",
        description:
          "Refused requests beyond those bytes that are recorded one by one in a day (UTC); the others are counted",
      },
      change_bytes_day: {
        type: "integer",
        description:
          "Of changes in a day (UTC): three times the body and 4 KiB for each call; people, keys and agents are counted apart",
      },
      large_body_bytes_per_s: {
        type: "integer",
        description:
          "Bytes of webhooks larger than 64 KiB that are worked on in a second: more of them wait for their turn",
      },
      ...COUNTED,
      api_rate_per_minute: { type: "integer", description: "Requests of one key, session or agent" },
      api_rate_per_minute_account: {
        type: "integer",
        description: "Requests of all sessions together, of all keys together, and of all agents together",
      },
    }),
    gates: { type: "array", items: text },
  }),
);

const capabilities =
  ({ planOf, providers, maxPayloadBytes }: CapabilitiesDeps): Handler =>
  async ({ principal }) => {
    const { plan } = await planOf(principal.account);
    return {
      status: 200,
      body: {
        plan: plan.name,
        features: FEATURES,
        providers,
        limits: {
          events_per_month: plan.eventsPerMonth,
          endpoints: plan.endpoints,
          sources: plan.endpoints,
          retention_days: plan.retentionDays,
          max_payload_bytes: maxPayloadBytes,
          stored_bytes_day: plan.storedBytesDay,
          refused_bytes_day: plan.refusedBytesDay,
          refused_records_day: plan.refusedRecordsDay,
          change_bytes_day: plan.changeBytesDay,
          large_body_bytes_per_s: plan.largeBodyBytesPerS,
          ...plan.counts,
          api_rate_per_minute: plan.apiRatePerMinute,
          api_rate_per_minute_account: plan.apiRatePerMinuteAccount,
        },
        gates: GATES,
      },
    };
  };

export const capabilityRoutes = (deps: CapabilitiesDeps): readonly Route[] => [
  route({
    method: "GET",
    path: "/v1/capabilities",
    who: READERS,
    summary: "What the account can use, and how much of it",
    tag: "accounts",
    answers: { 200: CAPABILITIES },
    handle: capabilities(deps),
  }),
];
