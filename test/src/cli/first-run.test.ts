import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { countersign } from "../../support/command-line.ts";
import { removeFolder, temporaryFolder, until } from "../../support/program.ts";
import { type RunningCommand, runningCommand } from "../../support/running-command.ts";

const test = suite("countersign serve --first-run");

let dir: string;
test.before(() => {
  dir = temporaryFolder();
});
test.after(() => removeFolder(dir));

const envOf = () => ({ LOG_LEVEL: "warn", XDG_CONFIG_HOME: join(dir, "config") });

const serve = (port: string, data = "data"): RunningCommand =>
  runningCommand(["serve", "--first-run", "--port", port, "--data-dir", join(dir, data)], envOf());

const printed = (served: RunningCommand, what: RegExp): Promise<RegExpExecArray> =>
  until(String(what), () => what.exec(`${served.lines().join("\n")}\n${served.notes()}`));

test("makes the owner's link, a source and a profile, prints no key, and does nothing the second time", async () => {
  const first = serve("0");
  const [, link = ""] = await printed(first, /(http:\S+\/reset#\S+)/);
  const [, base = ""] = await printed(first, /The console: (http:\S+)\//);
  assert.is(new URL(link).origin, base, "a browser keeps one session for the link and the console");
  const path = join(dir, "config", "countersign", "profiles.json");
  assert.is(statSync(path).mode & 0o777, 0o600);
  const { key } = JSON.parse(readFileSync(path, "utf8")).profiles.local;
  assert.match(key, /^csk_/);
  assert.not(`${first.lines()}${first.notes()}`.includes("csk_"));

  // The key may be used at once, and so may the link, once.
  const sent = await countersign(["send", "--source", "shop", "payment_intent.succeeded"], { env: envOf() });
  assert.is(sent.status, 0, sent.stderr);
  const reset = () =>
    fetch(`${base}/v1/auth/reset`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token: new URL(link).hash.slice(1), password: "a long phrase of the owner" }),
    });
  const owner = await reset();
  assert.is(owner.status, 200);
  assert.is(((await owner.json()) as { member: { role: string } }).member.role, "owner");
  assert.is((await reset()).status, 404);
  assert.is(await first.stop("SIGTERM"), 0);

  const before = readFileSync(path, "utf8");
  const again = serve(new URL(base).port);
  await printed(again, /The first run was made already\. The command line's profile "local" is in place/);
  assert.is(await again.stop("SIGTERM"), 0);
  const elsewhere = serve("0");
  await printed(elsewhere, /A first run was made already: owner@localhost has an account/);
  assert.is(await elsewhere.stop("SIGTERM"), 0);
  assert.is(readFileSync(path, "utf8"), before);
});

test("another installation gets a profile of its own, and the first one's key stays and is used again", async () => {
  const path = join(dir, "config", "countersign", "profiles.json");
  const kept = () => JSON.parse(readFileSync(path, "utf8"));
  const { local } = kept().profiles;
  const other = serve("0", "other");
  const [, base = ""] = await printed(other, /The console: (http:\S+)\//);
  const name = `local-${new URL(base).port}`;
  await printed(other, new RegExp(`as the profile "${name}" in [^]*npx countersign profiles use local goes back`));
  assert.is(kept().current, name);
  assert.equal(kept().profiles.local, local);
  assert.is(kept().profiles[name].url, base.replace("localhost", "127.0.0.1"));
  const sent = await countersign(["send", "--source", "shop", "payment_intent.succeeded"], { env: envOf() });
  assert.is(sent.status, 0, sent.stderr);
  assert.is(await other.stop("SIGTERM"), 0);

  const third = serve(new URL(base).port, "third");
  await printed(third, new RegExp(`as the profile "${name}-2" in `));
  assert.is(await third.stop("SIGTERM"), 0);

  const first = serve(new URL(local.url).port);
  await printed(first, /The command line's profile "local" is in place, and is the current one\./);
  await printed(first, /send --source shop /);
  assert.is(kept().current, "local");
  const { data } = JSON.parse((await countersign(["sources", "list", "--json"], { env: envOf() })).stdout);
  assert.is((await countersign(["sources", "delete", data[0].id, "--yes"], { env: envOf() })).status, 0);
  assert.is(await first.stop("SIGTERM"), 0);
  const without = serve(new URL(local.url).port);
  await printed(without, /send --source <name> <event type>/);
  assert.is(await without.stop("SIGTERM"), 0);
});

test("is refused before the start where it could not be finished", async () => {
  const refused = async (env: Record<string, string>, what: RegExp, ...more: readonly string[]) => {
    const { status, stderr } = await countersign(["serve", "--first-run", "--port", "0", ...more], {
      env: { DATA_DIR: join(dir, "none"), ...env },
    });
    assert.is(status, 2);
    assert.match(stderr, what);
  };
  await refused({}, /set HOME or XDG_CONFIG_HOME/);
  await refused({ ...envOf(), PUBLIC_URL: "https://hooks.example.com" }, /--first-run needs open sign-up/);
  await refused(envOf(), /--email "nope" is no e-mail address/, "--email", "nope");
  assert.not(existsSync(join(dir, "none")));
  const { status } = await countersign(["serve", "--email", "a@example.com"]);
  assert.is(status, 2);
});

test.run();
