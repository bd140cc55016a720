import { suite } from "uvu";
import * as assert from "uvu/assert";
import { STALENESS_MAX_MS } from "../../../src/streams/aggregates.ts";
import { reply, signUp } from "../../support/client.ts";
import { addMember, MEMBER_PASSWORD, tokenOf } from "../../support/members.ts";
import { type ServiceInProcess, serviceInProcess } from "../../support/service-in-process.ts";

/** What ends a credential at one node, while another node has it in its memory. */
const test = suite("credentials on two nodes");
let one: ServiceInProcess;
let two: ServiceInProcess;

const PASSWORD = MEMBER_PASSWORD;
const OTHER_PASSWORD = "wrong donkey accumulator";

test.before(async () => {
  one = await serviceInProcess();
  two = await serviceInProcess({}, { log: one.log });
});
test.after(async () => {
  for (const node of [one, two]) await node.stop();
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
/** After so long a change is in force on each node. */
const settle = (): Promise<void> => pause(STALENESS_MAX_MS);

const post = async (base: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
  reply(
    await fetch(`${base}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    }),
  );

const logIn = (base: string, email: string, password = PASSWORD) => post(base, "/v1/auth/login", { email, password });

const cookieOf = ({ headers }: { readonly headers: Headers }): string => headers.get("set-cookie")?.split(";")[0] ?? "";

/** The status of a call with a session. */
const statusOf = async (base: string, cookie: string, path = "/v1/auth/me"): Promise<number> =>
  (await fetch(`${base}${path}`, { headers: { cookie } })).status;

test("a changed password ends the sessions on other nodes, except the one that changed it", async () => {
  const owner = await signUp(one.base);
  const email = "ada-0@example.com";
  const person = await addMember(owner, email, "admin");
  const other = cookieOf(await logIn(two.base, email));
  for (const cookie of [person.cookie, other]) assert.is(await statusOf(two.base, cookie), 200);
  const changed = await post(
    one.base,
    "/v1/auth/password",
    { current_password: PASSWORD, new_password: OTHER_PASSWORD },
    { cookie: person.cookie, "sec-fetch-site": "same-origin" },
  );
  assert.is(changed.status, 204);
  await settle();
  assert.is(await statusOf(two.base, other), 401);
  assert.is(await statusOf(two.base, person.cookie), 200);
  // The password itself is read from the log each time.
  assert.is((await logIn(two.base, email)).status, 401);
});

test("a session opened with the old password during its change on another node is invalid", async () => {
  const owner = await signUp(one.base);
  const email = "ada-1@example.com";
  const person = await addMember(owner, email, "viewer");
  assert.is(await statusOf(two.base, person.cookie), 200);
  const [changed, ...opened] = await Promise.all([
    post(
      one.base,
      "/v1/auth/password",
      { current_password: PASSWORD, new_password: OTHER_PASSWORD },
      { cookie: person.cookie, "sec-fetch-site": "same-origin" },
    ),
    ...Array.from({ length: 6 }, () => logIn(two.base, email)),
  ]);
  assert.is(changed.status, 204);
  await settle();
  for (const login of opened) {
    assert.ok([200, 401].includes(login.status), String(login.status));
    if (login.status === 200) assert.is(await statusOf(two.base, cookieOf(login)), 401);
  }
});

test("a session that is ended at one node, alone or with all others, is refused at another", async () => {
  const owner = await signUp(one.base);
  const email = "ada-2@example.com";
  const person = await addMember(owner, email, "viewer");
  const cookies: string[] = [];
  for (let n = 0; n < 3; n += 1) cookies.push(cookieOf(await logIn(two.base, email)));
  for (const cookie of cookies) assert.is(await statusOf(two.base, cookie), 200);
  const origin = { cookie: person.cookie, "sec-fetch-site": "same-origin" };
  const listed = await reply(await fetch(`${one.base}/v1/auth/sessions`, { headers: origin }));
  const [ended] = (listed.body.data as { id: string; current: boolean }[]).filter(({ current }) => !current);
  const end = (path: string) => fetch(`${one.base}/v1/auth/sessions${path}`, { method: "DELETE", headers: origin });
  assert.is((await end(`/${ended?.id}`)).status, 204);
  await settle();
  const statuses = await Promise.all(cookies.map((cookie) => statusOf(two.base, cookie)));
  assert.equal(statuses.toSorted(), [200, 200, 401]);
  assert.is((await end("")).status, 204);
  await settle();
  for (const cookie of cookies) assert.is(await statusOf(two.base, cookie), 401);
  assert.is(await statusOf(two.base, person.cookie), 200);
});

test("a lowered role and a removed member take effect on another node", async () => {
  const owner = await signUp(one.base);
  const email = "ada-3@example.com";
  const person = await addMember(owner, email, "owner");
  const origin = { cookie: person.cookie, "sec-fetch-site": "same-origin" };
  const invite = () => post(two.base, "/v1/members/invitations", { email: "b@example.com", role: "viewer" }, origin);
  assert.is((await invite()).status, 201);
  assert.is((await owner.session("PATCH", `/v1/members/${person.id}`, { role: "viewer" })).status, 200);
  await settle();
  assert.is((await invite()).status, 403);
  assert.is((await owner.session("DELETE", `/v1/members/${person.id}`)).status, 204);
  await settle();
  assert.is(await statusOf(two.base, person.cookie), 401);
});

test("a key replaced on one node is refused on another, where the new one is valid", async () => {
  const owner = await signUp(one.base);
  const agent = await owner.make("/v1/agents", { name: "orders", scope: { actions: ["*"] } });
  const asAgent = async (key: string) =>
    (await post(two.base, "/v1/execute", {}, { authorization: `Bearer ${key}` })).status;
  assert.is(await asAgent(agent.key), 400);
  const rotated = await owner.session("POST", `/v1/agents/${agent.id}/key`);
  assert.is(rotated.status, 200, JSON.stringify(rotated.body));
  assert.is(await asAgent(rotated.body.key), 400);
  await settle();
  assert.is(await asAgent(agent.key), 401);
  const listed = await owner.session("GET", "/v1/api-keys");
  const [key] = listed.body.data as { id: string }[];
  assert.is((await owner.at(two.base).call("GET", "/v1/sources")).status, 200);
  assert.is((await owner.session("DELETE", `/v1/api-keys/${key?.id}`)).status, 204);
  await settle();
  assert.is((await owner.at(two.base).call("GET", "/v1/sources")).status, 401);
});

test("a link that is used on two nodes at once is used once", async () => {
  const owner = await signUp(one.base);
  const email = "ada-5@example.com";
  const invited = await owner.session("POST", "/v1/members/invitations", { email, role: "admin" });
  const token = tokenOf(invited.body.invitation_url);
  const at = [one, two, one, two];
  const accepted = await Promise.all(
    at.map(({ base }, n) => post(base, "/v1/auth/invitations/accept", { token, password: `${PASSWORD} ${n}` })),
  );
  assert.is(accepted.filter(({ status }) => status === 200).length, 1, String(accepted.map(({ status }) => status)));
  const member = accepted.find(({ status }) => status === 200)?.body.member.id;
  const made = await owner.session("POST", `/v1/members/${member}/reset`);
  const link = tokenOf(made.body.reset_url);
  const reset = await Promise.all(
    at.map(({ base }, n) => post(base, "/v1/auth/reset", { token: link, password: `${OTHER_PASSWORD} ${n}` })),
  );
  assert.is(reset.filter(({ status }) => status === 200).length, 1, String(reset.map(({ status }) => status)));
  for (const { status, headers } of reset)
    if (status === 200) assert.is(await statusOf(two.base, cookieOf({ headers })), 200);
  await settle();
  // Who has joined with the link has lost that session with the reset.
  for (const answer of accepted) if (answer.status === 200) assert.is(await statusOf(two.base, cookieOf(answer)), 401);
});

test.run();
