import { execFile, execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { removeFolder, temporaryFolder } from "../support/program.ts";

const run = promisify(execFile);
const folders: string[] = [];

const script = (path: string, body: string): void => {
  writeFileSync(path, `#!/usr/bin/env bash\n${body}\n`);
  chmodSync(path, 0o755);
};

const NPM = `
  echo "npm $*: \${MONGODB_URL:-} \${STARTED_kafka:-} \${BROWSER_BINARY-any} \${CRASH_ROUNDS:-} \${CI:-}" | sed 's/ *$//'
  echo "$PWD: $*" >>"$HOME/npm-calls"
  [ "$1" = test ] || exit 0
  if [ -n "\${CRASH_ROUNDS:-}" ]; then echo "3 passed, 0 failed, 1 skipped"; else echo "2 passed, 0 failed, 9 skipped"; fi`;

/** Makes a virtual environment whose pip installs nothing. */
const PYTHON = `mkdir -p "$3/bin" && cp "$(command -v true)" "$3/bin/pip"`;

/** A clone in which npm only says what it was told, and nothing is installed, next to it scripts that start and stop servers in name alone. */
const clone = (start = 'echo "export MONGODB_URL=mongodb://$1 STARTED_$1=yes"', npm = NPM) => {
  const root = temporaryFolder();
  folders.push(root);
  const at = (...path: string[]): string => join(root, ...path);
  for (const folder of ["clone/.ci", "shared/services", "bin"]) mkdirSync(at(folder), { recursive: true });
  copyFileSync(".ci/run", at("clone/.ci/run"));
  for (const args of [["init"], ["add", "."], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-m", "all"]])
    execFileSync("git", ["-C", at("clone"), ...args], { stdio: "ignore" });
  script(at("bin/npm"), npm);
  for (const installed of ["strace", "chromium", "zsh", "fish"]) script(at("bin", installed), "exit 0");
  script(at("bin/python3"), PYTHON);
  script(at("shared/services/start"), `echo "start $1" >>"${at("called")}"; ${start}`);
  script(at("shared/services/stop"), `echo "stop $1" >>"${at("called")}"; echo "stopped $1"`);
  return {
    npmCalls: () => readFileSync(at("npm-calls"), "utf8").replaceAll(root, "").trim().split("\n"),
    called: () => readFileSync(at("called"), { encoding: "utf8", flag: "a+" }).trim().split("\n"),
    removeServices: () => removeFolder(at("shared")),
    async ci(env: Record<string, string> = {}) {
      const ports = { SERVICES_MONGODB_PORT: "1", SERVICES_KAFKA_PORT: "1" };
      const ran = await run(at("clone/.ci/run"), {
        env: { PATH: `${at("bin")}:${process.env.PATH}`, HOME: root, ...ports, ...env },
      }).catch((error: { code: number; stdout: string; stderr: string }) => error);
      return {
        lines: ran.stdout.trimEnd().split("\n"),
        stderr: ran.stderr,
        code: "code" in ran ? ran.code : 0,
      };
    },
  };
};

const listening = async (): Promise<{ server: Server; port: string }> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return { server, port: String(typeof address === "object" ? address?.port : address) };
};

const test = suite("continuous integration");
test.after(() => {
  for (const folder of folders) removeFolder(folder);
});

test("servers beside the clone are started for the tests and stopped after them; the last line stays the count", async () => {
  const it = clone();
  const { lines } = await it.ci();
  assert.equal(it.called(), ["start mongodb", "start kafka", "stop mongodb", "stop kafka"]);
  assert.ok(lines.includes("npm test: mongodb://kafka yes any 40 true"), lines.join("\n"));
  assert.is(lines.at(-1), "3 passed, 0 failed, 1 skipped");
});

test("servers that ran before keep running, and configured ones are not started", async () => {
  const { server, port } = await listening();
  const it = clone();
  await it.ci({ SERVICES_KAFKA_PORT: port, MONGODB_URL: "mongodb://mine" });
  server.close();
  assert.equal(it.called(), ["start kafka"]);
});

test("a server that does not start is named, and the tests run without it", async () => {
  const it = clone('[ "$1" = mongodb ] && exit 1; echo "export STARTED_kafka=yes"');
  const { lines, stderr } = await it.ci();
  assert.match(stderr, /FAILED TO START: mongodb/);
  assert.ok(lines.includes("npm test:  yes any 40 true"), lines.join("\n"));
  assert.equal(it.called(), ["start mongodb", "start kafka", "stop mongodb", "stop kafka"]);
  assert.is(lines.at(-1), "3 passed, 0 failed, 1 skipped");
});

test("without such scripts it says so and runs the tests", async () => {
  const it = clone();
  it.removeServices();
  const { lines } = await it.ci();
  assert.equal(it.called(), [""]);
  assert.match(lines.join("\n"), /^no servers to start/m);
  assert.is(lines.at(-1), "3 passed, 0 failed, 1 skipped");
});

test("it first runs what the README tells a newcomer to run, in a clone without servers and longer rounds", async () => {
  const it = clone();
  const { lines, code } = await it.ci({
    EVENTSTORE_URL: "esdb://mine",
    MONGODB_URL: "mongodb://mine",
    KAFKA_BROKERS: "mine:9092",
    BROWSER_BINARY: "browser",
  });
  assert.is(code, 0);
  const [first, second, third, ...others] = it.npmCalls();
  const clients = "/clone: ci --prefix test/clients/typescript";
  assert.equal([first, others], ["/clone: ci", [clients, "/clone: test", "/clone: run check"]]);
  for (const [call, command] of [
    [second, "ci"],
    [third, "test"],
  ] as const) {
    assert.match(call ?? "", new RegExp(`/countersign: ${command}$`));
    assert.not.match(call ?? "", "/clone");
  }
  const tests = lines.filter((line) => line.startsWith("npm test:"));
  assert.equal(tests, ["npm test:", "npm test: mongodb://mine  browser 40 true"]);
  const { lines: onlyFound } = await clone().ci();
  assert.ok(onlyFound.includes("npm test:"), "a browser that is only found is not used either");
  assert.match(readFileSync("README.md", "utf8"), "`npm ci && npm test`");
});

for (const [what, says] of [
  ["fails", 'echo "7 passed, 2 failed, 0 skipped"; exit 1'],
  ["breaks off", "exit 1"],
  ["says nothing", "exit 0"],
] as const) {
  test(`a first run that ${what} fails the whole run, although the second one passes`, async () => {
    const it = clone(undefined, `[ "$1" = test ] && [ -z "\${CRASH_ROUNDS:-}" ] && { ${says}; }\n${NPM}`);
    const { lines, code } = await it.ci();
    assert.is(lines.at(-1), `3 passed, ${what === "fails" ? 2 : 1} failed, 1 skipped`);
    assert.is(code, 1);
  });
}

test.run();
