import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Client, clientAt, hookSource, type Reply, signUp } from "../../support/client.ts";
import { until } from "../../support/program.ts";
import { type Receiver, receiver } from "../../support/receiver.ts";
import { type AuditRecord, recordOf, startService } from "../../support/service-in-memory.ts";

/** Each decision, made over HTTP, and its record as an auditor finds it. */
const test = suite("recorded decisions");
const PASSWORD = "correct horse battery";

let service: Awaited<ReturnType<typeof startService>>;
let target: Receiver;
let client: Client;

test.before(async () => {
  [service, target] = await Promise.all([startService({ SIGNUP_PLAN: "scale" }), receiver()]);
  client = await signUp(service.url);
});
test.after(async () => {
  await service.stop();
  await target.close();
  assert.equal(service.lines, []);
});

/** Configured by a person, as a key may not weaken a control. */
const made = async (path: string, body: unknown, method = "POST"): Promise<Reply["body"]> => {
  const answer = await client.session(method, path, body);
  assert.ok(answer.status < 300, `${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};

const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${service.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "user-agent": "attacker/1", ...headers },
    body: JSON.stringify(body),
  });

/** The same person with another session. */
const again = async (email: string): Promise<{ account: string; cookie: string; key: string }> => {
  const answer = await post("/v1/auth/login", { email, password: PASSWORD });
  const { account } = (await answer.json()) as { readonly account: { id: string } };
  return { account: account.id, cookie: answer.headers.get("set-cookie")?.split(";")[0] ?? "", key: "" };
};

const refusalOf = (code: string, route: string, subject?: string, of = client): Promise<AuditRecord> =>
  recordOf(
    service,
    of,
    `${code} of ${route}`,
    ({ type, data, stream }) =>
      type === "CallsRefused" &&
      data.problem === code &&
      data.route === route &&
      (subject === undefined || stream === `calls-${subject}`),
  );

const clientIn = ({ data, personal }: AuditRecord): unknown => personal[data.client.id];

test("a wrong password and a lockout are records of the member, with the address and user agent that tried", async () => {
  const email = "ana@a.example";
  const signed = await post("/v1/auth/signup", { email, password: PASSWORD });
  const { account, member } = (await signed.json()) as {
    readonly account: { id: string };
    readonly member: { id: string };
  };
  const owner = clientAt(service.url, {
    account: account.id,
    cookie: signed.headers.get("set-cookie")?.split(";")[0] ?? "",
    key: "",
  });
  const statuses: number[] = [];
  for (let n = 0; n < 11; n += 1)
    statuses.push((await post("/v1/auth/login", { email, password: "a wrong one" })).status);
  assert.equal(statuses, [...Array(10).fill(401), 429]);
  const wrong = await refusalOf("invalid-credentials", "POST /v1/auth/login", member.id, owner);
  assert.equal(wrong.actor, { kind: "system", id: "public", name: null });
  assert.equal(clientIn(wrong), { ip: "127.0.0.1", user_agent: "attacker/1" });
  await refusalOf("rate-limited", "POST /v1/auth/login", member.id, owner);
});

test("an unknown address is counted for the installation, and in the metrics", async () => {
  await post("/v1/auth/login", { email: "nobody@nowhere.example", password: "a wrong one" });
  const counted = await until("it is counted", async () => service.log.last("calls-installation"));
  assert.is(counted.meta.account, "");
  assert.match(JSON.stringify(counted.data), /"invalid-credentials":1/);
  assert.not.match(JSON.stringify(await service.log.readAll(null, 10_000)), /nowhere\.example/);
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  assert.match(metrics, /countersign_refused_calls_total\{problem="invalid-credentials",whose="nobody"\} 1/);
});

test("the use of a revoked key and of a role that is too weak are records", async () => {
  const { id, key } = await made("/v1/api-keys", { name: "ci", role: "viewer" });
  const weak = await post("/v1/policies", { name: "mine" }, { authorization: `Bearer ${key}` });
  assert.is(weak.status, 403);
  const refused = await refusalOf("forbidden", "POST /v1/policies", id);
  assert.equal(refused.actor, { kind: "key", id, name: "ci" });
  assert.equal(clientIn(refused), { ip: "127.0.0.1", user_agent: "attacker/1" });
  assert.is((await client.session("DELETE", `/v1/api-keys/${id}`)).status, 204);
  const revoked = await post("/v1/policies", { name: "mine" }, { authorization: `Bearer ${key}` });
  assert.is(revoked.status, 401);
  const record = await refusalOf("unauthenticated", "POST /v1/policies", id);
  assert.equal([record.actor.id, record.data.detail], [id, "The API key was revoked."]);
});

test("a session that is used after its end is a record of the member", async () => {
  const other = await signUp(service.url);
  const { body } = await other.session("GET", "/v1/auth/me");
  const owner = clientAt(service.url, await again(body.member.email));
  assert.is((await other.session("POST", "/v1/auth/logout")).status, 204);
  assert.is((await other.session("GET", "/v1/auth/me")).status, 401);
  const record = await refusalOf("unauthenticated", "GET /v1/auth/me", body.member.id, owner);
  assert.equal([record.actor.kind, record.data.detail], ["member", "The session had ended."]);
});

test("a request that is refused before any gate is a record of its agent", async () => {
  const endpoint = await made("/v1/endpoints", { name: "app", url: target.url });
  await made("/v1/actions/refund.create", { endpoint_id: endpoint.id, reversibility: "reversible" }, "PUT");
  const agent = await made("/v1/agents", { name: "helper", scope: { actions: ["refund.*"] } });
  const execute = async (key: string, action: string, payload: unknown = {}) =>
    post("/v1/execute", { action, payload }, { authorization: `Bearer ${agent.key}`, "idempotency-key": key });
  assert.is((await execute("a", "refund.none")).status, 404);
  assert.is((await execute("b", "mail send")).status, 403);
  assert.is((await execute("c", "refund.create")).status, 200);
  assert.is((await execute("c", "refund.create", { other: 1 })).status, 422);
  await made(`/v1/agents/${agent.id}/suspend`, { reason: "looping" });
  assert.is((await execute("d", "refund.create")).status, 403);
  for (const code of ["unknown-action", "out-of-scope", "idempotency-key-reused", "agent-suspended"]) {
    const record = await refusalOf(code, "POST /v1/execute", agent.id);
    assert.equal(record.actor, { kind: "agent", id: agent.id, name: "helper" });
    assert.equal(clientIn(record), { ip: "127.0.0.1", user_agent: "attacker/1" });
  }
});

test("a vote with a wrong digest is a record of the approval", async () => {
  const policy = await made("/v1/policies", { name: "all", approval: { when: "true", expires_after_s: 3_600 } });
  const source = await hookSource(client, { policy_id: policy.id });
  const held = await source.send("1", { amount: 1 });
  const id = String(held.body.approval_id);
  const vote = await client.session("POST", `/v1/approvals/${id}/approve`, { digest: "0".repeat(64) });
  assert.is(vote.body.code, "digest-mismatch");
  const record = await refusalOf("digest-mismatch", "POST /v1/approvals/{id}/approve", id);
  assert.is(record.subject, id);
  assert.is(record.actor.kind, "member");
});

test("a refused replay is a record of the event, and a dry run one of its caller", async () => {
  const endpoint = await made("/v1/endpoints", { name: "app", url: target.url });
  const source = await hookSource(client, { endpoint_id: endpoint.id });
  const { body } = await source.send("2");
  const id = String(body.event_id);
  await until("it is delivered", () => target.counts().has(id));
  await until("that is recorded", async () => (await service.log.last(`delivery-${id}`))?.type === "EventDelivered");
  assert.is((await client.call("POST", `/v1/events/${id}/replay`, {})).body.code, "already-delivered");
  const refused = await refusalOf("already-delivered", "POST /v1/events/{id}/replay", id);
  assert.is(refused.actor.kind, "key");
  const filter = { status: "failed" };
  const dry = await client.call("POST", "/v1/replays", { filter, dry_run: true });
  assert.is(dry.status, 200);
  const tried = await recordOf(service, client, "the dry run", ({ type }) => type === "ReplayTried");
  assert.equal([tried.actor.kind, tried.data.filter, tried.data.events], ["key", filter, dry.body.count]);
});

test("reading an unredacted payload is a record of the event, reading a redacted one is not", async () => {
  const policy = await made("/v1/policies", { name: "cards", redact: ["card"] });
  const source = await hookSource(client, { policy_id: policy.id });
  const { body } = await source.send("3", { card: "4242" });
  const id = String(body.event_id);
  const viewer = await made("/v1/api-keys", { name: "reader", role: "viewer" });
  const read = (key: string) =>
    until("the event is shown", async () => {
      const answer = await fetch(`${service.url}/v1/events/${id}/payload`, {
        headers: { authorization: `Bearer ${key}` },
      });
      return answer.status === 200 ? answer.text() : null;
    });
  assert.not.match(await read(viewer.key), /4242/);
  assert.match(await read(client.key), /4242/);
  const record = await recordOf(service, client, "the reading", ({ type }) => type === "PayloadRead");
  assert.equal([record.subject, record.data.subject, record.data.count], [id, id, 1]);
  assert.is.not(record.actor.id, viewer.id);
});

test("a held request that an admin reads with what the policy hides from others is a record of the approval", async () => {
  const approval = { when: "true", expires_after_s: 3_600 };
  const policy = await made("/v1/policies", { name: "cards", redact: ["card"], approval });
  const source = await hookSource(client, { policy_id: policy.id });
  const { body } = await source.send("4", { card: "4242" });
  const id = String(body.approval_id);
  const shown = await client.session("GET", `/v1/approvals/${id}`);
  assert.equal(shown.body.payload, { card: "4242" });
  const isIt = ({ type, data }: { type: string; data: { subject?: string } }) =>
    type === "PayloadRead" && data.subject === id;
  const record = await recordOf(service, client, "the reading", isIt);
  assert.equal([record.subject, record.actor.kind], [id, "member"]);
});

test("an admin's view of a field that only a second policy hides is a record, also after a vote", async () => {
  const approval = { when: "true", expires_after_s: 3_600 };
  const [own, floor] = [
    await made("/v1/policies", { name: "asks", approval }),
    await made("/v1/policies", { name: "hides", redact: ["card"] }),
  ];
  const endpoint = await made("/v1/endpoints", { name: "app", url: target.url, policy_id: floor.id });
  const source = await hookSource(client, { policy_id: own.id, endpoint_id: endpoint.id });
  const held = async (delivery: string): Promise<Reply["body"]> => (await source.send(delivery, { card: "4242" })).body;
  const isRecorded = (id: string) =>
    recordOf(
      service,
      client,
      `the reading of ${id}`,
      ({ type, data }: { type: string; data: { subject?: string } }) => type === "PayloadRead" && data.subject === id,
    );
  const [shown, revealed, decided] = [await held("s-1"), await held("s-2"), await held("s-3")];
  const { body } = await client.session("GET", `/v1/approvals/${shown.approval_id}`);
  assert.equal(body.payload, { card: "4242" });
  await made(`/v1/approvals/${revealed.approval_id}/reveal`, undefined);
  const viewer = await made("/v1/api-keys", { name: "reader", role: "viewer" });
  const { digest } = await until("it is asked for", async () => {
    const headers = { authorization: `Bearer ${viewer.key}` };
    const answer = await fetch(`${service.url}/v1/approvals/${decided.approval_id}`, { headers });
    return answer.status === 200 ? ((await answer.json()) as { readonly digest: string }) : null;
  });
  await made(`/v1/approvals/${decided.approval_id}/reject`, { digest, comment: "no" });
  await until("the event is shown", async () => {
    const { status } = await client.session("GET", `/v1/events/${shown.event_id}`);
    return status === 200 ? true : null;
  });
  for (const id of [shown.approval_id, revealed.approval_id, decided.approval_id, shown.event_id]) {
    const record = await isRecorded(String(id));
    assert.equal([record.subject, record.actor.kind], [id, "member"]);
  }
});

test("a test of an endpoint is recorded before its signed request leaves", async () => {
  const endpoint = await made("/v1/endpoints", { name: "app", url: target.url });
  const seen = new Promise<string | undefined>((resolve) =>
    target.answer((_arrival, response) => {
      service.log.last(`calls-${endpoint.id}`).then((last) => resolve(last?.type));
      response.end("{}");
    }),
  );
  assert.is((await client.call("POST", `/v1/endpoints/${endpoint.id}/test`)).status, 200);
  assert.is(await seen, "EndpointTestSent");
  const record = await recordOf(service, client, "the test", ({ type }) => type === "EndpointTestSent");
  assert.equal([record.subject, record.data.url, record.actor.kind], [endpoint.id, target.url, "key"]);
  assert.is(record.data.webhook_id, target.arrivals.at(-1)?.id);
  assert.ok(clientIn(record));
});

test("a checkout and a portal link are records", async () => {
  const checkout = await made("/v1/billing/checkout/start", { plan: "core" });
  await made("/v1/billing/portal", {});
  for (const [page, plan] of [
    ["checkout", "core"],
    ["portal", null],
  ]) {
    const link = await recordOf(
      service,
      client,
      `the ${page} link`,
      ({ type, data }) => type === "BillingLinkMade" && data.page === page,
    );
    assert.equal([link.data.plan, link.actor.kind], [plan, "member"]);
    assert.ok(clientIn(link));
    assert.not.match(JSON.stringify(link), new RegExp(String(checkout.checkout_url).split("/").at(-1) ?? ""));
  }
});

test("a form of a billing page that another site's page sends is a record of the link's account", async () => {
  const { checkout_url } = await made("/v1/billing/checkout/start", { plan: "core" });
  const { pathname } = new URL(String(checkout_url));
  assert.is((await post(`${pathname}/confirm`, {}, { origin: "https://evil.example" })).status, 403);
  const record = await refusalOf("cross-site", "POST /billing/checkout", client.account);
  assert.equal(clientIn(record), { ip: "127.0.0.1", user_agent: "attacker/1" });
});

test("a forged billing link is counted for the installation", async () => {
  // A service without an earlier count: a further one is written when its minute is over.
  const fresh = await startService();
  const owner = await signUp(fresh.url);
  const portal = await owner.session("POST", "/v1/billing/portal", {});
  const forged = String(portal.body.portal_url).replace(/.$/, (last) => (last === "A" ? "B" : "A"));
  assert.is((await fetch(new URL(new URL(forged).pathname, fresh.url))).status, 404);
  const counted = await until("it is counted", async () => fresh.log.last("calls-installation"));
  assert.equal(counted.data.counts, { "billing-link": 1 });
  await fresh.stop();
});

test("a webhook to a paused source is a record of the source, without a credential and with the sender's address", async () => {
  const source = await hookSource(client, {});
  const { id } = source;
  assert.is((await client.call("PATCH", `/v1/sources/${id}`, { status: "paused" })).status, 200);
  const [path = ""] = [new URL(source.url).pathname];
  const answer = await post(path, { amount: 1 });
  assert.is(answer.status, 409);
  const record = await refusalOf("source-paused", "POST /v1/webhooks/{provider}/{source_id}", id);
  assert.equal([record.actor, record.data.target], [{ kind: "system", id: "public", name: null }, id]);
  assert.equal(clientIn(record), { ip: "127.0.0.1", user_agent: "attacker/1" });
});

test("a one-time link that opens nothing is a record of the member it names, or counted for the installation", async () => {
  const { body } = await client.session("GET", "/v1/auth/me");
  const invited = await made("/v1/members/invitations", { email: "late@a.example", role: "viewer" });
  const token = new URL(invited.invitation_url).hash.slice(1);
  const accept = (token: string) => post("/v1/auth/invitations/accept", { token, password: PASSWORD });
  assert.is((await accept(token)).status, 200);
  assert.is((await accept(token)).status, 404);
  const used = await refusalOf("not-found", "POST /v1/auth/invitations/accept", invited.id);
  assert.equal(used.actor, { kind: "system", id: "public", name: null });
  assert.equal(clientIn(used), { ip: "127.0.0.1", user_agent: "attacker/1" });
  // The account's id is all that is right in this one.
  const foreign = `${"A".repeat(43)}.${body.account.id}.mem_${"a".repeat(32)}`;
  assert.is((await post("/v1/auth/reset", { token: foreign, password: PASSWORD })).status, 404);
  await refusalOf("not-found", "POST /v1/auth/reset", body.account.id);
  const fresh = await startService();
  const nobodys = `${"A".repeat(43)}.acc_${"a".repeat(32)}.mem_${"a".repeat(32)}`;
  for (const [path, more] of [
    ["reset", { token: nobodys }],
    ["start", { token: "A".repeat(43), email: "x@a.example", account_name: "x" }],
  ] as const) {
    const gone = await fetch(`${fresh.url}/v1/auth/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ password: PASSWORD, ...more }),
    });
    assert.is(gone.status, 404);
  }
  await fresh.stop();
  const counted = (await fresh.log.readAll(null, 100)).filter(({ stream }) => stream === "calls-installation");
  assert.is(
    counted.reduce((sum, { data }) => sum + Number((data.counts as Record<string, number>)["not-found"] ?? 0), 0),
    2,
  );
});

test("a sign-up with the address of a member is a record of that member", async () => {
  const { body } = await client.session("GET", "/v1/auth/me");
  const { email, id } = body.member;
  assert.is((await post("/v1/auth/signup", { email, password: PASSWORD })).status, 409);
  const record = await refusalOf("email-taken", "POST /v1/auth/signup", id);
  assert.is(record.actor.kind, "system");
});

test("a guess of METRICS_TOKEN is counted for the installation", async () => {
  const fresh = await startService({ METRICS_TOKEN: "the-token-of-the-scraper" });
  // From this machine no token is needed, unless a proxy forwards the call.
  const headers = { authorization: "Bearer a-guess", "x-forwarded-for": "192.0.2.1" };
  assert.is((await fetch(`${fresh.url}/metrics`, { headers })).status, 401);
  const counted = await until("it is counted", async () => fresh.log.last("calls-installation"));
  assert.equal(counted.data.counts, { unauthenticated: 1 });
  await fresh.stop();
});

test("a source over the plan is a record", async () => {
  const free = await startService();
  const owner = await signUp(free.url);
  const source = { name: "shop", type: "hmac" };
  const statuses = [1, 2].map(() => () => owner.session("POST", "/v1/sources", source));
  const answers: number[] = [];
  for (const each of statuses) answers.push((await each()).status);
  assert.equal(answers, [201, 403]);
  const record = await recordOf(free, owner, "the refusal", ({ data }) => data.problem === "plan-limit");
  assert.equal([record.data.route, record.actor.kind], ["POST /v1/sources", "member"]);
  await free.stop();
});

test.run();
