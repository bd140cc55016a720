import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { ATTEMPT_LIMITS } from "../../../../src/http/rate-limit.ts";
import { accountsWorld, PASSWORD } from "../../../support/accounts-world.ts";
import { callOf } from "../../../support/call.ts";
import { failingLog } from "../../../support/failing-log.ts";
import { testApp } from "../../../support/http-app.ts";

const test = suite("closed sign-up and the first account");

const closed = () => {
  const it = accountsWorld({ signup: "closed" });
  const start = (token: string, email = "ana@shop.example", more: object = {}, node = it.another()) =>
    node.call("POST", "/v1/auth/start", { body: { token, email, password: PASSWORD, account_name: "Shop", ...more } });
  const link = async (): Promise<string> => {
    const token = await it.startLinks.make();
    assert.ok(token !== null);
    return token;
  };
  return { ...it, start, link };
};

test("a closed sign-up is answered alike for every address, and leaves nothing", async () => {
  const { routes, log, start, link, types } = closed();
  await start(await link());
  const before = await types();
  const app = await testApp(routes, { log });
  const answers = await Promise.all(
    ["ana@shop.example", "nobody@shop.example", "no address"].map(async (email) => {
      const payload = { email, password: PASSWORD };
      const { statusCode, body } = await app.inject({ method: "POST", url: "/v1/auth/signup", payload });
      const { trace_id: _, ...said } = JSON.parse(body);
      return { statusCode, ...said };
    }),
  );
  assert.equal([answers[0]?.statusCode, answers[0]?.code], [403, "signup-closed"]);
  for (const answer of answers) assert.equal(answer, answers[0]);
  assert.equal(await types(), before);
  await app.close();
});

test("the link of the first start makes the first account and its owner, once", async () => {
  const { start, link, cookieOf, memberBy, logIn, startLinks, types } = closed();
  const token = await link();
  assert.is((await start(token, "ana@shop.example", { password: "short" })).outcome, "weak-password");
  assert.is((await start(token, "ana")).outcome, "invalid-request");
  const emails = ["ana@shop.example", "bo@shop.example", "cy@shop.example"];
  const clicks = await Promise.all(emails.map((email) => start(token, email)));
  assert.equal(clicks.map(({ outcome }) => outcome).sort(), [200, "not-found", "not-found"]);
  const [made] = clicks.filter(({ outcome }) => outcome === 200);
  assert.ok(made !== undefined);
  const principal = await memberBy(cookieOf(made));
  assert.ok(principal.kind === "member" && principal.role === "owner");
  assert.equal((made.body.account as { name: string }).name, "Shop");
  assert.is((await logIn((made.body.member as { email: string }).email)).outcome, 200);
  assert.is((await types()).filter((type) => type === "AccountOpened").length, 1);
  assert.is((await start(token)).outcome, "not-found");
  assert.is(await startLinks.make(), null, "a later start prints none");
});

test("a link of an earlier start works as well, until one was used, it has expired, or there is an account", async () => {
  const { start, link, call } = closed();
  const [first, second] = [await link(), await link()];
  const late = { ...callOf({}).envelope, at: "2026-03-02T12:00:00.000Z" };
  const person = { token: first, email: "ana@shop.example", password: PASSWORD, account_name: "Shop" };
  assert.is((await call("POST", "/v1/auth/start", { body: person, envelope: late })).outcome, "not-found");
  for (const wrong of ["", "x", "A".repeat(43), `${first}.`]) assert.is((await start(wrong)).outcome, "not-found");
  assert.is((await start(first, "bo@shop.example")).outcome, 200);
  for (const token of [first, second]) assert.is((await start(token)).outcome, "not-found");

  const other = accountsWorld();
  const token = await other.startLinks.make();
  await other.signUp("ana@shop.example");
  const body = { token, email: "bo@shop.example", password: PASSWORD };
  assert.is((await other.call("POST", "/v1/auth/start", { body })).outcome, "not-found");
});

test("a start that is cut off after its link was used is made up for by the next one", async () => {
  const broken = { isBroken: true };
  const log = failingLog(memoryEventLog(), (stream) => broken.isBroken && stream.startsWith("email-"));
  const it = accountsWorld({ signup: "closed", log });
  const start = async () => {
    const body = {
      token: await it.startLinks.make(),
      email: "ana@shop.example",
      password: PASSWORD,
      account_name: "Shop",
    };
    return { body, called: () => it.call("POST", "/v1/auth/start", { body }) };
  };
  const first = await start();
  await first.called().then(
    () => assert.unreachable(),
    (error) => assert.is(error.name, "LogUnavailable"),
  );
  broken.isBroken = false;
  assert.is((await first.called()).outcome, "not-found");
  assert.is((await (await start()).called()).outcome, 200);
});

test("links that open nothing are counted with the failed logins of their network", async () => {
  const { start, link, call, routes } = closed();
  const body = { token: `${"A".repeat(43)}.acc_${"a".repeat(32)}.mem_${"a".repeat(32)}`, password: PASSWORD };
  const token = await link();
  const guess = (path: string, more: object = {}) => call("POST", path, { body: { ...body, ...more } });
  for (let i = 0; i < ATTEMPT_LIMITS["failed-login-ip"].limit; i += 2) {
    assert.is((await guess("/v1/auth/reset")).outcome, "not-found");
    assert.is((await guess("/v1/auth/invitations/accept")).outcome, "not-found");
  }
  for (const path of ["/v1/auth/reset", "/v1/auth/invitations/accept", "/v1/auth/start"])
    assert.is((await guess(path)).outcome, "rate-limited");
  // Nobody is looked up for a refusal that has no limit itself.
  const accept = routes.find(({ path }) => path === "/v1/auth/invitations/accept");
  const refused = await accept?.handle(callOf({ body }));
  assert.equal(refused && "problem" in refused && [refused.problem, refused.about], ["rate-limited", undefined]);
  const body200 = { token, email: "ana@shop.example", password: PASSWORD, account_name: "Shop" };
  assert.is((await call("POST", "/v1/auth/start", { body: body200, ip: "198.51.100.7" })).outcome, 200);
  assert.is((await start(token)).outcome, "not-found");
});

test("the log has the link's HMAC alone", async () => {
  const { link, log } = closed();
  const token = await link();
  assert.not.ok(JSON.stringify(await log.readAll(null, 10)).includes(token));
});

test.run();
