import { makeSigningSecret } from "../../../infra/http/standard-webhooks.ts";
import { type EndpointDocument, endpoints } from "../../../projections/endpoints.ts";
import { isPage, LISTING_QUERY, listOf, pageOf } from "../../http/listing.ts";
import { ADMINS, HELD_CHANGE, READERS, type Route, route } from "../../http/route.ts";
import { notFound } from "../../streams/problems.ts";
import { endpointAnswer, presentEndpointAnswer } from "./endpoint-answer.ts";
import { change, register } from "./endpoint-changes.ts";
import {
  controlled,
  type EndpointsDeps,
  type Handle,
  type OfOne,
  own,
  runEndpointCommand,
  streamOf,
} from "./endpoint-commands.ts";
import { ENDPOINT, ENDPOINT_CHANGES, NEW_ENDPOINT, REGISTERED, ROTATED, TESTED } from "./endpoint-input.ts";
import { inUse, sourcesOf } from "./endpoint-sources.ts";
import { sendTest } from "./endpoint-test.ts";

/** For so long after a rotation, deliveries are signed with the previous secret as well as with the new one. */
const OVERLAP_MS = 24 * 60 * 60 * 1_000;

const list: Handle =
  ({ views, clock }) =>
  async ({ principal, query }) => {
    const where = [
      { field: "account", is: "=", value: principal.account },
      { field: "deleted", is: "=", value: 0 },
    ] as const;
    const sort = { field: "created_at", order: "desc" } as const;
    const now = clock.now();
    const page = await pageOf(
      views,
      { view: endpoints.schema.name, where, sort },
      query,
      (document: EndpointDocument, id) => endpointAnswer(id, document, now),
    );
    return isPage(page) ? { status: 200, body: page } : page;
  };

const get: Handle<OfOne> = (deps) => async (call) => {
  const it = await own(deps, call);
  return it === null ? notFound() : { status: 200, body: await presentEndpointAnswer(deps, it) };
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
  const done = await runEndpointCommand(deps, call, endpointId, { command });
  if ("problem" in done) return done;
  if (done.state.phase !== "present") return notFound();
  // When the previous secret ends. A repeat answers with the time that was recorded first.
  const previous_valid_until = done.state.secrets[1]?.until ?? previousUntil;
  return { status: 200, body: { signing_secret, previous_valid_until }, ...done.position };
};

const enable: Handle<OfOne> = (deps) => async (call) => {
  const { account } = call.principal;
  const it = await own(deps, call);
  if (it === null) return notFound();
  const command = { type: "EnableEndpoint", account, at: call.envelope.at } as const;
  const done = await runEndpointCommand(deps, call, it.endpointId, { command });
  if ("problem" in done) return done;
  if (done.state.phase !== "present") return notFound();
  deps.wake();
  return { status: 200, body: await presentEndpointAnswer(deps, done.state), ...done.position };
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
  const done = await runEndpointCommand(deps, call, it.endpointId, { command });
  if ("problem" in done) return done;
  await deps.slots.free("delivery_endpoints", account, it.endpointId);
  // Once woken, the deliverer ends the deliveries that wait for the deleted endpoint.
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
