import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { checkFirstEventBar } from "../support/first-event-bar.ts";
import { removeFolder, temporaryFolder, until } from "../support/program.ts";
import { receiver } from "../support/receiver.ts";
import { testWhere } from "../support/skipped.ts";

/** Types the README's four commands into an empty folder, as a stranger would. */
const test = suite("the first minutes");

const BLOCK = /^```sh four commands\n([\s\S]*?)^```\n/m;
const PORT = "3000";
const REGISTRY_MS = 20_000;

const isRegistryThere =
  spawnSync("npm", ["view", "lru-cache@11.5.3", "version"], { timeout: REGISTRY_MS }).status === 0;

const README = readFileSync("README.md", "utf8");
const commands = (BLOCK.exec(README)?.[1] ?? "")
  .trim()
  .split("\n")
  .map((line) => line.replace(/#.*$/, "").trim());

type Typed = { readonly child: ChildProcess; output(): string };

const started: ChildProcess[] = [];
const end = (child: ChildProcess, signal: NodeJS.Signals): void => {
  // npx runs the command in a process of its own, so the whole group that was started here is ended.
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, signal);
};
process.once("exit", () => {
  for (const child of started) end(child, "SIGKILL");
});

const type = (command: string, cwd: string, env: NodeJS.ProcessEnv): Typed => {
  const child = spawn("sh", ["-c", `exec ${command}`], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  started.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk));
  return { child, output: () => output };
};

const typed = async (command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> => {
  const { child, output } = type(command, cwd, env);
  await once(child, "close");
  assert.is(child.exitCode, 0, `${command}: ${output()}`);
  return output();
};

/** A stranger's machine has no servers. */
const SERVICE = ["COUNTERSIGN_URL", "COUNTERSIGN_API_KEY", "EVENTSTORE_URL", "MONGODB_URL", "KAFKA_BROKERS"];
const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !SERVICE.includes(name)));

/** What the first installation has downloaded is enough, and no package has to run a script. */
const installedWithoutScripts = async (dir: string, install: string, env: NodeJS.ProcessEnv): Promise<void> => {
  const folder = join(dir, "without-scripts");
  mkdirSync(folder);
  for (const name of readdirSync(dir).filter((it) => it.endsWith(".tgz")))
    copyFileSync(join(dir, name), join(folder, name));
  await typed(install.replace("npm install", "npm install --offline --ignore-scripts"), folder, env);
  const served = type("npx countersign serve", folder, env);
  await until("it listens", () => served.output().includes("listening on http"));
  end(served.child, "SIGTERM");
  await once(served.child, "close");
};

/** CI packs in a checkout that was never built, as a stranger does. Elsewhere the build that is there is packed. */
const packed = (dir: string): void => {
  let folder = ".";
  let scripts = "--ignore-scripts";
  if (process.env.CI !== undefined) {
    folder = join(dir, "checkout");
    scripts = "--ignore-scripts=false";
    assert.is(spawnSync("git", ["clone", "--quiet", ".", folder]).status, 0);
    symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  }
  assert.ok(README.includes("npm ci && npm pack --ignore-scripts=false"), "the README's command");
  const made = spawnSync("npm", ["pack", scripts, "--pack-destination", dir], { cwd: folder, encoding: "utf8" });
  assert.is(made.status, 0, made.stderr);
};

const stranger = async (dir: string): Promise<void> => {
  const [install = "", serve = "", listen = "", send = "", ...others] = commands;
  assert.equal(others, [], "the README has four commands");
  const folder = join(dir, "app");
  mkdirSync(folder);
  packed(dir);
  const tarball = readdirSync(dir).find((name) => name.endsWith(".tgz")) ?? "";
  copyFileSync(join(dir, tarball), join(folder, tarball));
  // What `npm ci` of this clone has downloaded is not downloaded again.
  const env = {
    ...environment(),
    npm_config_prefer_offline: "true",
    XDG_CONFIG_HOME: join(dir, "config"),
    PORT: "0",
    LOG_LEVEL: "warn",
  };
  const application = await receiver();
  const forward = listen.replace(PORT, new URL(application.url).port).replace("localhost", "127.0.0.1");

  const began = performance.now();
  const said = await typed(install, folder, env);
  assert.not.match(said, /EBADENGINE/, "each package that is installed supports this version of Node.js");
  const installed = performance.now();
  const served = type(serve, folder, env);
  await until("the first run is made", () => served.output().includes("The console: http"));
  assert.match(served.output(), /\/reset#\S+/);
  const listening = type(forward, folder, env);
  await until("it listens", () => listening.output().includes("forwarding to"));
  const sent = await typed(send, folder, env);
  const id = /evt_[a-z2-7]{32}/.exec(sent)?.[0] ?? "";
  const arrival = await until("the event has arrived", () => application.arrivals.find((it) => it.id === id));
  assert.is(JSON.parse(arrival.body).type, "payment_intent.succeeded");
  assert.is(arrival.headers["countersign-sample"], "true");
  assert.match(await until("it is printed", () => /^.*evt_.* 200 in .*$/m.exec(listening.output())?.[0]), id);
  const shown = await typed(`npx countersign events show ${id}`, folder, env);
  assert.match(shown, /^verdict +allow/m);
  const inspected = performance.now();
  console.log(`       installed after ${((installed - began) / 1_000).toFixed(1)} s`);
  checkFirstEventBar("four commands", inspected - installed);

  await installedWithoutScripts(dir, install, env);
  assert.ok(existsSync(join(folder, "data")));
  for (const output of [served.output(), listening.output(), sent, shown]) assert.not.match(output, /csk_/);
  for (const { child } of [listening, served]) {
    end(child, "SIGTERM");
    await once(child, "close");
  }
  await application.close();
};

testWhere(test, isRegistryThere, "the registry is not reached", "four commands deliver the first event", async () => {
  const dir = temporaryFolder();
  try {
    await stranger(dir);
  } finally {
    for (const child of started) end(child, "SIGKILL");
    removeFolder(dir);
  }
});

test("the package needs no overrides, as npm ignores those of a package that is installed", () => {
  const { overrides, dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  assert.is(overrides, undefined);
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
  const ours = packages["node_modules/light-my-request"].version;
  // Fastify takes any 6.x: named here, it is the one that works with each version of Node.js that we support.
  assert.is(dependencies["light-my-request"], ours);
});

test("the package is built before it is packed, and holds what its commands need", () => {
  const { scripts, files, bin } = JSON.parse(readFileSync("package.json", "utf8"));
  assert.is(scripts.prepack, "npm run --silent build");
  assert.ok(files.some((folder: string) => bin.countersign.startsWith(`${folder}/`)));
});

test.run();
