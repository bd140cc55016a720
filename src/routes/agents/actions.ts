import { type Action, action as actionDecider, type DefinedAction } from "../../../domain/action/decider.ts";
import { type ActionDefinition, REVERSIBILITIES } from "../../../domain/action/definition.ts";
import { LABEL_LENGTH_MAX, LABELS_MAX, TITLE_FIELDS_MAX, TITLE_LENGTH_MAX } from "../../../domain/action/title.ts";
import { onlyWhile } from "../../../domain/decider.ts";
import { ACTION_NAME_MAX, isActionName } from "../../../domain/evidence/action-name.ts";
import type { Document, ViewStore } from "../../../domain/ports/view-store.ts";
import { type ActionDocument, actions } from "../../../projections/actions.ts";
import type { Controls } from "../../change-control/control-change.ts";
import { actionPart } from "../../change-control/control-parts.ts";
import type { DefinitionRate } from "../../gates/definition-rate.ts";
import type { ValidateAction } from "../../gates/definitions.ts";
import { time } from "../../http/json-schema.ts";
import { isPage, LISTING_QUERY, listOf, pageOf } from "../../http/listing.ts";
import { named } from "../../http/named-schemas.ts";
import {
  ADMINS,
  type Call,
  type Handler,
  HELD_CHANGE,
  type Input,
  type JsonSchema,
  positionOf,
  READERS,
  type Route,
  route,
} from "../../http/route.ts";
import type { Slots } from "../../ledgers/slots.ts";
import { actionId, actionStream } from "../../streams/action-stream.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import { changedMeanwhile, limitReached, missingReference, notFound, problem } from "../../streams/problems.ts";
import { COST } from "../policies/policy-schema.ts";

export type ActionsDeps = {
  readonly aggregates: Aggregates;
  readonly views: Pick<ViewStore, "page">;
  readonly compile: ValidateAction;
  readonly definitionRate: DefinitionRate;
  readonly endpointExists: (account: string, id: string) => Promise<boolean>;
  readonly controls: Controls;
  readonly policyExists: (account: string, id: string) => Promise<boolean>;
  readonly slots: Slots;
};

type Handle<I extends Input = object> = (deps: ActionsDeps) => Handler<I>;
type OfOne = { readonly params: "name" };

const DEFINITION = {
  endpoint_id: { type: "string", minLength: 1, maxLength: 64 },
  schema: { type: ["object", "boolean"], description: "a JSON Schema, draft 2020-12 or draft-07" },
  cost: COST,
  reversibility: {
    enum: REVERSIBILITIES,
    description:
      "reversible: there is nothing to undo (it reads, or expires by itself), and nothing is sent unless it names a " +
      "compensation; compensable: its compensation undoes it; irreversible: nothing can undo it",
  },
  compensation: {
    type: "string",
    maxLength: ACTION_NAME_MAX,
    description: "the action that undoes it: required if compensable, optional if reversible",
  },
  policy_id: {
    type: ["string", "null"],
    maxLength: 64,
    description: "a policy that every request for the action has to pass; null or left out: none",
  },
  title: {
    type: "string",
    minLength: 1,
    maxLength: TITLE_LENGTH_MAX,
    description:
      "the sentence that people approve, such as `Refund {/amount|eur} to {/customer/name}`: a JSON Pointer in braces " +
      `names a field of the payload (at most ${TITLE_FIELDS_MAX}), |eur shows a number as euros, {{ and }} are braces`,
  },
  labels: {
    type: "object",
    maxProperties: LABELS_MAX,
    additionalProperties: { type: "string", maxLength: LABEL_LENGTH_MAX },
    description: 'what people call the fields, by JSON Pointer, such as {"/customer/name": "Customer"}',
  },
} as const satisfies Record<string, JsonSchema>;

const BODY = named("ActionDefinition", {
  type: "object",
  required: ["endpoint_id", "reversibility"],
  additionalProperties: false,
  properties: DEFINITION,
  examples: [
    {
      endpoint_id: "end_01j9z3k4m5n6p7q8r9s0t1v2w3",
      reversibility: "irreversible",
      schema: { type: "object", required: ["charge", "amount"], properties: { amount: { type: "number" } } },
      cost: { pointer: "amount" },
    },
  ],
});

const ACTION: JsonSchema = named("Action", {
  type: "object",
  required: ["name", "version", "endpoint_id", "reversibility", "created_at", "changed_at", "changed_by"],
  properties: {
    name: { type: "string" },
    version: { type: "integer" },
    ...DEFINITION,
    created_at: time,
    changed_at: time,
    changed_by: { type: "string" },
  },
});

const show = (it: {
  readonly name: string;
  readonly version: number;
  readonly definition: ActionDefinition | Document;
  readonly createdAt: string;
  readonly at: string;
  readonly by: string;
}) => ({
  name: it.name,
  version: it.version,
  ...it.definition,
  created_at: it.createdAt,
  changed_at: it.at,
  changed_by: it.by,
});

const showDocument = (document: ActionDocument) => {
  const { name, version, definition, created_at: createdAt, changed_at: at, changed_by: by } = document;
  return show({ name, version, definition, createdAt, at, by });
};

const find = async ({ aggregates }: ActionsDeps, { principal, params }: Call<OfOne>): Promise<DefinedAction | null> => {
  const { name } = params;
  if (!isActionName(name)) return null;
  const { state } = await aggregates.load(actionDecider, actionStream(principal.account, name));
  return state.phase === "defined" ? state : null;
};

/** The action's version in force; null if the action is not defined. */
const versionOf = (it: Action): number | null => (it.phase === "defined" ? it.version : null);

const put: Handle<{ body: typeof BODY; params: "name" }> = (deps) => async (call) => {
  const { principal, params, envelope } = call;
  const { account } = principal;
  const { name } = params;
  if (!isActionName(name)) {
    const message = `must be lower-case parts separated by dots, such as refund.create, at most ${ACTION_NAME_MAX} characters`;
    return problem("invalid-request", `The action's name ${message}.`, { errors: [{ path: "/name", message }] });
  }
  const tooMany = deps.definitionRate(account, call.body);
  if (tooMany !== null) return tooMany;
  const compiled = await deps.compile(name, call.body, account);
  if (!compiled.ok) {
    const [first] = compiled.errors;
    return problem("invalid-action", `${first?.path ?? ""} ${first?.message ?? ""}.`, { errors: compiled.errors });
  }
  const { definition } = compiled;
  if (!(await deps.endpointExists(account, definition.endpoint_id))) {
    return missingReference("/endpoint_id", "endpoint");
  }
  if (definition.policy_id !== undefined && !(await deps.policyExists(account, definition.policy_id))) {
    return missingReference("/policy_id", "policy");
  }
  const part = actionPart(definition);
  const id = actionId(account, name);
  const before = await deps.aggregates.load(actionDecider, `action-${id}`, 0);
  const by = principal.id;
  const command = { type: "DefineAction", actionId: id, account, name, definition, by, at: envelope.at } as const;
  const change = { kind: "action", id: name, base: null, changes: part } as const;
  const isThere = before.state.phase === "defined";
  // A new action is never kept for approval: its slot of the plan cannot stay reserved while people decide.
  const deferred = isThere ? { command: () => command, after: definition } : undefined;
  const refused = await deps.controls.authorize(call, change, deferred);
  if (refused !== null) return refused;
  const decider = onlyWhile(actionDecider, (now) => versionOf(now) === versionOf(before.state));
  const done = await deps.slots.register({ kind: "actions", id, decider, command, envelope });
  if (done.outcome === "full") {
    await deps.controls.withdraw(call, "action", name);
    return limitReached("actions", done.limit);
  }
  if (done.outcome === "rejected" && done.rejection === "changed-meanwhile") return changedMeanwhile();
  if (done.outcome === "rejected" || done.state.phase !== "defined") return notFound();
  return {
    status: before.state.phase === "defined" ? 200 : 201,
    body: show(done.state),
    ...positionOf(done),
  };
};

const get: Handle<OfOne> = (deps) => async (call) => {
  const it = await find(deps, call);
  return it === null ? notFound() : { status: 200, body: show(it) };
};

const list: Handle =
  ({ views }) =>
  async ({ principal, query }) => {
    const where = [{ field: "account", is: "=", value: principal.account }] as const;
    const sort = { field: "name", order: "asc" } as const;
    const page = await pageOf(views, { view: actions.schema.name, where, sort }, query, showDocument);
    return isPage(page) ? { status: 200, body: page } : page;
  };

const remove: Handle<OfOne> = (deps) => async (call) => {
  const { principal, params, envelope } = call;
  const { name } = params;
  const it = await find(deps, call);
  if (it === null) return notFound();
  const base = actionPart(it.definition);
  const command = { type: "DeleteAction", at: envelope.at } as const;
  const change = { kind: "action", id: name, base, changes: null } as const;
  const refused = await deps.controls.authorize(call, change, { command: () => command, after: null });
  if (refused !== null) return refused;
  const done = await deps.aggregates.handle(actionDecider, actionStream(principal.account, name), command, envelope);
  if (done.outcome === "rejected") return notFound();
  await deps.slots.free("actions", principal.account, actionId(principal.account, name));
  return { status: 204, ...positionOf(done) };
};

export const actionRoutes = (deps: ActionsDeps): readonly Route[] => [
  route({
    method: "PUT",
    path: "/v1/actions/{name}",
    who: ADMINS,
    summary: "Create an action, or publish a new version of it",
    tag: "agents",
    body: BODY,
    problems: ["invalid-action", "limit-reached", "person-required", "too-few-approvers", "conflict"],
    answers: { 200: ACTION, 201: ACTION, 202: HELD_CHANGE },
    handle: put(deps),
  }),
  route({
    method: "GET",
    path: "/v1/actions",
    who: READERS,
    summary: "List the actions by name",
    tag: "agents",
    query: LISTING_QUERY,
    answers: { 200: listOf(ACTION) },
    reads: [actions.schema.name],
    handle: list(deps),
  }),
  route({
    method: "GET",
    path: "/v1/actions/{name}",
    who: READERS,
    summary: "Show an action",
    tag: "agents",
    answers: { 200: ACTION },
    handle: get(deps),
  }),
  route({
    method: "DELETE",
    path: "/v1/actions/{name}",
    who: ADMINS,
    summary: "Delete an action; requests for it are refused from then on",
    tag: "agents",
    problems: ["person-required", "too-few-approvers", "limit-reached", "conflict"],
    answers: { 204: null, 202: HELD_CHANGE },
    handle: remove(deps),
  }),
];
