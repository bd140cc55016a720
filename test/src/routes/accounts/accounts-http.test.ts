import { suite } from "uvu";
import * as assert from "uvu/assert";
import { accountsWorld, PASSWORD } from "../../../support/accounts-world.ts";
import { SAME_ORIGIN, testApp } from "../../../support/http-app.ts";
import { tokenOf } from "../../../support/members.ts";

const test = suite("accounts over HTTP");

const open = async () => {
  const { routes, authenticate, log, project } = accountsWorld();
  const app = await testApp(routes, { authenticate, log });
  const signUp = async (email: string) => {
    const signedUp = await app.inject({
      method: "POST",
      url: "/v1/auth/signup",
      payload: { email, password: PASSWORD },
    });
    const [cookie = ""] = String(signedUp.headers["set-cookie"]).split(";");
    return { signedUp, headers: { cookie, ...SAME_ORIGIN } };
  };
  return { app, project, signUp };
};

test("from the signup to a key that is revoked", async () => {
  const { app, project, signUp } = await open();
  const { signedUp, headers } = await signUp("ana@shop.example");
  assert.is(signedUp.statusCode, 201);
  assert.ok(signedUp.headers["countersign-position"]);
  const me = await app.inject({ url: "/v1/auth/me", headers });
  assert.equal(me.json(), signedUp.json());

  const created = await app.inject({ method: "POST", url: "/v1/api-keys", headers, payload: { name: "ci" } });
  assert.is(created.statusCode, 201);
  const { id, key } = created.json();
  const asKey = { authorization: `Bearer ${key}` };
  assert.is((await app.inject({ url: "/v1/api-keys", headers: asKey })).statusCode, 403);
  await project();
  const listed = await app.inject({ url: "/v1/api-keys?limit=1", headers });
  assert.equal(
    listed.json().data.map((it: { id: string }) => it.id),
    [id],
  );
  assert.is((await app.inject({ method: "DELETE", url: `/v1/api-keys/${id}`, headers })).statusCode, 204);
  assert.is((await app.inject({ url: "/v1/api-keys", headers: asKey })).statusCode, 401);

  assert.is((await app.inject({ method: "POST", url: "/v1/auth/logout", headers })).statusCode, 204);
  assert.is((await app.inject({ url: "/v1/auth/me", headers })).statusCode, 401);
  await app.close();
});

test("bad input is named, and never a failure of ours", async () => {
  const { app, signUp } = await open();
  const { headers } = await signUp("ana@shop.example");
  const email = "bo@shop.example";
  const cases: [string, object, number][] = [
    ["/v1/auth/signup", {}, 400],
    ["/v1/auth/signup", { email, password: PASSWORD, admin: true }, 400],
    ["/v1/auth/signup", { email: ["a"], password: PASSWORD }, 400],
    ["/v1/auth/signup", { email, password: "short" }, 422],
    ["/v1/auth/signup", { email, password: "x".repeat(1025) }, 400],
    ["/v1/auth/signup", { email, password: PASSWORD, account_name: "  " }, 400],
    ["/v1/auth/signup", { email: "ana@shop.example", password: PASSWORD }, 409],
    ["/v1/auth/login", { email, password: "" }, 400],
    ["/v1/auth/login", { email, password: PASSWORD }, 401],
    ["/v1/members", { email, password: PASSWORD, role: "viewer" }, 405],
    ["/v1/members/invitations", { email, role: "king" }, 400],
    ["/v1/members/invitations", { email, role: "viewer", password: PASSWORD }, 400],
    ["/v1/members/invitations", { email: "bo", role: "viewer" }, 400],
    ["/v1/auth/invitations/accept", { token: "x", password: PASSWORD }, 404],
    ["/v1/auth/invitations/accept", { token: "x".repeat(129), password: PASSWORD }, 400],
    ["/v1/auth/reset", { token: "x", password: PASSWORD }, 404],
    ["/v1/auth/reset", { token: "x", password: PASSWORD, email }, 400],
    ["/v1/api-keys", { name: "ci", role: "owner" }, 400],
    ["/v1/api-keys", { name: "ci", role: "approver" }, 400],
    ["/v1/api-keys", { name: "ci", expires_at: "tomorrow" }, 400],
    ["/v1/api-keys", { name: "ci", expires_at: "2020-01-01T00:00:00Z" }, 400],
  ];
  for (const [url, payload, status] of cases) {
    const answer = await app.inject({ method: "POST", url, headers: url.includes("/auth/") ? {} : headers, payload });
    assert.is(answer.statusCode, status, `${url} ${JSON.stringify(payload).slice(0, 80)}: ${answer.body}`);
    assert.is(answer.headers["content-type"], "application/problem+json");
  }
  for (const url of [
    "/v1/members?limit=0",
    "/v1/members?limit=x",
    "/v1/members?cursor=nonsense",
    "/v1/api-keys?cursor=",
  ])
    assert.is((await app.inject({ url, headers })).statusCode, 400, url);
  await app.close();
});

test("who may not, may not", async () => {
  const { app, signUp } = await open();
  const { headers } = await signUp("ana@shop.example");
  const payload = { email: "bo@shop.example", role: "approver" };
  const invited = await app.inject({ method: "POST", url: "/v1/members/invitations", headers, payload });
  assert.is(invited.statusCode, 201);
  const login = await app.inject({
    method: "POST",
    url: "/v1/auth/invitations/accept",
    payload: { token: tokenOf(invited.json().invitation_url), password: PASSWORD },
  });
  const [cookie = ""] = String(login.headers["set-cookie"]).split(";");
  for (const url of ["/v1/members", "/v1/api-keys"])
    assert.is((await app.inject({ url, headers: { cookie } })).statusCode, 403);
  const asApprover = { cookie, ...SAME_ORIGIN };
  for (const [method, url, payload] of [
    ["POST", "/v1/members/invitations", { email: "cy@shop.example", role: "viewer" }],
    ["PATCH", `/v1/members/${login.json().member.id}`, { role: "owner" }],
    ["POST", `/v1/members/${login.json().member.id}/reset`, undefined],
    ["DELETE", `/v1/members/${login.json().member.id}`, undefined],
  ] as const) {
    const answer = await app.inject({
      method,
      url,
      headers: asApprover,
      ...(payload === undefined ? {} : { payload }),
    });
    assert.is(answer.statusCode, 403, url);
  }
  assert.is((await app.inject({ url: "/v1/auth/me", headers: { cookie } })).statusCode, 200);
  const { cookie: owners } = headers;
  assert.is(
    (await app.inject({ method: "POST", url: "/v1/auth/logout", headers: { cookie: owners } })).statusCode,
    403,
  );
  await app.close();
});
test.run();
