import { type AgentRejection, agent as agentDecider, type PresentAgent } from "../../../domain/agent/decider.ts";
import type { AgentSettings } from "../../../domain/agent/events.ts";
import { isScopePattern } from "../../../domain/agent/scope.ts";
import { onlyWhile } from "../../../domain/decider.ts";
import type { Words } from "../../../domain/personal/words.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import { derivedId } from "../../../infra/crypto/ids.ts";
import { type AgentDocument, agents } from "../../../projections/agents.ts";
import type { CredentialHashes } from "../../accounts/credential-hashes.ts";
import { agentStream } from "../../accounts/credentials.ts";
import type { Controls } from "../../change-control/control-change.ts";
import type { PersonalData } from "../../erasure/personal-data.ts";
import { REASON_BODY } from "../../http/json-schema.ts";
import { isPage, LISTING_QUERY, listOf, pageOf } from "../../http/listing.ts";
import {
  ADMINS,
  type Answer,
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
import { issue, newKey } from "./agent-keys.ts";
import { AGENT, CHANGES, CREATED, NEW_AGENT, ROTATED } from "./agent-schemas.ts";

export type AgentsDeps = {
  readonly aggregates: Aggregates;
  readonly views: Pick<ViewStore, "page">;
  readonly hashes: CredentialHashes;
  readonly controls: Controls;
  readonly policyExists: (account: string, id: string) => Promise<boolean>;
  readonly slots: Slots;
  readonly personal: Pick<PersonalData, "keep" | "forget" | "shown">;
};

type Handle<I extends Input = object> = (deps: AgentsDeps) => Handler<I>;
type OfOne = { readonly params: "id" };

const ID = /^agt_[a-z2-7]{32}$/;
const PROBLEM_OF: Record<AgentRejection | "changed-meanwhile", Problem> = {
  "changed-meanwhile": changedMeanwhile(),
  "not-found": notFound(),
  conflict: problem("conflict", "This agent already exists, or existed before."),
};

const show = (id: string, { account: _, ...it }: AgentDocument) => ({ id, ...it });

const shownPresent = ({ agentId, account, settings, key, keySince, suspended, createdAt }: PresentAgent) => ({
  ...show(agentId, {
    account,
    ...settings,
    last4: key.last4,
    status: suspended === null ? "active" : "suspended",
    suspended_reason: suspended?.reason ?? null,
    suspended_at: suspended?.at ?? null,
    created_at: createdAt,
  }),
  key_since: keySince,
});

const showPresent = ({ personal }: AgentsDeps, it: PresentAgent) => personal.shown(shownPresent(it), it.account);

/** Checks what the schema cannot: the patterns of the scope, and that the policy exists. */
const settingsProblem = async (
  { policyExists }: AgentsDeps,
  account: string,
  { policy_id = null, scope }: Partial<AgentSettings>,
): Promise<Problem | null> => {
  const wrong = scope?.actions.findIndex((pattern) => !isScopePattern(pattern)) ?? -1;
  if (wrong !== -1) {
    const message = "must be the name of an action, the beginning of names (refund.*), or *";
    return problem("invalid-request", `A pattern of the scope ${message}.`, {
      errors: [{ path: `/scope/actions/${wrong}`, message }],
    });
  }
  if (policy_id === null || (await policyExists(account, policy_id))) return null;
  return missingReference("/policy_id", "policy");
};

const register: Handle<{ body: typeof NEW_AGENT }> = (deps) => async (call) => {
  const { envelope, principal } = call;
  const { account } = principal;
  const { name: given, policy_id = null, scope } = call.body;
  const settings = { name: given.trim(), policy_id, scope: { actions: scope.actions } };
  const wrong = await settingsProblem(deps, account, settings);
  if (wrong !== null) return wrong;
  const agentId = derivedId("agt_", account, envelope.commandId);
  const refused = await deps.controls.authorize(call, { kind: "agent", id: agentId, base: null, changes: settings });
  if (refused !== null) return refused;
  const { key, of } = newKey(deps, call, agentId);
  await issue(deps, call, agentId, of);
  const command = { type: "RegisterAgent", agentId, account, settings, key: of, at: envelope.at } as const;
  const done = await deps.slots.register({ kind: "agents", id: agentId, decider: agentDecider, command, envelope });
  if (done.outcome === "full") {
    await deps.controls.withdraw(call, "agent", agentId);
    return limitReached("agents", done.limit);
  }
  if (done.outcome === "rejected") return PROBLEM_OF[done.rejection];
  if (done.state.phase !== "present") return notFound();
  return { status: 201, body: { ...(await showPresent(deps, done.state)), key }, ...positionOf(done) };
};

/** The agent that the path names; null if it is not one of the caller's account. */
const own = async ({ aggregates }: AgentsDeps, { principal, params }: Call<OfOne>): Promise<PresentAgent | null> => {
  const { id } = params;
  if (!ID.test(id)) return null;
  const { state } = await aggregates.load(agentDecider, agentStream(id));
  return state.phase === "present" && state.account === principal.account ? state : null;
};

const controlled = ({ agentId: id, settings: base }: PresentAgent) => ({ kind: "agent", id, base }) as const;

const get: Handle<OfOne> = (deps) => async (call) => {
  const it = await own(deps, call);
  return it === null ? notFound() : { status: 200, body: await showPresent(deps, it) };
};

const list: Handle =
  ({ views, personal }) =>
  async ({ principal, query }) => {
    const where = [{ field: "account", is: "=", value: principal.account }] as const;
    const sort = { field: "created_at", order: "desc" } as const;
    const page = await pageOf(views, { view: agents.schema.name, where, sort }, query, (document: AgentDocument, id) =>
      show(id, document),
    );
    return isPage(page) ? { status: 200, body: await personal.shown(page, principal.account) } : page;
  };

type Change = Parameters<typeof agentDecider.decide>[0];

/** `authorized` is the agent as it was when the change was authorized: if it has changed since, there is a conflict. */
const handled = async (deps: AgentsDeps, call: Call<OfOne>, command: Change, authorized?: PresentAgent) => {
  const { id } = call.params;
  if (!ID.test(id)) return notFound();
  const decider = onlyWhile(
    agentDecider,
    (now) => authorized === undefined || now.phase !== "present" || now.settings === authorized.settings,
  );
  const done = await deps.aggregates.handle(decider, agentStream(id), command, call.envelope);
  return done.outcome === "rejected" ? PROBLEM_OF[done.rejection] : done;
};

type Handled = Awaited<ReturnType<typeof handled>>;

const answered = async (deps: AgentsDeps, done: Handled): Promise<Answer | Problem> => {
  if ("problem" in done) return done;
  if (done.state.phase !== "present") return notFound();
  return { status: 200, body: await showPresent(deps, done.state), ...positionOf(done) };
};

/** Handles the command and answers with the changed agent. */
const changed = async (deps: AgentsDeps, call: Call<OfOne>, command: Change, authorized?: PresentAgent) =>
  answered(deps, await handled(deps, call, command, authorized));

const change: Handle<{ body: typeof CHANGES; params: "id" }> = (deps) => async (call) => {
  const { account } = call.principal;
  const { body } = call;
  const changes = body.name === undefined ? body : { ...body, name: body.name.trim() };
  const it = await own(deps, call);
  if (it === null) return notFound();
  const wrong = await settingsProblem(deps, account, changes);
  if (wrong !== null) return wrong;
  const command = { type: "ChangeAgent", account, changes, at: call.envelope.at } as const;
  const deferred = { command: () => command, after: { ...it.settings, ...changes } };
  const refused = await deps.controls.authorize(call, { ...controlled(it), changes }, deferred);
  if (refused !== null) return refused;
  return changed(deps, call, command, it);
};

const rotate: Handle<OfOne> = (deps) => async (call) => {
  const { account } = call.principal;
  const it = await own(deps, call);
  if (it === null) return notFound();
  const refused = await deps.controls.authorize(call, { ...controlled(it), changes: {}, issues: true });
  if (refused !== null) return refused;
  const { key, of } = newKey(deps, call, it.agentId);
  await issue(deps, call, it.agentId, of);
  const done = await handled(deps, call, { type: "RotateAgentKey", account, key: of, at: call.envelope.at }, it);
  if ("problem" in done) return done;
  return { status: 200, body: { key, last4: of.last4 }, ...positionOf(done) };
};

/** False if the agent was deleted meanwhile, or suspended before: then no record names the words. */
const isSuspendedFor = (done: Handled, { id }: Words): boolean =>
  "state" in done && done.state.phase === "present" && done.state.lastSuspended?.reason.id === id;

const suspend: Handle<{ body: typeof REASON_BODY; params: "id" }> = (deps) => async (call) => {
  const { account } = call.principal;
  if ((await own(deps, call)) === null) return notFound();
  const reason = await deps.personal.keep(agentStream(call.params.id), call.body.reason.trim(), call.envelope);
  const done = await handled(deps, call, { type: "SuspendAgent", account, reason, at: call.envelope.at });
  if (!isSuspendedFor(done, reason)) await deps.personal.forget(reason);
  return answered(deps, done);
};

const resume: Handle<OfOne> = (deps) => (call) =>
  changed(deps, call, { type: "ResumeAgent", account: call.principal.account, at: call.envelope.at });

const remove: Handle<OfOne> = (deps) => async (call) => {
  const { account } = call.principal;
  const it = await own(deps, call);
  if (it === null) return notFound();
  const refused = await deps.controls.authorize(call, { ...controlled(it), changes: null });
  if (refused !== null) return refused;
  const done = await handled(deps, call, { type: "DeleteAgent", account, at: call.envelope.at });
  if ("problem" in done) return done;
  await deps.slots.free("agents", account, call.params.id);
  return { status: 204, ...positionOf(done) };
};

export const agentRoutes = (deps: AgentsDeps): readonly Route[] => [
  route({
    method: "POST",
    path: "/v1/agents",
    who: ADMINS,
    summary: "Register an agent; its key is shown only once",
    tag: "agents",
    body: NEW_AGENT,
    problems: ["not-found", "conflict", "limit-reached", "person-required"],
    answers: { 201: CREATED },
    handle: register(deps),
  }),
  route({
    method: "GET",
    path: "/v1/agents",
    who: READERS,
    summary: "List the agents, newest first",
    tag: "agents",
    query: LISTING_QUERY,
    answers: { 200: listOf(AGENT) },
    reads: [agents.schema.name],
    handle: list(deps),
  }),
  route({
    method: "GET",
    path: "/v1/agents/{id}",
    who: READERS,
    summary: "Show an agent",
    tag: "agents",
    answers: { 200: AGENT },
    handle: get(deps),
  }),
  route({
    method: "PATCH",
    path: "/v1/agents/{id}",
    who: ADMINS,
    summary: "Change an agent; null for policy_id detaches",
    tag: "agents",
    body: CHANGES,
    problems: ["conflict", "person-required", "too-few-approvers", "limit-reached"],
    answers: { 200: AGENT, 202: HELD_CHANGE },
    handle: change(deps),
  }),
  route({
    method: "DELETE",
    path: "/v1/agents/{id}",
    who: ADMINS,
    summary: "Delete an agent; its key stops working at once",
    tag: "agents",
    problems: ["conflict", "person-required"],
    answers: { 204: null },
    handle: remove(deps),
  }),
  route({
    method: "POST",
    path: "/v1/agents/{id}/key",
    who: ADMINS,
    summary: "Give the agent a new key; the previous one stops working at once",
    tag: "agents",
    problems: ["conflict", "person-required"],
    answers: { 200: ROTATED },
    handle: rotate(deps),
  }),
  route({
    method: "POST",
    path: "/v1/agents/{id}/suspend",
    who: ADMINS,
    summary: "Suspend an agent: its requests are refused until it is resumed",
    tag: "agents",
    body: REASON_BODY,
    problems: ["conflict"],
    answers: { 200: AGENT },
    always: true,
    handle: suspend(deps),
  }),
  route({
    method: "POST",
    path: "/v1/agents/{id}/resume",
    who: ADMINS,
    summary: "Resume a suspended agent",
    tag: "agents",
    problems: ["conflict"],
    answers: { 200: AGENT },
    handle: resume(deps),
  }),
];
