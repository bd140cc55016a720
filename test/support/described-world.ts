import { agentAt, defineAction, registerAgent } from "./agent.ts";
import { type Client, logIn, signUp } from "./client.ts";
import { until } from "./program.ts";
import { receiver } from "./receiver.ts";

/** An account that has one of everything, for calls of every operation. */
export type DescribedWorld = {
  readonly url: string;
  readonly cookie: string;
  readonly key: string;
  readonly agentKey: string;
  /** Of the source of type `bearer`. */
  readonly token: string;
  /** What stands for the parameter in the path. */
  value(path: string, parameter: string): string;
  close(): Promise<void>;
};

const PASSWORD = "correct horse battery";

/** Somebody who was invited, with a session of their own. */
const invited = async (client: Client): Promise<string> => {
  const email = `invited-${process.pid}-${Date.now()}@example.com`;
  const { id, invitation_url: link } = await client.make("/v1/members/invitations", { email, role: "approver" });
  const accepted = await fetch(`${client.base}/v1/auth/invitations/accept`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token: new URL(link).hash.slice(1), password: PASSWORD }),
  });
  if (accepted.status !== 200) throw new Error(`invitation: ${accepted.status} ${await accepted.text()}`);
  return id;
};

const execution = async (base: string, key: string, name: string) => {
  const { status, body } = await agentAt(base, "", key).execute(name, {
    action: "refund.create",
    payload: { amount: 5 },
  });
  if (status !== 200 && status !== 202) throw new Error(`execute: ${status} ${JSON.stringify(body)}`);
  return body;
};

/** `url`: of a program that may deliver to this machine. */
export const describedWorld = async (url: string): Promise<DescribedWorld> => {
  const client = await signUp(url);
  const app = await receiver();
  const endpoint = await client.make("/v1/endpoints", { name: "shop", url: app.url });
  const policy = await client.make("/v1/policies", { name: "held", approval: { expires_after_s: 3_600 } });
  const sources = { name: "shop", type: "bearer", endpoint_id: endpoint.id };
  const source = await client.make("/v1/sources", sources);
  const stripe = await client.make("/v1/sources", { name: "stripe", type: "stripe", endpoint_id: endpoint.id });
  for (const action of ["refund.create", "order.create", "mail.send"]) await defineAction(client, action, endpoint.id);
  const managed = await registerAgent(url, client, { policy_id: policy.id });
  const agent = await registerAgent(url, client);
  const held = await execution(url, managed.key, "held");
  const { event_id: event } = await execution(url, agent.key, "done");
  const bundle = await agent.bundle("bundle", [{ action: "order.create", payload: {} }]);
  const key = await client.make("/v1/api-keys", { name: "spare", role: "viewer" });
  const replay = await client.session("POST", "/v1/replays", { filter: { status: "failed" } });
  const { member: self } = (await client.session("GET", "/v1/auth/me")).body;
  await logIn(url, { email: self.email, password: PASSWORD });
  // The newest is first: that of the login.
  const sessions = await client.session("GET", "/v1/auth/sessions");
  const member = await invited(client);
  await until(
    "the event is in the views",
    async () => (await client.call("GET", `/v1/events/${event}`)).status === 200,
  );
  const ids: Readonly<Record<string, string>> = {
    "/schemas/{view}": "events.v3",
    "/v1/auth/sessions/{id}": sessions.body.data[0].id,
    "/v1/members/{id}": member,
    "/v1/api-keys/{id}": key.id,
    "/v1/sources/{id}": stripe.id,
    "/v1/endpoints/{id}": endpoint.id,
    "/v1/policies/{id}": policy.id,
    "/v1/agents/{id}": managed.id,
    "/v1/actions/{name}": "refund.create",
    "/v1/executions/{event_id}": event,
    "/v1/events/{id}": event,
    "/v1/bundles/{id}": bundle.body.id,
    "/v1/replays/{id}": replay.body.id,
    "/v1/approvals/{id}": held.approval_id,
    "/v1/audit/personal/{id}": member,
  };
  const others: Readonly<Record<string, string>> = { index: "0", provider: "bearer", source_id: source.id };
  return {
    ...{ url, cookie: client.cookie, key: client.key, agentKey: agent.key, token: source.secret },
    value(path, parameter) {
      const found = others[parameter] ?? ids[`${path.slice(0, path.indexOf("}") + 1)}`];
      if (found === undefined) throw new Error(`what is ${parameter} of ${path}? Give the world one of it`);
      return found;
    },
    close: () => app.close(),
  };
};
