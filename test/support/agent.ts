import { type Client, type Reply, reply } from "./client.ts";

/** An agent at a program, by its key. */
export type Agent = {
  readonly id: string;
  readonly key: string;
  /** POST /v1/execute under an Idempotency-Key. */
  execute(
    key: string,
    body: { readonly action: string; readonly payload: unknown } & Record<string, unknown>,
    headers?: Record<string, string>,
  ): Promise<Reply>;
  execution(eventId: string, waitMs?: number): Promise<Reply>;
  /** POST /v1/bundles under an Idempotency-Key. */
  bundle(
    key: string,
    steps: readonly { readonly action: string; readonly payload: unknown }[],
    more?: Record<string, unknown>,
    headers?: Record<string, string>,
  ): Promise<Reply>;
  bundleNow(id: string, waitMs?: number): Promise<Reply>;
  cancelBundle(id: string): Promise<Reply>;
  /** The same agent at a program that was started again. */
  at(base: string): Agent;
};

/** The longest that the service waits: a bundle is many requests, and the machine may be busy. */
const WAIT_MS = 30_000;

export const agentAt = (base: string, id: string, key: string): Agent => {
  const authorization = `Bearer ${key}`;
  const post = async (path: string, body: unknown, headers: Record<string, string>): Promise<Reply> => {
    const all = { authorization, "content-type": "application/json", ...headers };
    return reply(await fetch(`${base}${path}`, { method: "POST", headers: all, body: JSON.stringify(body) }));
  };
  const get = async (path: string): Promise<Reply> =>
    reply(await fetch(`${base}${path}`, { headers: { authorization } }));
  return {
    id,
    key,
    at: (other) => agentAt(other, id, key),
    execute: (idempotencyKey, body, headers = {}) =>
      post("/v1/execute", body, { "idempotency-key": idempotencyKey, ...headers }),
    execution: (eventId, waitMs = 0) => get(`/v1/executions/${eventId}?wait_ms=${waitMs}`),
    bundle: (idempotencyKey, steps, more = {}, headers = {}) =>
      post("/v1/bundles", { steps, wait_ms: WAIT_MS, ...more }, { "idempotency-key": idempotencyKey, ...headers }),
    bundleNow: (bundleId, waitMs = 0) => get(`/v1/bundles/${bundleId}?wait_ms=${waitMs}`),
    cancelBundle: (bundleId) => post(`/v1/bundles/${bundleId}/cancel`, {}, {}),
  };
};

export const registerAgent = async (
  base: string,
  client: Client,
  settings: Record<string, unknown> = {},
): Promise<Agent> => {
  const { id, key } = await client.make("/v1/agents", { name: "helper", scope: { actions: ["*"] }, ...settings });
  return agentAt(base, id, key);
};

export const defineAction = async (
  client: Client,
  name: string,
  endpointId: string,
  settings: Record<string, unknown> = {},
): Promise<void> => {
  const definition = { endpoint_id: endpointId, reversibility: "reversible", ...settings };
  const { status, body } = await client.session("PUT", `/v1/actions/${name}`, definition);
  if (status !== 201 && status !== 200) throw new Error(`PUT ${name}: ${status} ${JSON.stringify(body)}`);
};
