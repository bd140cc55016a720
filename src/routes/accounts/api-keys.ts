import { apiKey } from "../../../domain/account/api-key.ts";
import { account, isExpired } from "../../../domain/account/decider.ts";
import { KEY_ROLES } from "../../../domain/account/events.ts";
import type { Clock } from "../../../domain/ports/clock.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import { bearerKey, keyId } from "../../../infra/crypto/api-key.ts";
import { type ApiKeyDocument, apiKeys } from "../../../projections/api-keys.ts";
import { accountStream } from "../../accounts/accounts.ts";
import type { CredentialHashes } from "../../accounts/credential-hashes.ts";
import { apiKeyStream } from "../../accounts/credentials.ts";
import { nonBlank } from "../../http/json-schema.ts";
import { isPage, LISTING_QUERY, listOf, pageOf } from "../../http/listing.ts";
import { named } from "../../http/named-schemas.ts";
import { type Handler, type JsonSchema, positionOf, type Route, route } from "../../http/route.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import { problem } from "../../streams/problems.ts";
import { accountProblem } from "./account-problems.ts";

export type ApiKeysDeps = {
  readonly aggregates: Aggregates;
  readonly clock: Clock;
  readonly hashes: CredentialHashes;
  readonly views: Pick<ViewStore, "page">;
};

const BODY = named("NewApiKey", {
  type: "object",
  required: ["name"],
  additionalProperties: false,
  properties: {
    name: nonBlank(100),
    role: { enum: KEY_ROLES, description: "admin when left out: a key's first use is to register sources" },
    expires_at: { type: ["string", "null"], format: "date-time", description: "left out or null: never" },
  },
  examples: [{ name: "deployment", role: "admin" }],
});

const COMMON = {
  id: { type: "string" },
  name: { type: "string" },
  role: { enum: KEY_ROLES },
  last4: { type: "string" },
  expires_at: { type: ["string", "null"], format: "date-time" },
  created_at: { type: "string", format: "date-time" },
};
const REQUIRED = ["id", "name", "role", "last4", "created_at"];

const CREATED: JsonSchema = named("CreatedApiKey", {
  type: "object",
  required: [...REQUIRED, "key"],
  properties: { ...COMMON, key: { type: "string", description: "shown only once" } },
});
const LAST_USED: JsonSchema = {
  type: ["string", "null"],
  format: "date-time",
  description:
    "Exact to the day: the first call on the newest day, in the account's time zone, on which the key was used. Later calls " +
    "of that day do not change it. Null if the key was never used",
};
const LISTED: JsonSchema = named("ApiKey", {
  type: "object",
  required: [...REQUIRED, "status", "last_used_at"],
  properties: {
    ...COMMON,
    status: { enum: ["active", "expired"] },
    created_by: { type: "string" },
    last_used_at: LAST_USED,
  },
});

const LAST = 4;

/** Returns the time in UTC with milliseconds; null for a time that `Date` does not know, such as a leap second. */
const instantOf = (text: string): string | null => {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
};

const create =
  ({ aggregates, hashes }: ApiKeysDeps): Handler<{ body: typeof BODY }> =>
  async ({ principal, body, envelope, secret }) => {
    const { name: given, role = "admin", expires_at: until = null } = body;
    const expires_at = until === null ? null : instantOf(until);
    if (until !== null && expires_at === null) {
      const errors = [{ path: "/expires_at", message: "must be a date and time" }];
      return problem("invalid-request", "expires_at is not a time.", { errors });
    }
    const name = given.trim();
    // A repeat under the same Idempotency-Key derives the same key, so a crash before the answer loses no key.
    const key = bearerKey("csk", secret("api-key"));
    const id = keyId(key);
    const digest = hashes.apiKey(key, { account: principal.account, role, expires_at });
    const { at } = envelope;
    const shown = { name, role, last4: key.slice(-LAST), expires_at };
    const created = await aggregates.handle(
      account,
      accountStream(principal.account),
      { type: "CreateApiKey", key_id: id, digest, ...shown, at },
      envelope,
    );
    if (created.outcome === "rejected") return accountProblem(created.rejection);
    const made_by = principal.id;
    const issue = { type: "IssueApiKey", account: principal.account, key_id: id, made_by, at } as const;
    await aggregates.handle(apiKey, apiKeyStream(id), issue, { ...envelope, commandId: `issue-${id}` });
    return {
      status: 201,
      body: { id, ...shown, key, created_at: at },
      ...positionOf(created),
    };
  };

const list =
  ({ views, clock }: ApiKeysDeps): Handler =>
  async ({ principal, query }) => {
    const where = [{ field: "account", is: "=", value: principal.account }] as const;
    const sort = { field: "created_at", order: "desc" } as const;
    const now = new Date(clock.now()).toISOString();
    const page = await pageOf(
      views,
      { view: apiKeys.schema.name, where, sort },
      query,
      (document: ApiKeyDocument, id) => {
        const { account: _, ...key } = document;
        return { id, ...key, status: isExpired(key, now) ? "expired" : "active" };
      },
    );
    return isPage(page) ? { status: 200, body: page } : page;
  };

const revoke =
  ({ aggregates }: ApiKeysDeps): Handler<{ params: "id" }> =>
  async ({ principal, params, envelope }) => {
    const command = { type: "RevokeApiKey", key_id: params.id, at: envelope.at } as const;
    const revoked = await aggregates.handle(account, accountStream(principal.account), command, envelope);
    if (revoked.outcome === "rejected") return accountProblem(revoked.rejection);
    return { status: 204, ...positionOf(revoked) };
  };

export const apiKeyRoutes = (deps: ApiKeysDeps): readonly Route[] => [
  route({
    method: "POST",
    path: "/v1/api-keys",
    who: { session: "admin" },
    summary: "Create an API key; it is shown only once",
    tag: "accounts",
    body: BODY,
    problems: ["conflict", "not-found"],
    answers: { 201: CREATED },
    handle: create(deps),
  }),
  route({
    method: "GET",
    path: "/v1/api-keys",
    who: { session: "admin" },
    summary: "List the API keys, newest first",
    tag: "accounts",
    query: LISTING_QUERY,
    answers: { 200: listOf(LISTED) },
    reads: [apiKeys.schema.name],
    handle: list(deps),
  }),
  route({
    method: "DELETE",
    path: "/v1/api-keys/{id}",
    who: { session: "admin" },
    summary: "Revoke an API key immediately",
    tag: "accounts",
    answers: { 204: null },
    handle: revoke(deps),
  }),
];
