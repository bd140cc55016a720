import { onlyWhile } from "../../../domain/decider.ts";
import { defined } from "../../../domain/defined.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import {
  type PresentSource,
  SECRETS_MAX,
  type SourceRejection,
  source as sourceDecider,
} from "../../../domain/source/decider.ts";
import type { SourceSettings } from "../../../domain/source/events.ts";
import { derivedId } from "../../../infra/crypto/ids.ts";
import type { SecretBox } from "../../../infra/crypto/secret-box.ts";
import { type SourceDocument, sources } from "../../../projections/sources.ts";
import { credentialOf, makerOf } from "../../approvals/requesters.ts";
import type { Controls } from "../../change-control/control-change.ts";
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
import { makeSecret } from "../../providers/catalogue.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import { changedMeanwhile, missingReference, notFound, type Problem, problem } from "../../streams/problems.ts";
import { show, showPresent } from "./source-answer.ts";
import { NEW_SECRET, NEW_SOURCE, newSourceOf, ROTATED, SOURCE, SOURCE_CHANGES, secretProblem } from "./source-input.ts";

export type SourcesDeps = {
  readonly aggregates: Aggregates;
  readonly views: Pick<ViewStore, "page">;
  readonly box: Pick<SecretBox, "seal">;
  /** A function, because the port may be known only once the server listens. */
  readonly publicUrl: () => string;
  readonly slots: Slots;
  readonly endpointExists: (account: string, id: string) => Promise<boolean>;
  readonly controls: Controls;
  readonly policyExists: (account: string, id: string) => Promise<boolean>;
};

type Handle<I extends Input = object> = (deps: SourcesDeps) => Handler<I>;
type OfOne = { readonly params: "id" };

/** For so long after a rotation, the previous secret still verifies webhooks. */
const OVERLAP_MS = 24 * 60 * 60 * 1_000;

const ID = /^src_[a-z2-7]{32}$/;
const streamOf = (sourceId: string): string => `source-${sourceId}`;

const planLimit = (limit: number): Problem => {
  const detail = `The plan includes ${limit} ${limit === 1 ? "source" : "sources"}. Delete one, or choose a larger plan.`;
  return problem("plan-limit", detail, { extra: { limit } });
};

const PROBLEM_OF: Record<SourceRejection | "changed-meanwhile", Problem> = {
  "changed-meanwhile": changedMeanwhile(),
  "not-found": notFound(),
  conflict: problem("conflict", "This source already exists, or existed before."),
  "too-many-secrets": problem(
    "conflict",
    `${SECRETS_MAX} secrets are valid at once. A new one can be made when the oldest has expired, 24 hours after its successor.`,
  ),
};

/** The source that the path names; null if it is not one of the caller's account. */
const own = async ({ aggregates }: SourcesDeps, { principal, params }: Call<OfOne>): Promise<PresentSource | null> => {
  const { id } = params;
  if (!ID.test(id)) return null;
  const { state } = await aggregates.load(sourceDecider, streamOf(id));
  return state.phase === "present" && state.account === principal.account ? state : null;
};

const controlled = ({ sourceId: id, type, settings: { name, policy_id, endpoint_id } }: PresentSource) =>
  ({ kind: "source", id, base: { name, type, policy_id, endpoint_id } }) as const;

/** Accepts a change only while the source has the settings for which it was authorized; else it is a conflict. */
const asAuthorized = ({ settings }: PresentSource) =>
  onlyWhile(sourceDecider, (now) => now.phase !== "present" || now.settings === settings);

/** A problem if the endpoint or the policy does not belong to the account; null if both do. */
const foreignReference = async (
  { endpointExists, policyExists }: SourcesDeps,
  account: string,
  { endpoint_id = null, policy_id = null }: Partial<SourceSettings>,
): Promise<Problem | null> => {
  if (endpoint_id !== null && !(await endpointExists(account, endpoint_id)))
    return missingReference("/endpoint_id", "endpoint");
  if (policy_id !== null && !(await policyExists(account, policy_id))) return missingReference("/policy_id", "policy");
  return null;
};

const seal = ({ box }: SourcesDeps, secret: string, account: string, sourceId: string): string =>
  box.seal(secret, { account, stream: streamOf(sourceId), field: "secret" });

const register: Handle<{ body: typeof NEW_SOURCE }> = (deps) => async (call) => {
  const { envelope, principal } = call;
  const { account } = principal;
  const { at } = envelope;
  const wanted = newSourceOf(call.body);
  if ("problem" in wanted) return wanted;
  const { type: provider, settings, auth, dedupe } = wanted;
  const foreign = await foreignReference(deps, account, settings);
  if (foreign !== null) return foreign;
  // A repeat of the command derives the same id and secret, so a crash before the answer loses neither.
  const sourceId = derivedId("src_", envelope.commandId);
  const made = wanted.secret === null ? makeSecret(provider, call.secret("source-secret")) : null;
  const secret = seal(deps, wanted.secret ?? made ?? "", account, sourceId);
  const madeBy = await makerOf(deps.aggregates, credentialOf(principal));
  const asked = { sourceId, account, provider, auth, dedupe, settings, secret, madeBy, at };
  const command = { type: "RegisterSource", ...asked } as const;
  const { name, policy_id, endpoint_id } = settings;
  const part = { name, policy_id, endpoint_id, type: provider };
  const refused = await deps.controls.authorize(call, { kind: "source", id: sourceId, base: null, changes: part });
  if (refused !== null) return refused;
  const registered = await deps.slots.register({
    kind: "sources",
    id: sourceId,
    decider: sourceDecider,
    command,
    envelope,
  });
  if (registered.outcome === "full") {
    await deps.controls.withdraw(call, "source", sourceId);
    return planLimit(registered.limit);
  }
  if (registered.outcome === "rejected") return PROBLEM_OF[registered.rejection];
  if (registered.state.phase !== "present") return notFound();
  return {
    status: 201,
    body: { ...showPresent(registered.state, deps.publicUrl()), ...defined({ secret: made ?? undefined }) },
    ...positionOf(registered),
  };
};

const list: Handle =
  ({ views, publicUrl }) =>
  async ({ principal, query }) => {
    const where = [{ field: "account", is: "=", value: principal.account }] as const;
    const sort = { field: "created_at", order: "desc" } as const;
    const page = await pageOf(
      views,
      { view: sources.schema.name, where, sort },
      query,
      (document: SourceDocument, id) => show(id, document, publicUrl()),
    );
    return isPage(page) ? { status: 200, body: page } : page;
  };

const get: Handle<OfOne> = (deps) => async (call) => {
  const it = await own(deps, call);
  return it === null ? notFound() : { status: 200, body: showPresent(it, deps.publicUrl()) };
};

const change: Handle<{ body: typeof SOURCE_CHANGES; params: "id" }> = (deps) => async (call) => {
  const { account } = call.principal;
  const it = await own(deps, call);
  if (it === null) return notFound();
  const { body } = call;
  const changes = body.name === undefined ? body : { ...body, name: body.name.trim() };
  const foreign = await foreignReference(deps, account, changes);
  if (foreign !== null) return foreign;
  const { status: _, ...controlling } = changes;
  const command = { type: "ChangeSource", account, changes, at: call.envelope.at } as const;
  const deferred = { command: () => command, after: { ...it.settings, ...changes } };
  const refused = await deps.controls.authorize(call, { ...controlled(it), changes: controlling }, deferred);
  if (refused !== null) return refused;
  const changed = await deps.aggregates.handle(asAuthorized(it), streamOf(it.sourceId), command, call.envelope);
  if (changed.outcome === "rejected") return PROBLEM_OF[changed.rejection];
  if (changed.state.phase !== "present") return notFound();
  return { status: 200, body: showPresent(changed.state, deps.publicUrl()), ...positionOf(changed) };
};

const rotate: Handle<{ body: typeof NEW_SECRET; params: "id" }> = (deps) => async (call) => {
  const { account } = call.principal;
  const { at } = call.envelope;
  const it = await own(deps, call);
  if (it === null) return notFound();
  const { sourceId, type } = it;
  const { secret: given = null } = call.body;
  const fault = given === null ? null : secretProblem(type, given);
  if (fault !== null) return fault;
  const refused = await deps.controls.authorize(call, { ...controlled(it), changes: {}, issues: true });
  if (refused !== null) return refused;
  const made = given === null ? makeSecret(type, call.secret("source-secret")) : null;
  const secret = seal(deps, given ?? made ?? "", account, sourceId);
  const previousUntil = new Date(Date.parse(at) + OVERLAP_MS).toISOString();
  const madeBy = await makerOf(deps.aggregates, credentialOf(call.principal));
  const command = { type: "RotateSourceSecret", account, secret, madeBy, previousUntil, at } as const;
  const rotated = await deps.aggregates.handle(asAuthorized(it), streamOf(sourceId), command, call.envelope);
  if (rotated.outcome === "rejected") return PROBLEM_OF[rotated.rejection];
  if (rotated.state.phase !== "present") return notFound();
  // When the previous secret ends. A repeat answers with the time that was recorded first.
  const end = rotated.state.secrets[1]?.until ?? previousUntil;
  const body = defined({ secret: made ?? undefined, previous_valid_until: end });
  return { status: 200, body, ...positionOf(rotated) };
};

const remove: Handle<OfOne> = (deps) => async (call) => {
  const { account } = call.principal;
  const { id } = call.params;
  if (!ID.test(id)) return notFound();
  const it = await own(deps, call);
  const refused = it === null ? null : await deps.controls.authorize(call, { ...controlled(it), changes: null });
  if (refused !== null) return refused;
  const command = { type: "DeleteSource", account, at: call.envelope.at } as const;
  const deleted = await deps.aggregates.handle(sourceDecider, streamOf(id), command, call.envelope);
  // The slot is freed also if the source was deleted before: a crash may have come between the two appends.
  if (deleted.state.phase === "deleted" && deleted.state.account === account) {
    await deps.slots.free("sources", account, id);
  }
  if (deleted.outcome === "rejected") return PROBLEM_OF[deleted.rejection];
  return { status: 204, ...positionOf(deleted) };
};

const onlyPauses = (body: unknown): boolean => JSON.stringify(body) === '{"status":"paused"}';

export const sourceRoutes = (deps: SourcesDeps): readonly Route[] => [
  route({
    method: "POST",
    path: "/v1/sources",
    who: ADMINS,
    summary: "Register a source of webhooks; a generated secret is shown only once",
    tag: "sources",
    body: NEW_SOURCE,
    problems: ["not-found", "unknown-provider", "plan-limit", "conflict", "person-required"],
    answers: { 201: SOURCE },
    handle: register(deps),
  }),
  route({
    method: "GET",
    path: "/v1/sources",
    who: READERS,
    summary: "List the sources, newest first",
    tag: "sources",
    query: LISTING_QUERY,
    answers: { 200: listOf(SOURCE) },
    reads: [sources.schema.name],
    handle: list(deps),
  }),
  route({
    method: "GET",
    path: "/v1/sources/{id}",
    who: READERS,
    summary: "Show a source",
    tag: "sources",
    answers: { 200: SOURCE },
    handle: get(deps),
  }),
  route({
    method: "PATCH",
    path: "/v1/sources/{id}",
    who: ADMINS,
    summary: "Change a source; null for policy_id or endpoint_id detaches",
    tag: "sources",
    body: SOURCE_CHANGES,
    problems: ["conflict", "person-required", "too-few-approvers", "limit-reached"],
    answers: { 200: SOURCE, 202: HELD_CHANGE },
    always: onlyPauses,
    handle: change(deps),
  }),
  route({
    method: "DELETE",
    path: "/v1/sources/{id}",
    who: ADMINS,
    summary: "Delete a source; its ingest URL answers 404 from then on",
    tag: "sources",
    problems: ["person-required", "conflict"],
    answers: { 204: null },
    handle: remove(deps),
  }),
  route({
    method: "POST",
    path: "/v1/sources/{id}/secret",
    who: ADMINS,
    summary: "Rotate the secret, to a given or a generated one; both are valid for 24 hours",
    tag: "sources",
    body: NEW_SECRET,
    bodyOptional: true,
    problems: ["conflict", "person-required"],
    answers: { 200: ROTATED },
    handle: rotate(deps),
  }),
];
