import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { keepProfile, profileOf, profilesFile, readProfiles, removeProfile } from "../../../src/cli/profiles.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";
import { ran, scriptedService, sendJson } from "../../support/scripted-service.ts";

const test = suite("profiles of the command line");

let dir: string;
test.before.each(() => {
  dir = temporaryFolder();
});
test.after.each(() => removeFolder(dir));

const KEY = "csk_of_the_profile";

test("a profile is in a file that only its owner can read, and the last one is the current one", () => {
  const env = { XDG_CONFIG_HOME: dir };
  const path = keepProfile(env, "one", { url: "http://localhost:1", key: "csk_one" });
  keepProfile(env, "two", { url: "http://localhost:2", key: "csk_two" });
  assert.is(path, join(dir, "countersign", "profiles.json"));
  assert.is(statSync(path).mode & 0o777, 0o600);
  assert.is(statSync(join(dir, "countersign")).mode & 0o777, 0o700);
  assert.equal(readdirSync(join(dir, "countersign")), ["profiles.json"]);
  assert.equal(profileOf(env, undefined)?.key, "csk_two");
  assert.equal(profileOf(env, "one")?.url, "http://localhost:1");
  assert.throws(() => profileOf(env, "three"), 'There is no profile "three". There are: one, two.');
  assert.throws(() => profileOf(env, "__proto__"), "There is no profile");
  assert.throws(() => keepProfile(env, "../three", { url: "", key: "" }), "A profile's name");
});

test("the folder is the one of XDG, else below HOME, else there is none", () => {
  assert.is(profilesFile({ HOME: "/home/jo" }), "/home/jo/.config/countersign/profiles.json");
  assert.is(
    profilesFile({ HOME: "/home/jo", XDG_CONFIG_HOME: "relative" }),
    "/home/jo/.config/countersign/profiles.json",
  );
  assert.is(profilesFile({}), null);
  assert.is(profileOf({}, undefined), null);
});

test("a file that others can read is refused, and a damaged one is not repeated", async () => {
  const env = { XDG_CONFIG_HOME: dir };
  const path = keepProfile(env, "one", { url: "http://localhost:1", key: KEY });
  chmodSync(path, 0o640);
  const open = await ran(["events", "tail"], env);
  assert.is(open.status, 1);
  assert.match(open.note, "Other users can read the keys");
  chmodSync(path, 0o600);
  for (const text of [`{"profiles": {"one": {"key": "${KEY}"`, `{"profiles": {"one": "${KEY}"}}`, "null", "[]"]) {
    writeFileSync(path, text);
    const damaged = await ran(["events", "tail"], env);
    assert.match(damaged.note, "is damaged", text);
    assert.not(damaged.note.includes(KEY));
  }
});

test("a profile is removed if that is meant, and the one before it becomes the current one", async () => {
  const env = { XDG_CONFIG_HOME: dir };
  for (const name of ["one", "two"]) keepProfile(env, name, { url: "http://localhost:1", key: KEY });
  const person = (yes: boolean) => ({ screen: { columns: 80, draw: () => undefined, ask: async () => yes } });
  const script = await ran(["profiles", "remove", "two"], env);
  assert.equal([script.status, /needs --yes/.test(script.note)], [2, true]);
  const kept = await ran(["profiles", "remove", "two"], env, person(false));
  assert.equal([kept.status, kept.note], [1, "Nothing was removed."]);
  const gone = await ran(["profiles", "remove", "two"], env, person(true));
  assert.equal([gone.status, gone.note], [0, 'The profile "two" is removed. The current one is "one".']);
  const last = await ran(["profiles", "remove", "one", "--yes"], env);
  assert.is(last.note, 'The profile "one" is removed. No profile is current.');
  assert.equal(readProfiles(env).profiles, {});
  const unknown = await ran(["profiles", "remove", "one", "--yes"], env);
  assert.equal([unknown.status, /There is no profile "one"/.test(unknown.note)], [2, true]);
});

test("a profile's key is sent to its own address only, and a given key to where it is told", async () => {
  const [own, other] = await Promise.all([scriptedService(), scriptedService()]);
  for (const service of [own, other])
    service.answer((_, response) => sendJson(response, 200, { data: [], next_cursor: null }));
  const env = { XDG_CONFIG_HOME: dir };
  keepProfile(env, "one", { url: own.url, key: KEY });
  const tail = (more: Record<string, string> = {}, ...args: readonly string[]) =>
    ran(["events", "tail", ...args], { ...env, ...more });
  assert.is((await tail()).status, 0);
  assert.is(own.asked.at(-1)?.headers.authorization, `Bearer ${KEY}`);
  assert.is((await tail({}, "--url", `${own.url}/`)).status, 0);
  for (const refused of [
    await tail({ COUNTERSIGN_URL: other.url }),
    await tail({}, "--url", other.url, "--profile", "one"),
  ]) {
    assert.is(refused.status, 2);
    assert.not(refused.note.includes(KEY));
  }
  assert.is(other.asked.length, 0);
  await tail({ COUNTERSIGN_API_KEY: "csk_given", COUNTERSIGN_URL: other.url });
  assert.is(other.asked.at(-1)?.headers.authorization, "Bearer csk_given");
  own.close();
  other.close();
});

test("a refused key is told by the place that it came from and the address that refused it", async () => {
  const service = await scriptedService();
  service.answer((_, response) => sendJson(response, 401, { detail: "The key is revoked." }));
  const env = { XDG_CONFIG_HOME: dir };
  keepProfile(env, "one", { url: service.url, key: KEY });
  const told = async (more: Record<string, string>, ...args: readonly string[]) => {
    const { status, note } = await ran(["sources", "list", ...args], { ...env, ...more });
    assert.is(status, 1);
    assert.not(note.includes("csk_"));
    return note;
  };
  const ending = `and was sent to ${service.url}.`;
  assert.match(await told({}), `The key is revoked. The key came from the profile "one" ${ending}`);
  const given = { COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: "csk_given" };
  assert.match(await told(given), `The key came from COUNTERSIGN_API_KEY ${ending}`);
  assert.match(await told(given, "--key", "csk_other"), `The key came from --key ${ending}`);
  service.close();
});

test("after the current profile is removed, the one before it or the only one that is left is current", () => {
  const env = { XDG_CONFIG_HOME: dir };
  const keep = (name: string) => keepProfile(env, name, { url: "http://localhost:1", key: KEY });
  for (const name of ["one", "two", "three"]) keep(name);
  assert.is(removeProfile(env, "three"), "two");
  assert.is(readProfiles(env).current, "two");
  keep("four");
  assert.is(removeProfile(env, "two"), "four", "the removed one was not current");
  assert.is(removeProfile(env, "four"), "one");
  assert.is(removeProfile(env, "one"), null);
  for (const name of ["one", "two", "three"]) keep(name);
  removeProfile(env, "two");
  keep("four");
  removeProfile(env, "three");
  assert.is(removeProfile(env, "four"), "one");
});

test("profiles are listed without their keys, and another one is made the current one", async () => {
  const env = { XDG_CONFIG_HOME: dir };
  assert.match((await ran(["profiles"], env)).note, "There are no profiles");
  assert.match((await ran(["profiles", "use", "one"], env)).note, 'There is no profile "one". There are none');
  keepProfile(env, "one", { url: "http://localhost:1", key: KEY });
  keepProfile(env, "two", { url: "http://localhost:2", key: "css_of_a_person" });
  const listed = await ran(["profiles"], env);
  assert.is(listed.out, "   one  key      http://localhost:1\n*  two  session  http://localhost:2");
  const used = await ran(["profiles", "use", "one"], env);
  assert.equal([used.status, used.note], [0, 'The current profile is "one".']);
  const asJson = await ran(["profiles", "--json"], env);
  assert.equal(JSON.parse(asJson.out)[0], { name: "one", current: true, kind: "key", url: "http://localhost:1" });
  const none = await ran(["profiles", "use", "tow"], env);
  assert.is(none.status, 2);
  assert.match(none.note, 'There is no profile "tow".');
  for (const args of [["two"], ["use"], ["use", "one", "two"]])
    assert.is((await ran(["profiles", ...args], env)).status, 2, args.join(" "));
});

test("a call without a current profile names the profiles that there are", async () => {
  const env = { XDG_CONFIG_HOME: dir };
  const path = keepProfile(env, "one", { url: "http://localhost:1", key: KEY });
  const profiles = { one: { url: "http://localhost:1", key: KEY } };
  writeFileSync(path, JSON.stringify({ current: null, profiles }));
  const refused = await ran(["sources", "list"], env);
  assert.is(refused.status, 2);
  assert.match(refused.note, "There are the profiles one: countersign profiles use <name>.");
});

test("a folder that is already there keeps its rights", () => {
  mkdirSync(join(dir, "countersign"), { mode: 0o755 });
  const path = keepProfile({ XDG_CONFIG_HOME: dir }, "one", { url: "http://localhost:1", key: KEY });
  assert.is(statSync(path).mode & 0o777, 0o600);
  assert.match(readFileSync(path, "utf8"), KEY);
});

test.run();
