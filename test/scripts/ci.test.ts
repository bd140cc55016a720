import { execFile } from "node:child_process";
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

/** A clone in which npm only says what it was told, beside it scripts that start and stop servers in name alone. */
const clone = (start = 'echo "export MONGODB_URL=mongodb://$1 STARTED_$1=yes"') => {
  const root = temporaryFolder();
  folders.push(root);
  const at = (...path: string[]): string => join(root, ...path);
  for (const folder of ["clone/.ci", "shared/services", "bin"]) mkdirSync(at(folder), { recursive: true });
  copyFileSync(".ci/run", at("clone/.ci/run"));
  script(
    at("bin/npm"),
    'echo "npm $*: $MONGODB_URL $STARTED_kafka"; [ "$1" = test ] && echo "3 passed, 0 failed, 1 skipped"; exit 0',
  );
  script(at("bin/strace"), "exit 0");
  script(at("shared/services/start"), `echo "start $1" >>"${at("called")}"; ${start}`);
  script(at("shared/services/stop"), `echo "stop $1" >>"${at("called")}"; echo "stopped $1"`);
  return {
    called: () => readFileSync(at("called"), { encoding: "utf8", flag: "a+" }).trim().split("\n"),
    removeServices: () => removeFolder(at("shared")),
    async ci(env: Record<string, string> = {}) {
      const ports = { SERVICES_MONGODB_PORT: "1", SERVICES_KAFKA_PORT: "1" };
      const { stdout, stderr } = await run(at("clone/.ci/run"), {
        env: { PATH: `${at("bin")}:${process.env.PATH}`, HOME: root, ...ports, ...env },
      });
      return { lines: stdout.trimEnd().split("\n"), stderr };
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
  assert.ok(lines.includes("npm test: mongodb://kafka yes"), lines.join("\n"));
  assert.is(lines.at(-1), "3 passed, 0 failed, 1 skipped");
});

test("what ran before goes on running, and what is set is not started", async () => {
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
  assert.ok(lines.includes("npm test:  yes"), lines.join("\n"));
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

test.run();
