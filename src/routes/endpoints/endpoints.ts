import { PLANS } from "../../../domain/account/plans.ts";
import { type Decider, onlyWhile } from "../../../domain/decider.ts";
import type { EndpointCommand } from "../../../domain/endpoint/commands.ts";
import {
  type Endpoint,
  type EndpointRejection,
  endpoint as endpointDecider,
  type PresentEndpoint,
  SECRETS_MAX,
} from "../../../domain/endpoint/decider.ts";
import type { EndpointEvent } from "../../../domain/endpoint/events.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import { source as sourceDecider } from "../../../domain/source/decider.ts";
import type { HeaderDigest } from "../../../infra/crypto/header-digest.ts";
import { derivedId } from "../../../infra/crypto/ids.ts";
import type { SecretBox } from "../../../infra/crypto/secret-box.ts";
import type { AddressRules } from "../../../infra/http/addresses.ts";
import { makeSigningSecret } from "../../../infra/http/standard-webhooks.ts";
import {
  type CircuitDocument,
  type EndpointDocument,
  endpoints,
  headerNames,
  healthOf,
} from "../../../projections/endpoints.ts";
import { sources } from "../../../projections/sources.ts";
import type { Controls } from "../../controls/control-change.ts";
import { isEndpointId } from "../../controls/references.ts";
import { isPage, LISTING_QUERY, listOf, pageOf } from "../../http/listing.ts";
import {
  ADMINS,
  type Call,
  type Handler,
  HELD_CHANGE,
  type Input,
  positionOf,
  READERS,
  type Route,
  route,
} from "../../http/route.ts";
import type { Slots } from "../../ledgers/slots.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import {
  changedMeanwhile,
  limitReached,
  missingReference,
  notFound,
  type Problem,
  problem,
} from "../../streams/problems.ts";
import {
  DEFAULTS,
  ENDPOINT,
  ENDPOINT_CHANGES,
  type EndpointBody,
  NEW_ENDPOINT,
  REDACTED,
  REGISTERED,
  ROTATED,
  TESTED,
} from "./endpoint-input.ts";
import { settingsOf } from "./endpoint-settings.ts";
import { type EndpointTestDeps, sendTest } from "./endpoint-test.ts";

export type EndpointsDeps = EndpointTestDeps & {
  readonly slots: Slots;
  readonly aggregates: Aggregates;
  readonly views: Pick<ViewStore, "get" | "page">;
  readonly box: SecretBox;
  readonly headerDigest: HeaderDigest;
  readonly addresses: Pick<AddressRules, "vetUrl">;
  readonly controls: Controls;
  readonly policyExists: (account: string, id: string) => Promise<boolean>;
};

type Handle<I extends Input = object> = (deps: EndpointsDeps) => Handler<I>;
type OfOne = { readonly params: "id" };

/** Deliveries are signed with the previous secret as well for this long. */
const OVERLAP_MS = 24 * 60 * 60 * 1_000;

/** No plan has more sources. */
const SOURCES_MAX = PLANS.scale.endpoints;
/** Sources named in the detail; the answer's `sources` lists all. */
const NAMED_MAX = 5;

const streamOf = (endpointId: string): string => `endpoint-${endpointId}`;

const PROBLEM_OF: Record<EndpointRejection | "changed-meanwhile", Problem> = {
  "changed-meanwhile": changedMeanwhile(),
  "not-found": notFound(),
  "person-required": problem(
    "person-required",
    "Only a person with a session may set secret headers of an endpoint that needs approvals, make them readable, or send them to another URL.",
  ),
  conflict: problem("conflict", "This endpoint existed and was deleted."),
  "too-many-secrets": problem(
    "conflict",
    `${SECRETS_MAX} secrets sign at once. A new one can be made when the oldest has expired, 24 hours after its successor.`,
  ),
};

const headerShown = (name: string, { secret_headers }: EndpointDocument) =>
  secret_headers.includes(name) ? { value: REDACTED, secret: true } : REDACTED;

const show = (id: string, it: EndpointDocument, nowMs: number) => ({
  id,
  name: it.name,
  url: it.url,
  timeout_ms: it.timeout_ms,
  retry_schedule_s: it.retry_schedule_s,
  concurrency: it.concurrency,
  rate_per_second: it.rate_per_second,
  headers: Object.fromEntries(it.header_names.map((name) => [name, headerShown(name, it)])),
  notifications: it.notifications,
  policy_id: it.policy_id ?? null,
  disabled: it.disabled,
  created_at: it.created_at,
  health: healthOf(it, nowMs),
});

/** The figures of an endpoint before its first attempt. */
const untried = {
  deleted: 0,
  queued: 0,
  consecutive_failures: 0,
  last_success_at: null,
  last_failure: null,
  buckets: [],
} as const;

/** Settings come from the stream, figures of deliveries from the view, which may lag. */
const showPresent = async ({ views, clock }: EndpointsDeps, state: PresentEndpoint) => {
  const { endpointId, account, disabled, circuit: is, createdAt: created_at } = state;
  const { headers, ...settings } = state.settings;
  // The view holds what its projection writes.
  const seen = (await views.get(endpoints.schema.name, endpointId)) as EndpointDocument | null;
  const circuit: CircuitDocument = {
    state: is.state,
    since: is.state === "healthy" ? null : is.since,
    next_probe_at: is.state === "open" ? is.nextProbeAt : null,
  };
  const own = { ...settings, account, ...headerNames(headers), disabled, circuit, created_at };
  return show(endpointId, { ...untried, ...seen, ...own }, clock.now());
};

/** Null unless the endpoint belongs to the caller's account. */
const own = async (
  { aggregates }: EndpointsDeps,
  { principal, params }: Call<OfOne>,
): Promise<PresentEndpoint | null> => {
  const { id } = params;
  if (!isEndpointId(id)) return null;
  const { state } = await aggregates.load(endpointDecider, streamOf(id));
  return state.phase === "present" && state.account === principal.account ? state : null;
};

const foreignPolicy = async (
  { policyExists }: EndpointsDeps,
  account: string,
  { policy_id = null }: EndpointBody,
): Promise<Problem | null> =>
  policy_id === null || (await policyExists(account, policy_id)) ? null : missingReference("/policy_id", "policy");

const controlled = ({ endpointId: id, settings: { policy_id = null } }: PresentEndpoint) =>
  ({ kind: "endpoint", id, base: { policy_id } }) as const;

const handled = async (
  deps: EndpointsDeps,
  call: Call,
  endpointId: string,
  command: EndpointCommand,
  decider: Decider<Endpoint, EndpointCommand, EndpointEvent, EndpointRejection | "changed-meanwhile"> = endpointDecider,
) => {
  const done = await deps.aggregates.handle(decider, streamOf(endpointId), command, call.envelope);
  if (done.outcome === "rejected") return PROBLEM_OF[done.rejection];
  return { state: done.state, position: positionOf(done) };
};

const register: Handle<{ body: typeof NEW_ENDPOINT }> = (deps) => async (call) => {
  const { account } = call.principal;
  const { commandId, at } = call.envelope;
  // A repeat of the command derives the same id and secret, so a crash before the answer loses neither.
  const endpointId = derivedId("end_", account, commandId);
  const stream = streamOf(endpointId);
  const { body } = call;
  const given = await settingsOf(deps, { account, stream, headers: {} }, body);
  if ("problem" in given) return given;
  const foreign = await foreignPolicy(deps, account, body);
  if (foreign !== null) return foreign;
  const change = { kind: "endpoint", id: endpointId, base: null } as const;
  const refused = await deps.controls.authorize(call, { ...change, changes: { policy_id: body.policy_id ?? null } });
  if (refused !== null) return refused;
  const { name, url } = body;
  const settings = { name, url, ...DEFAULTS, headers: {}, notifications: [], ...given };
  const signing_secret = makeSigningSecret(call.secret("signing-secret"));
  const secret = deps.box.seal(signing_secret, { account, stream, field: "secret" });
  const command = { type: "RegisterEndpoint", endpointId, account, settings, secret, at } as const;
  const done = await deps.slots.register({
    kind: "delivery_endpoints",
    id: endpointId,
    decider: endpointDecider,
    command,
    envelope: call.envelope,
  });
  if (done.outcome === "full") {
    await deps.controls.withdraw(call, "endpoint", endpointId);
    return limitReached("delivery_endpoints", done.limit);
  }
  if (done.outcome === "rejected") return PROBLEM_OF[done.rejection];
  if (done.state.phase !== "present") return notFound();
  return { status: 201, body: { ...(await showPresent(deps, done.state)), signing_secret }, ...positionOf(done) };
};

const list: Handle =
  ({ views, clock }) =>
  async ({ principal, query }) => {
    const where = [
      { field: "account", is: "=", value: principal.account },
      { field: "deleted", is: "=", value: 0 },
    ] as const;
    const sort = { field: "created_at", order: "desc" } as const;
    const now = clock.now();
    // The view holds what its projection writes.
    const page = await pageOf(views, { view: endpoints.schema.name, where, sort }, query, (document, id) =>
      show(id, document as EndpointDocument, now),
    );
    return isPage(page) ? { status: 200, body: page } : page;
  };

const get: Handle<OfOne> = (deps) => async (call) => {
  const it = await own(deps, call);
  return it === null ? notFound() : { status: 200, body: await showPresent(deps, it) };
};

const change: Handle<{ body: typeof ENDPOINT_CHANGES; params: "id" }> = (deps) => async (call) => {
  const { account } = call.principal;
  const it = await own(deps, call);
  if (it === null) return notFound();
  const { endpointId } = it;
  const before = { account, stream: streamOf(endpointId), headers: it.settings.headers };
  const { body } = call;
  const changes = await settingsOf(deps, before, body);
  if ("problem" in changes) return changes;
  const foreign = await foreignPolicy(deps, account, body);
  if (foreign !== null) return foreign;
  if (body.policy_id !== undefined) {
    const { policy_id } = body;
    const command = { type: "ChangeEndpoint", account, changes: { policy_id }, at: call.envelope.at } as const;
    // A held change shows approvers the policy only, so it must change nothing else.
    const deferred = Object.keys(body).length === 1 ? { command, after: { policy_id } } : undefined;
    const refused = await deps.controls.authorize(call, { ...controlled(it), changes: { policy_id } }, deferred);
    if (refused !== null) return refused;
  }
  const { at } = call.envelope;
  // The session may have ended while the body arrived.
  const isPerson = call.principal.kind === "member" && (await call.isStillAllowed());
  const by = isPerson ? ({ byPerson: true } as const) : {};
  // The authorized change of the policy is a conflict if the policy has changed since.
  const decider = onlyWhile(
    endpointDecider,
    (now) =>
      body.policy_id === undefined ||
      now.phase !== "present" ||
      (now.settings.policy_id ?? null) === (it.settings.policy_id ?? null),
  );
  const command = { type: "ChangeEndpoint", account, changes, ...by, at } as const;
  const done = await handled(deps, call, endpointId, command, decider);
  if ("problem" in done) return done;
  if (done.state.phase !== "present") return notFound();
  deps.wake();
  return { status: 200, body: await showPresent(deps, done.state), ...done.position };
};

const rotate: Handle<OfOne> = (deps) => async (call) => {
  const { account } = call.principal;
  const { at } = call.envelope;
  const it = await own(deps, call);
  if (it === null) return notFound();
  const { endpointId } = it;
  const signing_secret = makeSigningSecret(call.secret("signing-secret"));
  const secret = deps.box.seal(signing_secret, { account, stream: streamOf(endpointId), field: "secret" });
  const previousUntil = new Date(Date.parse(at) + OVERLAP_MS).toISOString();
  const command = { type: "RotateEndpointSecret", account, secret, previousUntil, at } as const;
  const done = await handled(deps, call, endpointId, command);
  if ("problem" in done) return done;
  if (done.state.phase !== "present") return notFound();
  // A repeat of the command answers with the recorded end.
  const previous_valid_until = done.state.secrets[1]?.until ?? previousUntil;
  return { status: 200, body: { signing_secret, previous_valid_until }, ...done.position };
};

const enable: Handle<OfOne> = (deps) => async (call) => {
  const { account } = call.principal;
  const it = await own(deps, call);
  if (it === null) return notFound();
  const command = { type: "EnableEndpoint", account, at: call.envelope.at } as const;
  const done = await handled(deps, call, it.endpointId, command);
  if ("problem" in done) return done;
  if (done.state.phase !== "present") return notFound();
  deps.wake();
  return { status: 200, body: await showPresent(deps, done.state), ...done.position };
};

/**
 * The account's sources that send to an endpoint, from the view, which may miss a new one. That is enough to prevent a
 * slip: events for a deleted endpoint end as failed with `endpoint-deleted`.
 */
const sourcesOf = async ({ aggregates, views }: EndpointsDeps, account: string, endpointId: string) => {
  const listed = await views.page(sources.schema.name, {
    where: [{ field: "account", is: "=", value: account }],
    sort: { field: "created_at", order: "asc" },
    limit: SOURCES_MAX,
  });
  const using: { id: string; name: string }[] = [];
  for (const { id, document } of listed) {
    if (document.endpoint_id !== endpointId) continue;
    // The view may lag behind a source that was just changed or deleted.
    const { state } = await aggregates.load(sourceDecider, `source-${id}`);
    if (state.phase === "present" && state.settings.endpoint_id === endpointId) {
      using.push({ id, name: state.settings.name });
    }
  }
  return using;
};

const inUse = (using: readonly { readonly id: string; readonly name: string }[]): Problem => {
  const named = using.slice(0, NAMED_MAX).map(({ id, name }) => `${name} (${id})`);
  const more = using.length > NAMED_MAX ? ` and ${using.length - NAMED_MAX} more` : "";
  const detail = `These sources send to it: ${named.join(", ")}${more}. Change their endpoint or delete them first.`;
  return problem("endpoint-in-use", detail, { extra: { sources: using.map((source) => ({ ...source })) } });
};

const remove: Handle<OfOne> = (deps) => async (call) => {
  const { account } = call.principal;
  const it = await own(deps, call);
  if (it === null) return notFound();
  const using = await sourcesOf(deps, account, it.endpointId);
  if (using.length > 0) return inUse(using);
  const refused = await deps.controls.authorize(call, { ...controlled(it), changes: null });
  if (refused !== null) return refused;
  const command = { type: "DeleteEndpoint", account, at: call.envelope.at } as const;
  const done = await handled(deps, call, it.endpointId, command);
  if ("problem" in done) return done;
  await deps.slots.free("delivery_endpoints", account, it.endpointId);
  // The deliverer then ends what waits for the endpoint.
  deps.wake();
  return { status: 204, ...done.position };
};

const tryOut: Handle<OfOne> = (deps) => async (call) => {
  const it = await own(deps, call);
  return it === null ? notFound() : sendTest(deps)(call, it);
};

export const endpointRoutes = (deps: EndpointsDeps): readonly Route[] => [
  route({
    method: "POST",
    path: "/v1/endpoints",
    who: ADMINS,
    summary: "Register an endpoint; its signing secret is shown only once",
    tag: "endpoints",
    body: NEW_ENDPOINT,
    problems: ["address-not-allowed", "conflict", "limit-reached", "person-required"],
    answers: { 201: REGISTERED },
    handle: register(deps),
  }),
  route({
    method: "GET",
    path: "/v1/endpoints",
    who: READERS,
    summary: "List the endpoints with their health, newest first",
    tag: "endpoints",
    query: LISTING_QUERY,
    answers: { 200: listOf(ENDPOINT) },
    reads: [endpoints.schema.name],
    handle: list(deps),
  }),
  route({
    method: "GET",
    path: "/v1/endpoints/{id}",
    who: READERS,
    summary: "Show an endpoint with its health",
    tag: "endpoints",
    answers: { 200: ENDPOINT },
    reads: [endpoints.schema.name],
    handle: get(deps),
  }),
  route({
    method: "PATCH",
    path: "/v1/endpoints/{id}",
    who: ADMINS,
    summary: "Change an endpoint; headers are replaced as a whole, redacted values keep their present value",
    tag: "endpoints",
    body: ENDPOINT_CHANGES,
    problems: ["address-not-allowed", "conflict", "person-required", "too-few-approvers", "limit-reached"],
    answers: { 200: ENDPOINT, 202: HELD_CHANGE },
    handle: change(deps),
  }),
  route({
    method: "DELETE",
    path: "/v1/endpoints/{id}",
    who: ADMINS,
    summary: "Delete an endpoint that no source uses; events waiting for it end as failed",
    tag: "endpoints",
    problems: ["endpoint-in-use", "person-required", "conflict"],
    answers: { 204: null },
    handle: remove(deps),
  }),
  route({
    method: "POST",
    path: "/v1/endpoints/{id}/secret",
    who: ADMINS,
    summary: "Rotate the signing secret; for 24 hours deliveries are signed with both",
    tag: "endpoints",
    problems: ["conflict"],
    answers: { 200: ROTATED },
    handle: rotate(deps),
  }),
  route({
    method: "POST",
    path: "/v1/endpoints/{id}/enable",
    who: ADMINS,
    summary: "Enable an endpoint and close its circuit; what waited for it is delivered, slowly at first",
    tag: "endpoints",
    answers: { 200: ENDPOINT },
    handle: enable(deps),
  }),
  route({
    method: "POST",
    path: "/v1/endpoints/{id}/test",
    who: ADMINS,
    summary: "Send a signed test event right away; one that arrives closes an open circuit",
    tag: "endpoints",
    answers: { 200: TESTED },
    handle: tryOut(deps),
  }),
];
