import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Client, signUp } from "../../../support/client.ts";
import { startService } from "../../../support/service-in-memory.ts";

const test = suite("the login of a command line, over HTTP");

const CLIENT = { client_id: "countersign-cli" };
const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code";

let service: Awaited<ReturnType<typeof startService>>;
let ana: Client;
test.before(async () => {
  service = await startService();
  ana = await signUp(service.url);
});
test.after(() => service.stop());

const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${service.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

const asked = async (): Promise<{ device_code: string; user_code: string }> => {
  const response = await post("/v1/auth/device", { ...CLIENT, device_name: "laptop" });
  return (await response.json()) as { device_code: string; user_code: string };
};
const poll = (device_code: string) => post("/v1/auth/device/token", { ...CLIENT, grant_type: GRANT_TYPE, device_code });

test("a refusal is a problem and an error of RFC 6749 at once", async () => {
  const { device_code } = await asked();
  for (const [code, error] of [
    ["authorization-pending", "authorization_pending"],
    ["slow-down", "slow_down"],
  ]) {
    const response = await poll(device_code);
    assert.equal([response.status, response.headers.get("content-type")], [400, "application/problem+json"]);
    assert.is(response.headers.get("cache-control"), "no-store");
    const body = (await response.json()) as Record<string, unknown>;
    assert.equal([body.code, body.error, body.retryable], [code, error, true]);
    assert.is(body.error_description, body.detail);
  }
});

test("the session is taken as a bearer token from anywhere, and never as a cookie", async () => {
  const { device_code, user_code } = await asked();
  assert.is((await ana.session("POST", "/v1/auth/device/approve", { user_code })).status, 204);
  const { access_token: token } = (await (await poll(device_code)).json()) as { access_token: string };
  const me = (headers: Record<string, string>) => fetch(`${service.url}/v1/auth/me`, { headers });
  assert.is((await me({ authorization: `Bearer ${token}` })).status, 200);
  assert.is((await me({ cookie: `__Host-session=${token}` })).status, 401);
  const cookie = ana.cookie.split("=")[1] ?? "";
  assert.is((await me({ authorization: `Bearer ${cookie}` })).status, 401);
  assert.is((await me({ authorization: `Bearer css_${cookie}` })).status, 401);
  assert.is((await me({ authorization: `Bearer ${token}`, cookie: ana.cookie })).status, 400);
  const made = await post("/v1/api-keys", { name: "ci" }, { authorization: `Bearer ${token}` });
  assert.is(made.status, 201);
  const out = await post("/v1/auth/logout", {}, { authorization: `Bearer ${token}` });
  assert.is(out.status, 204);
  assert.is((await me({ authorization: `Bearer ${token}` })).status, 401);
});

test("another site's page lets no command line in, and a key neither", async () => {
  const { user_code } = await asked();
  const foreign = { cookie: ana.cookie, origin: "https://evil.example" };
  for (const act of ["request", "approve", "deny"]) {
    const crossed = await post(`/v1/auth/device/${act}`, { user_code }, foreign);
    assert.is(((await crossed.json()) as { code: string }).code, "cross-site");
    assert.is((await ana.call("POST", `/v1/auth/device/${act}`, { user_code })).status, 403);
    assert.is((await post(`/v1/auth/device/${act}`, { user_code })).status, 401);
    const read = await fetch(`${service.url}/v1/auth/device/${act}`, { headers: { cookie: ana.cookie } });
    assert.is(read.status, 405);
  }
});

test.run();
