import { suite } from "uvu";
import * as assert from "uvu/assert";
import { defineAction, registerAgent } from "../../../support/agent.ts";
import { type Client, signUp } from "../../../support/client.ts";
import { addMember } from "../../../support/members.ts";
import { type ServiceInProcess, serviceInProcess } from "../../../support/service-in-process.ts";
import { until } from "../../../support/until.ts";

const test = suite("directory and search");
let node: ServiceInProcess;

test.before(async () => {
  node = await serviceInProcess();
});
test.after(() => node.stop());

const world = async () => {
  const client = await signUp(node.base);
  const endpoint = (await client.make("/v1/endpoints", { name: "Bank gateway", url: "http://127.0.0.1:9/" })).id;
  await defineAction(client, "bank.pay", endpoint);
  const { id: policy } = await client.make("/v1/policies", { name: "payments" });
  const agent = await registerAgent(node.base, client, { name: "refund-bot" });
  const viewer = await addMember(client, `viewer-${client.account}@example.com`.replaceAll("_", "-"));
  const asViewer = (path: string) => client.session("GET", path, undefined, { cookie: viewer.cookie });
  const names = async (ids: readonly string[], call = asViewer) =>
    (await call(`/v1/directory?ids=${ids.join(",")}`)).body;
  return { client, endpoint, policy, agent, viewer, asViewer, names };
};

test("every role gets names by ids, also of what was removed or renamed, and nothing of another account", async () => {
  const { client, endpoint, policy, agent, viewer, names } = await world();
  await client.session("PATCH", `/v1/agents/${agent.id}`, { name: "payout-bot" });
  assert.is((await client.session("DELETE", `/v1/agents/${agent.id}`)).status, 204);
  const ids = [endpoint, policy, agent.id, viewer.id, `agt_${"a".repeat(32)}`, "evt_a", "constructor", "../x"];
  await until("the views show all of it", async () => Object.keys(await names(ids)).length === 4);
  await until("the agent is removed", async () => (await names([agent.id]))[agent.id].removed);
  const found = await names(ids);
  assert.equal(found[endpoint], { kind: "endpoint", name: "Bank gateway", removed: false });
  assert.equal(found[policy], { kind: "policy", name: "payments", removed: false });
  assert.equal(found[agent.id], { kind: "agent", name: "payout-bot", removed: true });
  assert.equal([found[viewer.id].kind, found[viewer.id].removed], ["member", false]);
  const stranger = await signUp(node.base);
  assert.equal(await names(ids, (path) => stranger.session("GET", path)), {});
  for (const query of ["", "?ids=", `?ids=${Array.from({ length: 101 }, (_, at) => `a${at}`).join(",")}`])
    assert.is((await client.session("GET", `/v1/directory${query}`)).status, 400, query);
});

test("names are listed by their kinds, only of the account", async () => {
  const { client, endpoint, policy, agent, asViewer } = await world();
  const source = (await client.make("/v1/sources", { name: "Shop", type: "github" })).id;
  const kinds = "/v1/directory?kinds=agent,source,endpoint,policy";
  await until("all of it is listed", async () => Object.keys((await asViewer(kinds)).body).length === 4);
  assert.equal((await asViewer(kinds)).body, {
    [agent.id]: { kind: "agent", name: "refund-bot", removed: false },
    [source]: { kind: "source", name: "Shop", removed: false },
    [endpoint]: { kind: "endpoint", name: "Bank gateway", removed: false },
    [policy]: { kind: "policy", name: "payments", removed: false },
  });
  const one = (await asViewer(`/v1/directory?kinds=policy&ids=${endpoint}`)).body;
  assert.equal(Object.keys(one).sort(), [endpoint, policy].sort());
  const stranger = await signUp(node.base);
  assert.equal((await stranger.session("GET", kinds)).body, {});
  const found = Object.values((await asViewer("/v1/directory?kinds=member")).body) as { kind: string; name: string }[];
  assert.ok(found.length > 0 && found.every(({ kind, name }) => kind === "member" && !name.includes("@")));
  for (const wrong of ["key", "agent,", "agent,key", ""])
    assert.is((await asViewer(`/v1/directory?kinds=${wrong}`)).status, 400, wrong);
  await client.session("DELETE", `/v1/endpoints/${endpoint}`);
  await until("the removed one is gone", async () => !(endpoint in (await asViewer(kinds)).body));
});

test("every role learns who has a right, by names without addresses, those whose role is no higher first", async () => {
  const { client, viewer, asViewer } = await world();
  const admin = await addMember(client, "ben.okafor@example.com", "admin");
  const holders = async (right: string) => (await asViewer(`/v1/directory?right=${right}`)).body;
  await until("the admin is named", async () => admin.id in (await holders("admin")));
  const found = await holders("admin");
  assert.equal(found[admin.id], { kind: "member", name: "ben.okafor", removed: false });
  assert.equal([Object.keys(found).length, Object.keys(found)[0]], [2, admin.id]);
  assert.is(JSON.stringify(found).includes("@"), false);
  assert.equal([admin.id in (await holders("owner")), viewer.id in (await holders("auditor"))], [false, false]);
  assert.is(Object.keys(await holders("viewer")).length, 3);
  await client.session("POST", "/v1/members/invitations", { email: "dev@example.com", role: "admin" });
  const { id } = await signUp(node.base).then((stranger) => addMember(stranger, "eve@example.com", "admin"));
  assert.is(id in (await holders("admin")), false, "another account's");
  assert.is((await asViewer("/v1/directory?right=king")).status, 400);
  await client.session("DELETE", `/v1/members/${admin.id}`);
  await until("the removed one is gone", async () => !(admin.id in (await holders("admin"))));
});

test("a search finds by a part of a name or by an id, only what the role may list", async () => {
  const { client, endpoint, agent, viewer, asViewer } = await world();
  const hits = async (q: string, call: (path: string) => ReturnType<Client["session"]>) =>
    (await call(`/v1/search?q=${encodeURIComponent(q)}`)).body.data;
  const owner = (path: string) => client.session("GET", path);
  await until("all is found", async () => (await hits("ba", asViewer)).length === 2);
  assert.equal(await hits("BANK", asViewer), [
    { id: endpoint, kind: "endpoint", name: "Bank gateway", state: "healthy" },
    { ...(await hits("bank.pay", asViewer))[0], kind: "action", name: "bank.pay", state: null },
  ]);
  await until("the agent is found", async () => (await hits(agent.id, asViewer)).length === 1);
  assert.equal(await hits(agent.id, asViewer), [{ id: agent.id, kind: "agent", name: "refund-bot", state: "active" }]);
  await until("the member is found", async () => (await hits("viewer-", owner)).length === 1);
  assert.equal([await hits("viewer-", asViewer), await hits(viewer.id, asViewer)], [[], []]);
  assert.equal(
    (await hits("viewer-", owner)).map(({ id }: { id: string }) => id),
    [viewer.id],
  );
  const stranger = await signUp(node.base);
  assert.equal(await hits(agent.id, (path) => stranger.session("GET", path)), []);
  assert.is((await owner("/v1/search")).status, 400);
});

test("a list counts all that matches when it is asked to, and only of its account", async () => {
  const { client, asViewer } = await world();
  await client.make("/v1/policies", { name: "second" });
  const list = async (query: string) => (await asViewer(`/v1/policies?limit=1${query}`)).body;
  await until("both are listed", async () => (await list("&total=true")).total === 2);
  const { data, total, total_is_more } = await list("&total=true");
  assert.equal([data.length, total, total_is_more], [1, 2, false]);
  assert.is("total" in (await list("")), false);
  assert.is((await asViewer("/v1/events?status=failed&total=true")).body.total, 0);
  assert.is((await asViewer("/v1/policies?total=yes")).status, 400);
});

test.run();
