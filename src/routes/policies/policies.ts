import { dayIn } from "../../../domain/calendar.ts";
import { onlyWhile } from "../../../domain/decider.ts";
import { defined } from "../../../domain/defined.ts";
import type { Words } from "../../../domain/personal/words.ts";
import { type Policy, type PublishedPolicy, policy } from "../../../domain/policy/decider.ts";
import type { PolicyDefinition } from "../../../domain/policy/definition.ts";
import type { Clock } from "../../../domain/ports/clock.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import { derivedId } from "../../../infra/crypto/ids.ts";
import { type PolicyDocument, policies, policyVersions } from "../../../projections/policies.ts";
import type { Controls } from "../../change-control/control-change.ts";
import { policyPart } from "../../change-control/control-parts.ts";
import { isPolicyId } from "../../change-control/references.ts";
import type { PersonalData } from "../../erasure/personal-data.ts";
import type { DefinitionRate } from "../../gates/definition-rate.ts";
import type { ValidatePolicy } from "../../gates/definitions.ts";
import { isPage, LISTING_QUERY, listOf, pageOf } from "../../http/listing.ts";
import {
  ADMINS,
  type Call,
  type Handler,
  HELD_CHANGE,
  positionOf,
  READERS,
  type Route,
  route,
} from "../../http/route.ts";
import type { Ledgers } from "../../ledgers/ledgers.ts";
import type { Slots } from "../../ledgers/slots.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import { changedMeanwhile, limitReached, notFound, type Problem, problem } from "../../streams/problems.ts";
import { policyDay } from "./policy-day.ts";
import {
  NEW_POLICY,
  NEW_POLICY_BODY,
  NEW_VERSION,
  NEW_VERSION_BODY,
  POLICY,
  PUBLISHED,
  publicationOf,
} from "./policy-schema.ts";
import { policyWarnings } from "./policy-warnings.ts";

export type PoliciesDeps = {
  readonly aggregates: Aggregates;
  readonly views: Pick<ViewStore, "page">;
  readonly compile: ValidatePolicy;
  readonly definitionRate: DefinitionRate;
  readonly controls: Controls;
  readonly slots: Slots;
  readonly personal: Pick<PersonalData, "keep" | "forget" | "shown">;
  readonly ledgers: Pick<Ledgers, "figures">;
  readonly timeZoneOf: (account: string) => Promise<string>;
  readonly clock: Pick<Clock, "now">;
};

type OfOne = { readonly params: "id" };

export const policyStream = (policyId: string): string => `policy-${policyId}`;

const show = (it: {
  readonly id: string;
  readonly version: number;
  readonly definition: PolicyDefinition;
  readonly createdBy: string;
  readonly createdAt: string;
  readonly reason?: Words;
}) => ({
  ...it.definition,
  id: it.id,
  version: it.version,
  created_at: it.createdAt,
  created_by: it.createdBy,
  ...defined({ reason: it.reason }),
});

const showDocument = ({ policy_id: id, created_by: createdBy, created_at: createdAt, ...rest }: PolicyDocument) =>
  show({ id, createdBy, createdAt, ...rest });

/** A definition is the account's own text, so only the reason is looked at. */
const withReason = async (
  { personal }: Pick<PoliciesDeps, "personal">,
  it: ReturnType<typeof show>,
  account: string,
) => (it.reason === undefined ? it : { ...it, reason: await personal.shown(it.reason, account) });

const withReasons = async (
  deps: Pick<PoliciesDeps, "personal">,
  page: { readonly data: readonly ReturnType<typeof show>[]; readonly next_cursor: string | null },
  account: string,
) => ({ ...page, data: await Promise.all(page.data.map((it) => withReason(deps, it, account))) });

/** The policy that the path names; null if it is not one of the caller's account. */
export const ownPolicy = async (
  { aggregates }: Pick<PoliciesDeps, "aggregates">,
  { principal, params }: Call<OfOne>,
): Promise<PublishedPolicy | null> => {
  const { id } = params;
  if (!isPolicyId(id)) return null;
  const { state } = await aggregates.load(policy, policyStream(id));
  return state.phase === "published" && state.account === principal.account ? state : null;
};

const newerVersion = (base: number, { version, createdAt, createdBy }: PublishedPolicy): Problem =>
  problem(
    "conflict",
    `The change was written on version ${base}, and version ${version} is in force since ${createdAt}. Read what differs ` +
      `in GET /v1/policies/{id}/versions, and send it again with base_version ${version}.`,
    { extra: { version, created_at: createdAt, created_by: createdBy } },
  );

const invalid = (errors: NonNullable<Problem["errors"]>): Problem => {
  const [first] = errors;
  const where = first === undefined || first.path === "" ? "the policy" : first.path;
  return problem("invalid-policy", `${where} ${first?.message ?? "is not valid"}.`, { errors });
};

/** The policy's version in force; null if the policy is not published. */
const versionOf = (it: Policy): number | null => (it.phase === "published" ? it.version : null);

const publish = async (
  deps: PoliciesDeps,
  call: Call,
  type: "PublishPolicy" | "PublishPolicyVersion",
  policyId: string,
) => {
  const { principal, envelope } = call;
  const { definition: given, reason, base_version: base } = publicationOf(call.body);
  const tooMany = deps.definitionRate(principal.account, given);
  if (tooMany !== null) return tooMany;
  const compiled = await deps.compile(given, principal.account);
  if (!compiled.ok) return invalid(compiled.errors);
  const { definition } = compiled;
  const { state: before } = await deps.aggregates.load(policy, policyStream(policyId), 0);
  if (base !== undefined && before.phase === "published" && before.version !== base) return newerVersion(base, before);
  const part = policyPart(definition);
  // A new version replaces the whole definition: what it leaves out is not in force any more.
  const change = { kind: "policy", id: policyId, base: null, changes: part, replaces: true } as const;
  const by = { account: principal.account, by: principal.id, at: envelope.at };
  const commandOf = (said?: Words) => ({ type, policyId, definition, ...by, ...defined({ reason: said }) });
  const keptFor = async (stream: string): Promise<Words | undefined> =>
    reason === undefined ? undefined : deps.personal.keep(stream, reason, envelope);
  const deferred = { command: async (holding: string) => commandOf(await keptFor(holding)), after: definition };
  const refused = await deps.controls.authorize(call, change, type === "PublishPolicy" ? undefined : deferred);
  if (refused !== null) return refused;
  const decider = onlyWhile(policy, (now) => versionOf(now) === versionOf(before));
  const words = await keptFor(policyStream(policyId));
  const command = commandOf(words);
  const handled = await deps.slots.register({ kind: "policies", id: policyId, decider, command, envelope });
  if (words !== undefined && handled.outcome !== "accepted") await deps.personal.forget(words);
  if (handled.outcome === "full") {
    await deps.controls.withdraw(call, "policy", policyId);
    return limitReached("policies", handled.limit);
  }
  if (handled.outcome === "rejected" && handled.rejection === "changed-meanwhile") return changedMeanwhile();
  const { state } = handled;
  if (handled.outcome === "rejected" || state.phase !== "published") return notFound();
  return {
    status: type === "PublishPolicy" ? 201 : 200,
    body: {
      ...(await withReason(deps, show({ id: policyId, ...state }), principal.account)),
      warnings: await policyWarnings(deps, principal.account, state.definition),
    },
    ...positionOf(handled),
  };
};

const publishNew =
  (deps: PoliciesDeps): Handler =>
  (call) =>
    publish(deps, call, "PublishPolicy", derivedId("pol_", call.principal.account, call.envelope.commandId));

const publishVersion =
  (deps: PoliciesDeps): Handler<OfOne> =>
  async (call) => {
    const there = await ownPolicy(deps, call);
    return there === null ? notFound() : publish(deps, call, "PublishPolicyVersion", there.policyId);
  };

const one =
  (deps: PoliciesDeps): Handler<OfOne> =>
  async (call) => {
    const there = await ownPolicy(deps, call);
    if (there === null) return notFound();
    const liftsAt = await deps.controls.liftsAt(there.account, there.policyId);
    const lift = defined({ protection_lifts_at: liftsAt ?? undefined });
    const body = await withReason(deps, show({ id: there.policyId, ...there }), there.account);
    return { status: 200, body: { ...body, ...lift } };
  };

const cancelLift =
  (deps: PoliciesDeps): Handler<OfOne> =>
  async (call) => {
    const there = await ownPolicy(deps, call);
    const cancelled = there === null ? null : await deps.controls.cancelLift(call, there.policyId);
    return cancelled === null ? notFound() : { status: 204, ...cancelled };
  };

type Row = { readonly id: string; readonly version: number } & PolicyDefinition;

/** Of each policy that has a budget, its ledger of today. */
const withLedgers = async <R extends Row>(deps: PoliciesDeps, account: string, rows: readonly R[]) => {
  const timeZone = await deps.timeZoneOf(account);
  const day = dayIn(timeZone, deps.clock.now());
  return Promise.all(
    rows.map(async (row) => {
      if (row.budget_eur_day === undefined) return row;
      const it = { account, policyId: row.id, version: row.version, definition: row };
      return { ...row, ledger: await policyDay(deps.ledgers, it, { day, timeZone }) };
    }),
  );
};

const list =
  (deps: PoliciesDeps): Handler =>
  async ({ principal: { account }, query }) => {
    const where = [{ field: "account", is: "=", value: account }] as const;
    const sort = { field: "first_at", order: "desc" } as const;
    const page = await pageOf(deps.views, { view: policies.schema.name, where, sort }, query, showDocument);
    if (!isPage(page)) return page;
    const body = await withReasons(deps, page, account);
    return {
      status: 200,
      body: query.ledger === "today" ? { ...body, data: await withLedgers(deps, account, body.data) } : body,
    };
  };

const versions =
  (deps: PoliciesDeps): Handler<OfOne> =>
  async (call) => {
    const there = await ownPolicy(deps, call);
    if (there === null) return notFound();
    const where = [
      { field: "account", is: "=", value: there.account },
      { field: "policy_id", is: "=", value: there.policyId },
    ] as const;
    const listing = { view: policyVersions.schema.name, where, sort: { field: "version", order: "desc" } } as const;
    const page = await pageOf(deps.views, listing, call.query, showDocument);
    return isPage(page) ? { status: 200, body: await withReasons(deps, page, there.account) } : page;
  };

export const policyRoutes = (deps: PoliciesDeps): readonly Route[] => [
  route({
    method: "POST",
    path: "/v1/policies",
    who: ADMINS,
    summary: "Publish a policy, version 1",
    tag: "policies",
    body: NEW_POLICY_BODY,
    bodyShown: NEW_POLICY,
    problems: ["invalid-policy", "limit-reached", "person-required", "conflict"],
    answers: { 201: PUBLISHED },
    handle: publishNew(deps),
  }),
  route({
    method: "PUT",
    path: "/v1/policies/{id}",
    who: ADMINS,
    summary: "Publish a new version; an unchanged definition keeps its version",
    tag: "policies",
    body: NEW_VERSION_BODY,
    bodyShown: NEW_VERSION,
    problems: ["invalid-policy", "person-required", "too-few-approvers", "limit-reached", "conflict"],
    answers: { 200: PUBLISHED, 202: HELD_CHANGE },
    handle: publishVersion(deps),
  }),
  route({
    method: "GET",
    path: "/v1/policies",
    who: READERS,
    summary: "List the newest version of each policy, newest policy first",
    tag: "policies",
    query: {
      ...LISTING_QUERY,
      ledger: { enum: ["today"], description: "today: with the ledger of today of each policy that has a budget" },
    },
    answers: { 200: listOf(POLICY) },
    reads: [policies.schema.name],
    handle: list(deps),
  }),
  route({
    method: "GET",
    path: "/v1/policies/{id}",
    who: READERS,
    summary: "The newest version of a policy",
    tag: "policies",
    answers: { 200: POLICY },
    handle: one(deps),
  }),
  route({
    method: "DELETE",
    path: "/v1/policies/{id}/protection-lift",
    who: { session: "admin" },
    summary: "Cancel the end of the policy's protection that was asked for on the service's machine",
    tag: "policies",
    answers: { 204: null },
    handle: cancelLift(deps),
  }),
  route({
    method: "GET",
    path: "/v1/policies/{id}/versions",
    who: READERS,
    summary: "All versions of a policy, newest first",
    tag: "policies",
    query: LISTING_QUERY,
    answers: { 200: listOf(POLICY) },
    reads: [policyVersions.schema.name],
    handle: versions(deps),
  }),
];
