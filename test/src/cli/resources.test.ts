import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { COMMANDS } from "../../../src/cli/commands.ts";
import { RESOURCES } from "../../../src/cli/resources.ts";
import { type Client, signUp } from "../../support/client.ts";
import { removeFolder, temporaryFolder, until } from "../../support/program.ts";
import { ran, scriptedService, sendJson } from "../../support/scripted-service.ts";
import { startService } from "../../support/service-in-memory.ts";

const test = suite("resource commands");

let dir: string;
let service: Awaited<ReturnType<typeof startService>>;
let client: Client;
test.before(async () => {
  dir = temporaryFolder();
  service = await startService({ SIGNUP_PLAN: "scale" });
  client = await signUp(service.url);
});
test.after(async () => {
  await service.stop();
  removeFolder(dir);
});

const envOf = () => ({ COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: client.key });
const call = (...args: string[]) => ran(args, envOf());
const file = (body: unknown): string => {
  const path = join(dir, "body.json");
  writeFileSync(path, JSON.stringify(body));
  return path;
};
const listed = (name: string, id: string) =>
  until(`${id} is listed`, async () => (await call(name, "list")).out.includes(id));

test("a source is made from a file, listed, shown, changed and removed", async () => {
  const made = await call("sources", "create", "--file", file({ name: "shop", type: "stripe" }));
  assert.is(made.status, 0, made.note);
  const [, id = ""] = /^id +(src_\w+)$/m.exec(made.out) ?? [];
  assert.match(made.out, /^secret +whsec_|^secret +\S{16,}/m);
  assert.match(made.note, "secret is shown this once");
  await listed("sources", id);
  const list = await call("sources", "list");
  assert.match(list.out, /^ID +NAME +TYPE +STATUS/);
  assert.match(list.out, new RegExp(`^${id} +shop +stripe +active`, "m"));
  assert.match((await call("sources", "show", id)).out, /^ingest_url +http/m);
  const changed = await call("sources", "update", id, "--file", file({ status: "paused" }), "--json");
  assert.is(JSON.parse(changed.out).status, "paused");
  const asked: string[] = [];
  const person = (yes: boolean) => ({
    screen: { columns: 80, draw: () => undefined, ask: async (it: string) => asked.push(it) > 0 && yes },
  });
  const kept = await ran(["sources", "delete", id], envOf(), person(false));
  assert.equal([kept.status, kept.note], [1, "Nothing was removed."]);
  const script = await ran(["sources", "delete", id], envOf());
  assert.equal([script.status, /sources delete needs --yes/.test(script.note)], [2, true]);
  assert.is((await call("sources", "show", id)).status, 0, "nobody said that it is meant");
  const gone = await ran(["sources", "delete", id], envOf(), person(true));
  assert.equal([gone.out, gone.note], ["", `${id} is removed`]);
  assert.equal(asked, [`Remove the source ${id}?`, `Remove the source ${id}?`]);
  const missing = await call("sources", "show", id);
  assert.is(missing.status, 1);
});

test("what has a name is shown, changed, removed and filtered by it as well as by its id", async () => {
  for (const name of ["by-name", "twice", "twice"])
    assert.is((await call("sources", "create", "--file", file({ name, type: "stripe" }))).status, 0);
  await until("all are listed", async () => (await call("sources", "list")).out.match(/twice/g)?.length === 2);
  const shown = JSON.parse((await call("sources", "show", "by-name", "--json")).out);
  assert.is(shown.name, "by-name");
  const paused = await call("sources", "update", "by-name", "--file", file({ status: "paused" }), "--json");
  assert.equal([JSON.parse(paused.out).id, JSON.parse(paused.out).status], [shown.id, "paused"]);
  const unknown = await call("sources", "show", "by-nam");
  assert.equal([unknown.status, /There is no source "by-nam"\. Did you mean "?by-name/.test(unknown.note)], [1, true]);
  assert.match(
    (await call("sources", "show", "twice")).note,
    /Several sources are called "twice": use one of the ids src_/,
  );
  assert.is((await call("events", "list", "--source", "by-name", "--json")).status, 0);
  assert.match((await call("events", "tail", "--source", "by-nam")).note, 'There is no source "by-nam".');
  const gone = await call("sources", "delete", "by-name", "--yes");
  assert.equal([gone.status, gone.note], [0, `${shown.id} is removed`]);
});

test("an action has a name for an id, and an agent's key is shown where it is made alone", async () => {
  const { id: endpoint_id } = await client.make("/v1/endpoints", { name: "app", url: "http://127.0.0.1:9/" });
  const body = file({ endpoint_id, reversibility: "irreversible" });
  assert.is((await call("actions", "update", "refund.create", "--file", body)).status, 0);
  const shown = JSON.parse((await call("actions", "show", "refund.create", "--json")).out);
  assert.is(shown.endpoint_id, endpoint_id);
  const agent = { name: "support", scope: { actions: ["refund.*"] } };
  const made = JSON.parse((await call("agents", "create", "--file", file(agent), "--json")).out);
  assert.match(made.key, /^csa_/);
  await listed("agents", made.id);
  for (const args of [["list"], ["show", made.id], ["list", "--json"]])
    assert.not.match((await call("agents", ...args)).out, made.key);
});

test("every list of the API is read, and every command has a row and help", async () => {
  for (const { name, acts, rights } of RESOURCES) {
    for (const act of acts) {
      const help = await ran([name, act, "--help"]);
      assert.equal([help.status, help.note], [0, ""], `${name} ${act}`);
      assert.ok(COMMANDS.some((it) => it.name === `${name} ${act}`));
    }
    const list = await call(name, "list", "--json");
    // Members and keys are for people with a session, and the service says so.
    if (rights !== undefined) assert.match(list.note, "This call needs a session.");
    else assert.ok(Array.isArray(JSON.parse(list.out).data), `${name}: ${list.note}`);
  }
});

test("--all reads page after page, without it the next page is named", async () => {
  const scripted = await scriptedService();
  scripted.answer(({ url = "" }, response) => {
    const cursor = new URL(url, "http://localhost").searchParams.get("cursor");
    const next = cursor === null ? "two" : null;
    sendJson(response, 200, { data: [{ id: cursor ?? "one", health: { state: "open" } }], next_cursor: next });
  });
  const env = { COUNTERSIGN_URL: scripted.url, COUNTERSIGN_API_KEY: "csk_key" };
  const first = await ran(["endpoints", "list"], env);
  assert.match(first.out, /^one +- +open +-$/m);
  assert.match(first.note, "--cursor two");
  const all = await ran(["endpoints", "list", "--all", "--json"], env);
  assert.equal(
    all.out.split("\n").map((line) => JSON.parse(line).data[0].id),
    ["one", "two"],
  );
  assert.match(scripted.asked.at(-1)?.call ?? "", "limit=100");
  await ran(["events", "list", "--status", "failed", "--source", "src_a", "--from", "2026-03-01T00:00:00Z"], env);
  const query = new URLSearchParams(scripted.asked.at(-1)?.call.split("?")[1]);
  assert.equal([query.get("status"), query.get("source_id")], ["failed", "src_a"]);
  assert.is(query.get("from"), "2026-03-01T00:00:00.000Z");
  scripted.close();
});

test("an approval without a title is listed with its summary and its cost", async () => {
  const scripted = await scriptedService();
  const row = { id: "apr_a", status: "pending", expires_at: null };
  const data = [
    { ...row, title: "Refund €120.00", summary: "refund.create", cost_eur: 120 },
    { ...row, title: null, summary: "mail.send to jo", cost_eur: null },
  ];
  scripted.answer((_, response) => sendJson(response, 200, { data, next_cursor: null }));
  const env = { COUNTERSIGN_URL: scripted.url, COUNTERSIGN_API_KEY: "csk_key" };
  const { out } = await ran(["approvals", "list"], env);
  assert.match(out, /^ID +STATUS +EXPIRES_AT +COST_EUR +TITLE$/m);
  assert.match(out, /^apr_a +pending +- +120 +Refund €120\.00$/m);
  assert.match(out, /^apr_a +pending +- +- +mail\.send to jo$/m);
  scripted.close();
});

test("what a problem's detail says already is not said again", async () => {
  const scripted = await scriptedService();
  const errors = [
    { path: "/url", message: "is required" },
    { path: "/name", message: "is too long" },
  ];
  scripted.answer((_, response) => sendJson(response, 400, { detail: "In the body: /url is required.", errors }));
  const env = { COUNTERSIGN_URL: scripted.url, COUNTERSIGN_API_KEY: "csk_key" };
  const refused = await ran(["endpoints", "create", "--file", file({})], env);
  assert.is(refused.note, "In the body: /url is required; /name is too long.");
  scripted.close();
});

test("a change that waits for people names its approval", async () => {
  const scripted = await scriptedService();
  scripted.answer((_, response) =>
    sendJson(response, 202, { status: "held", approval_id: "apr_a", change_id: "chg_a" }),
  );
  const env = { COUNTERSIGN_URL: scripted.url, COUNTERSIGN_API_KEY: "csk_key" };
  const held = await ran(["policies", "update", "pol_a", "--file", file({ name: "rules" })], env);
  assert.is(held.status, 0);
  assert.match(held.note, "apr_a");
  assert.is(scripted.asked[0]?.call, "PUT /v1/policies/pol_a");
  scripted.close();
});

test("a wrong call and a refused body say what to change", async () => {
  for (const args of [
    ["sources", "show"],
    ["sources", "show", "a", "b"],
    ["sources", "create"],
    ["sources", "create", "shop"],
    ["sources", "list", "shop"],
    ["sources", "list", "--limit", "0"],
    ["sources", "list", "--limit", "101"],
    ["sources", "update", "src_a"],
  ])
    assert.is((await call(...args)).status, 2, args.join(" "));
  const wrong = await call("sources", "create", "--file", file({ name: "shop", typ: "stripe" }));
  assert.is(wrong.status, 1);
  assert.match(wrong.note, "typ");
  const unreadable = await call("sources", "create", "--file", join(dir, "none.json"));
  assert.is(unreadable.status, 1);
  assert.match(unreadable.note, "none.json cannot be read: there is no such file.");
  assert.not.match(unreadable.note, "ENOENT");
  const folder = await call("sources", "create", "--file", dir);
  assert.match(folder.note, "it is a folder.");
});

test("what waits for a person is not listed for a key, which is told to log in", async () => {
  const refused = await call("approvals", "list", "--for", "me");
  assert.is(refused.status, 2);
  assert.match(refused.note, "--for me needs a person: countersign login.");
});

test.run();
