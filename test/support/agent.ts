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
  /** The same agent at a program that was started again. */
  at(base: string): Agent;
};

const agentAt = (base: string, id: string, key: string): Agent => {
  const authorization = `Bearer ${key}`;
  return {
    id,
    key,
    at: (other) => agentAt(other, id, key),
    async execute(idempotencyKey, body, headers = {}) {
      const own = { authorization, "content-type": "application/json", "idempotency-key": idempotencyKey };
      const init = { method: "POST", headers: { ...own, ...headers }, body: JSON.stringify(body) };
      return reply(await fetch(`${base}/v1/execute`, init));
    },
    async execution(eventId, waitMs = 0) {
      return reply(await fetch(`${base}/v1/executions/${eventId}?wait_ms=${waitMs}`, { headers: { authorization } }));
    },
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
  const { status, body } = await client.call("PUT", `/v1/actions/${name}`, definition);
  if (status !== 201 && status !== 200) throw new Error(`PUT ${name}: ${status} ${JSON.stringify(body)}`);
};
