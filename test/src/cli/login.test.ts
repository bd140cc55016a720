import { chmodSync, readFileSync, statSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { keepProfile, profilesFile, removeProfile } from "../../../src/cli/profiles.ts";
import { type Client, signUp } from "../../support/client.ts";
import { removeFolder, temporaryFolder, until } from "../../support/program.ts";
import { ran, scriptedService, sendJson } from "../../support/scripted-service.ts";
import { startService } from "../../support/service-in-memory.ts";

const test = suite("countersign login, logout and whoami");

let dir: string;
let service: Awaited<ReturnType<typeof startService>>;
let ana: Client;
test.before(async () => {
  dir = temporaryFolder();
  service = await startService({ SIGNUP_PLAN: "scale" });
  ana = await signUp(service.url);
});
test.after(async () => {
  await service.stop();
  removeFolder(dir);
});

const envOf = (url = service.url) => ({ COUNTERSIGN_URL: url, XDG_CONFIG_HOME: dir });

/** Runs the login, and lets it in or refuses it as soon as its code is printed. */
const loggedIn = async (act: "approve" | "deny", ...args: string[]) => {
  const notes: string[] = [];
  const outs: string[] = [];
  const { run } = await import("../../../src/cli/run.ts");
  const status = await run(["login", ...args], envOf(), {
    out: (it) => void outs.push(String(it)),
    note(line) {
      notes.push(line);
      const user_code = /code (\S+)\./.exec(line)?.[1];
      if (user_code !== undefined) void ana.session("POST", `/v1/auth/device/${act}`, { user_code });
    },
  });
  return { status, out: outs.join("\n"), note: notes.join("\n") };
};

test("a person logs in, is somebody, and logs out; the session is in a private file and never printed", async () => {
  const done = await loggedIn("approve", "--profile", "mine");
  assert.is(done.status, 0, done.note);
  assert.match(done.note, /^Open http:\/\/\S+\/device#/m);
  assert.match(done.out, /^You are logged in as person-\S+@example\.com \(owner\) in /);
  const path = profilesFile(envOf()) ?? "";
  const { key } = JSON.parse(readFileSync(path, "utf8")).profiles.mine;
  assert.match(key, /^css_\w{36}$/);
  assert.is(statSync(path).mode & 0o077, 0);
  assert.not.ok(`${done.out}${done.note}`.includes(key));

  const who = await ran(["whoami"], envOf());
  assert.match(who.out, /^member +person-\S+ \(owner\)$/m);
  assert.is(JSON.parse((await ran(["whoami", "--json"], envOf())).out).member.role, "owner");
  const unused = await ana.session("POST", "/v1/api-keys", { name: "deploy" });
  const keys = await until("the list has the key", async () => {
    const listed = await ran(["keys", "list"], envOf());
    return listed.out.includes(unused.body.id) ? listed : null;
  });
  assert.is(keys.status, 0, "a person administers keys");
  assert.match(keys.out, /EXPIRES_AT +LAST_USED_AT$/m);
  assert.match(keys.out, new RegExp(`^${unused.body.id} +deploy .* - +-$`, "m"), "a key that was not used yet");
  const members = await ran(["members", "list"], envOf());
  assert.match(members.out, /STATE +LAST_SIGN_IN_AT$/m);
  assert.match(members.out, /^mem_\w+ +person-\S+ +owner +active +\d{4}-\d\d-\d\dT\S+Z$/m);
  const { body } = await ana.session("GET", "/v1/auth/sessions");
  const made = body.data.find(({ made_by }: { made_by: string }) => made_by === "command-line");
  assert.match(made.user_agent, "countersign-cli");

  keepProfile(envOf(), "local", { url: service.url, key: ana.key });
  keepProfile(envOf(), "mine", { url: service.url, key });
  const left = await ran(["logout"], envOf());
  assert.match(left.note, 'The current profile is "local".');
  assert.is((await ran(["sources", "list"], envOf())).status, 0);
  removeProfile(envOf(), "local");
  const again = await loggedIn("approve", "--profile", "mine");
  assert.is(again.status, 0, again.note);

  const out = await ran(["logout"], envOf());
  assert.is(out.status, 0, out.note);
  assert.equal(JSON.parse(readFileSync(path, "utf8")), { current: null, profiles: {} });
  const gone = await fetch(`${service.url}/v1/auth/me`, { headers: { authorization: `Bearer ${key}` } });
  assert.is(gone.status, 401);
  assert.is((await ran(["logout"], envOf())).note, "You are not logged in.");
  assert.is((await ran(["whoami"], envOf())).status, 2);
});

test("a refused login keeps nothing, and a key is nobody and cannot be logged out", async () => {
  const refused = await loggedIn("deny");
  assert.is(refused.status, 1);
  assert.match(refused.note, "refused");
  const env = { COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: ana.key };
  const who = await ran(["whoami"], env);
  assert.equal([who.status, who.out], [1, ""]);
  assert.match(who.note, "countersign login");
});

const sessionIn = (profile: string): string =>
  JSON.parse(readFileSync(profilesFile(envOf()) ?? "", "utf8")).profiles[profile].key;
const statusOf = async (key: string): Promise<number> =>
  (await fetch(`${service.url}/v1/auth/me`, { headers: { authorization: `Bearer ${key}` } })).status;

test("a login under the same profile ends the session that it replaces, and no other", async () => {
  assert.is((await loggedIn("approve", "--profile", "other")).status, 0);
  assert.is((await loggedIn("approve", "--profile", "again")).status, 0);
  const first = sessionIn("again");
  assert.is(await statusOf(first), 200);
  const second = await loggedIn("approve", "--profile", "again");
  assert.equal([second.status, /could not/.test(second.note)], [0, false]);
  assert.equal([await statusOf(first), await statusOf(sessionIn("again"))], [401, 200]);
  assert.is(await statusOf(sessionIn("other")), 200);
  const third = await loggedIn("approve", "--profile", "again");
  assert.is(third.status, 0, "the replaced session may have ended already");
});

test("a session that cannot be ended is a note with what to do, and the login stands", async () => {
  keepProfile(envOf(), "moved", { url: "http://127.0.0.1:9", key: `css_${"a".repeat(36)}` });
  const done = await loggedIn("approve", "--profile", "moved");
  assert.is(done.status, 0, done.note);
  assert.match(done.note, /could not be ended: .*\nEnd it in the settings of http:\/\/127\.0\.0\.1:9/);
  assert.is(await statusOf(sessionIn("moved")), 200);
});

test("a profile that cannot be kept is refused before the service is asked for a code", async () => {
  const scripted = await scriptedService();
  const env = envOf(scripted.url);
  assert.is((await ran(["login", "--profile", "with a blank"], env)).status, 2);
  assert.is((await ran(["login"], { COUNTERSIGN_URL: scripted.url })).status, 2);
  const path = profilesFile(env) ?? "";
  chmodSync(path, 0o644);
  const open = await ran(["login"], env);
  chmodSync(path, 0o600);
  assert.equal([open.status, /chmod 600/.test(open.note)], [1, true]);
  assert.equal(scripted.asked, []);
  scripted.close();
});

test("a call that cannot work says what to do", async () => {
  assert.is((await ran(["login", "now"], envOf())).status, 2);
  assert.is((await ran(["login"], { COUNTERSIGN_URL: service.url })).status, 2);
  assert.is((await ran(["login", "--url", "ftp://x"], envOf())).status, 2);
  const away = await ran(["login"], envOf("http://127.0.0.1:9"));
  assert.equal([away.status, /cannot be reached/.test(away.note)], [1, true]);
});

const DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const APPROVAL = {
  ...{ id: "apr_a", status: "pending", title: "Refund €120.00", summary: "refund.create", digest: DIGEST },
  ...{ shown_digest: "5f", requested_at: "2026-03-01T12:00:00Z", expires_at: null, cost_eur: 120 },
  ...{ reasons: ["The cost is above 100 EUR"], min_approvals: 1, votes: [], payload: { amount: 120 } },
};

test("a decision shows the digest, asks on a terminal, and sends both digests", async () => {
  const scripted = await scriptedService();
  const env = { COUNTERSIGN_URL: scripted.url, COUNTERSIGN_API_KEY: "css_session" };
  scripted.answer(({ method }, response) =>
    sendJson(response, 200, method === "GET" ? APPROVAL : { ...APPROVAL, status: "consumed" }),
  );
  const shown = await ran(["approvals", "show", "apr_a"], env);
  assert.match(shown.out, DIGEST);
  assert.match(shown.out, "Refund €120.00");
  assert.match(shown.out, /^reasons +The cost is above 100 EUR$/m);
  scripted.answer((_, response) =>
    sendJson(response, 200, { ...APPROVAL, change: { before: 2, after: 1 }, hidden: ["/a"] }),
  );
  const change = await ran(["approvals", "show", "apr_a"], env);
  for (const what of ['"before":2', '"after":1', "/a"])
    assert.ok(change.out.replaceAll(/\s/g, "").includes(what), what);
  scripted.answer(({ method }, response) =>
    sendJson(response, 200, method === "GET" ? APPROVAL : { ...APPROVAL, status: "consumed" }),
  );
  const person = (yes: boolean) => ({ screen: { columns: 80, draw: () => undefined, ask: async () => yes } });
  const no = await ran(["approvals", "approve", "apr_a"], env, person(false));
  assert.match(no.note, "Nothing was decided.");
  assert.is(no.status, 1);
  assert.match(no.note, DIGEST);
  const decided = () => scripted.asked.filter(({ call }) => call.startsWith("POST"));
  assert.is(decided().length, 0);
  const yes = await ran(["approvals", "approve", "apr_a"], env, person(true));
  assert.is(yes.out, "apr_a is consumed");
  assert.equal(JSON.parse(decided()[0]?.body ?? ""), { digest: DIGEST, shown_digest: "5f" });
  assert.is(decided()[0]?.headers.authorization, "Bearer css_session");

  const script = await ran(["approvals", "approve", "apr_a"], env);
  assert.equal([script.status, /--digest/.test(script.note)], [2, true]);
  const other = await ran(["approvals", "approve", "apr_a", "--digest", "0".repeat(64)], env);
  assert.equal([other.status, /another digest/.test(other.note)], [1, true]);
  assert.not.match(other.note, DIGEST, "a script could send it back unread");
  const silent = await ran(["approvals", "reject", "apr_a", "--digest", DIGEST], env);
  assert.is(silent.status, 2);
  const rejected = await ran(["approvals", "reject", "apr_a", "--digest", DIGEST, "--comment", "wrong"], env);
  assert.is(rejected.status, 0, rejected.note);
  assert.equal(decided().at(-1)?.call, "POST /v1/approvals/apr_a/reject");
  // Nobody was shown a form by this call, so it names none.
  assert.equal(JSON.parse(decided().at(-1)?.body ?? ""), { digest: DIGEST, comment: "wrong" });
  assert.is((await ran(["approvals", "approve", "evt_a"], env)).status, 2);
  scripted.close();
});

test.run();
