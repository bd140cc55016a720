import { onlyWhile } from "../../../domain/decider.ts";
import { endpoint as endpointDecider } from "../../../domain/endpoint/decider.ts";
import { derivedId } from "../../../infra/crypto/ids.ts";
import { makeSigningSecret } from "../../../infra/http/standard-webhooks.ts";
import { positionOf } from "../../http/route.ts";
import { limitReached, missingReference, notFound, type Problem } from "../../streams/problems.ts";
import { presentEndpointAnswer } from "./endpoint-answer.ts";
import {
  controlled,
  type EndpointsDeps,
  type Handle,
  own,
  PROBLEM_OF,
  runEndpointCommand,
  streamOf,
} from "./endpoint-commands.ts";
import { DEFAULTS, type ENDPOINT_CHANGES, type EndpointBody, type NEW_ENDPOINT } from "./endpoint-input.ts";
import { settingsOf } from "./endpoint-settings.ts";

const foreignPolicy = async (
  { policyExists }: EndpointsDeps,
  account: string,
  { policy_id = null }: EndpointBody,
): Promise<Problem | null> =>
  policy_id === null || (await policyExists(account, policy_id)) ? null : missingReference("/policy_id", "policy");

export const register: Handle<{ body: typeof NEW_ENDPOINT }> = (deps) => async (call) => {
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
  const settings = { name, url, ...DEFAULTS, headers: {}, notifications: [], policy_id: null, ...given };
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
  return {
    status: 201,
    body: { ...(await presentEndpointAnswer(deps, done.state)), signing_secret },
    ...positionOf(done),
  };
};

export const change: Handle<{ body: typeof ENDPOINT_CHANGES; params: "id" }> = (deps) => async (call) => {
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
    // Approvers of a held change are shown the change of the policy only, so a call that changes more is not held.
    const deferred = Object.keys(body).length === 1 ? { command: () => command, after: { policy_id } } : undefined;
    const refused = await deps.controls.authorize(call, { ...controlled(it), changes: { policy_id } }, deferred);
    if (refused !== null) return refused;
  }
  const { at } = call.envelope;
  // The caller's session may have ended while the body arrived.
  const isPerson = call.principal.kind === "member" && (await call.isStillAllowed());
  const by = isPerson ? ({ byPerson: true } as const) : {};
  // The change was authorized for the endpoint's policy as it was: if another policy is set by now, it is a conflict.
  const decider = onlyWhile(
    endpointDecider,
    (now) =>
      body.policy_id === undefined || now.phase !== "present" || now.settings.policy_id === it.settings.policy_id,
  );
  const command = { type: "ChangeEndpoint", account, changes, ...by, at } as const;
  const done = await runEndpointCommand(deps, call, endpointId, { command, decider });
  if ("problem" in done) return done;
  if (done.state.phase !== "present") return notFound();
  deps.wake();
  return { status: 200, body: await presentEndpointAnswer(deps, done.state), ...done.position };
};
