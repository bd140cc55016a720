import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { filesToRunAgain } from "../../scripts/test/again.ts";
import { groupsOf } from "../../scripts/test/groups.ts";
import { longestFirst, readSeconds, writeSeconds } from "../../scripts/test/order.ts";
import { type Outcome, runFile, runTogether } from "../../scripts/test/run-file.ts";
import { removeFolder, temporaryFolder } from "../support/program.ts";

const test = suite("the runner of the tests");
const folder = temporaryFolder();
test.after(() => removeFolder(folder));

const UVU = pathToFileURL(createRequire(import.meta.url).resolve("uvu")).href;
const SKIPPED = new URL("../support/skipped.js", import.meta.url).href;

const ran = (name: string, body: string) => {
  const path = join(folder, `${name}.test.mjs`);
  writeFileSync(path, `import { createRequire } from "node:module";\n${body}`);
  return runFile(path);
};
const inSuite = (body: string): string =>
  `const { suite } = createRequire("/")(${JSON.stringify(new URL(UVU).pathname)});\nconst test = suite("a suite");\n${body}\ntest.run();`;

const counts = async (name: string, body: string) => {
  const { passed, failed, skipped } = await ran(name, body);
  return { passed, failed, skipped };
};

test("tests that pass, fail and are skipped are counted", async () => {
  const body = 'test("a", () => {});\ntest("b", () => { throw new Error("no"); });\ntest.skip("c");';
  assert.equal(await counts("mixed", inSuite(body)), { passed: 1, failed: 1, skipped: 1 });
});

test("a file that runs no test and skips none has failed", async () => {
  const none = { passed: 0, failed: 1, skipped: 0 };
  assert.equal(await counts("empty", ""), none);
  assert.equal(await counts("no-test", inSuite("")), none);
  assert.equal(await counts("says-so", 'console.log("SKIPPED: all of it: there is no server");'), none);
});

test("a file whose tests are all skipped has not failed, and each is counted and named", async () => {
  const outcome = await ran(
    "skipped",
    `import { skipped } from "${SKIPPED}";\nskipped("all of it", "there is no server");`,
  );
  assert.equal([outcome.passed, outcome.failed, outcome.skipped], [0, 0, 1]);
  assert.match(outcome.output, /^SKIPPED: all of it: there is no server$/m);
});

test("a file that ends with an error has failed, even if its tests passed", async () => {
  const body = `${inSuite('test("a", () => {});')}\nprocess.on("exit", () => { process.exitCode = 3; });`;
  assert.equal(await counts("exit", body), { passed: 1, failed: 1, skipped: 0 });
});

test("a program that outlives its test file does not keep the runner waiting", async () => {
  const outlives = `import { spawn } from "node:child_process";
spawn(process.execPath, ["-e", "setInterval(() => undefined, 1000); console.log('id', process.pid)"], { stdio: "inherit", detached: true }).unref();
await new Promise((resolve) => setTimeout(resolve, 500));`;
  const { output, passed } = await ran("outlives", `${outlives}\n${inSuite('test("a", () => {});')}`);
  const id = Number(/id (\d+)/.exec(output)?.[1]);
  process.kill(id, "SIGKILL");
  assert.is(passed, 1);
});

test("a runner that is ended names the files that it waited for, and they end with it", async () => {
  const runner = new URL("../../scripts/test.js", import.meta.url).pathname;
  const child = spawn(process.execPath, [runner, "src/cli/login.test"], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk) => {
    if (output === "") child.kill("SIGTERM");
    output += chunk;
  });
  const [code] = await once(child, "close");
  assert.is(code, 1);
  assert.match(output, "SIGTERM: these files had not ended: src/cli/login.test.js");
  assert.match(output, "0 passed, 1 failed, 0 skipped");
});

const file = (name: string, text = "") => ({ name, text });
type Named = { readonly name: string; readonly text: string };
const names = (files: readonly Named[], seconds: Record<string, number>): readonly string[] =>
  longestFirst(
    files.map((one) => [one]),
    seconds,
  ).flat();
const STARTS = 'import { startProgram } from "../support/program.js";';

test("files start in the order of their last durations, the longest first", () => {
  const files = ["a", "b", "c"].map((name) => file(name));
  assert.equal(names(files, { a: 1, b: 30, c: 2 }), ["b", "c", "a"]);
});

test("without durations those that start programs come first, then the adapters; longer files before shorter ones", () => {
  const adapter = file("infra/e");
  const files = [file("a"), file("b", STARTS), file("c", "long text"), adapter, file("d", `${STARTS} and more`)];
  assert.equal(names(files, {}), ["d", "b", "infra/e", "c", "a"]);
  assert.equal(names(files, { a: 10, c: 50 }), ["c", "d", "b", "a", "infra/e"]);
});

test("a group of files comes where the durations of its files together put it", () => {
  const groups = [[file("a"), file("b")], [file("c")], [file("d")]];
  assert.equal(longestFirst(groups, { a: 2, b: 2, c: 3, d: 5 }), [["d"], ["a", "b"], ["c"]]);
});

test("files that start no process and leave the state of their own alone share one with others of their folder", () => {
  const kept = [
    file("program/a"),
    file("infra/a", STARTS),
    file("contract/a"),
    file("src/a", STARTS),
    file("src/b", 'import { spawn } from "node:child_process";'),
    file("domain/a", 'process.env.A = "b";'),
    file("domain/b", "globalThis.fetch = other;"),
  ];
  const shared = [file("src/c", "const path = process.cwd();"), file("domain/c"), file("projections/a")];
  const groups = groupsOf([...kept, ...shared]);
  assert.equal(
    groups.slice(0, -1),
    kept.map((one) => [one]),
  );
  assert.equal(
    groups.at(-1)?.map(({ name }) => name),
    ["domain/c", "projections/a", "src/c"],
  );
});

/** Short, as one test waits for it. */
const LEFT_MS = 300;

const together = async (...bodies: readonly string[]) => {
  const paths = bodies.map((body, i) => {
    const path = join(folder, `together-${i}.test.mjs`);
    writeFileSync(path, body);
    return path;
  });
  const outcomes: (Outcome & { readonly path: string })[] = [];
  await runTogether(paths, (path, outcome) => outcomes.push({ path, ...outcome }), LEFT_MS);
  assert.equal(
    outcomes.map(({ path }) => path),
    paths,
  );
  return outcomes;
};
const UVU_MODULE = new URL("index.mjs", UVU).href;
const imported = (body: string): string =>
  `import { suite } from "${UVU_MODULE}";\nconst test = suite("a suite");\n${body}\ntest.run();`;
const PASSES = imported('test("a", () => {});');

test("files of one process are counted apart, and each has the output of its own", async () => {
  const [first, second, third] = await together(
    imported('test("a", () => console.log("first"));\ntest("b", () => console.error("to stderr"));'),
    imported('test("a", () => { throw new Error("no"); });\ntest.skip("c");'),
    PASSES,
  );
  assert.equal([first?.passed, first?.failed, first?.skipped], [2, 0, 0]);
  assert.match(first?.output ?? "", /first[\s\S]*to stderr/);
  assert.equal([second?.passed, second?.failed, second?.skipped], [0, 1, 1]);
  assert.match(second?.output ?? "", /FAIL[\s\S]*"a"[\s\S]*no/);
  assert.not.match(second?.output ?? "", /to stderr/);
  assert.equal([third?.passed, third?.failed, third?.skipped], [1, 0, 0]);
});

test("they run in one process, unless one of them ends it", async () => {
  const says = imported('test("a", () => console.log("process", process.pid, "said"));');
  const outcomes = await together(says, says, "process.exit(0);", says);
  const [a, b, , d] = outcomes.map(({ output }) => /process (\d+) said/.exec(output)?.[1]);
  assert.ok(a !== undefined && a === b && d !== undefined && d !== a);
  assert.equal(
    outcomes.map(({ failed }) => failed),
    [0, 0, 1, 0],
  );
});

test("a file that cannot be loaded, registers no test or ends the process fails alone", async () => {
  const rejects =
    'test("a", async () => { void Promise.reject(new Error("nobody waits")); await new Promise(setImmediate); });';
  const outcomes = await together(PASSES, 'throw new Error("at once");', PASSES, "", imported(rejects), PASSES);
  assert.equal(
    outcomes.map(({ failed }) => failed),
    [0, 1, 0, 1, 1, 0],
  );
  assert.match(outcomes[1]?.output ?? "", /at once/);
  assert.match(outcomes[4]?.output ?? "", /nobody waits/);
});

test("a file that leaves something running fails alone, and its output names that", async () => {
  const leaves = imported('test("a", () => void setInterval(() => undefined, 1_000_000));');
  const outcomes = await together(PASSES, leaves, PASSES);
  assert.equal(
    outcomes.map(({ failed }) => failed),
    [0, 1, 0],
  );
  assert.match(outcomes[1]?.output ?? "", /something that they have started is not: .*Timeout/);
});

test("durations are read as they were written, and an unreadable file has none", () => {
  const path = join(folder, "seconds.json");
  writeSeconds(path, { a: 1.5, b: 20 });
  assert.equal(readSeconds(path), { a: 1.5, b: 20 });
  for (const text of ["", "null", '"x"', "{"]) {
    writeFileSync(path, text);
    assert.equal(readSeconds(path), {});
  }
  assert.equal(readSeconds(join(folder, "none")), {});
});

test("of a few failed files each is run again, unless its input was random", () => {
  const outcome = (failed: number, output: string): Outcome => ({ passed: 1, failed, skipped: 0, seconds: 1, output });
  const fine = ["fine", outcome(0, "")] as const;
  const waited = ["waited", outcome(1, "waited 120000 ms in vain")] as const;
  const random = ["random", outcome(1, "Property failed after 4 tests { seed: 1081292695 }")] as const;
  assert.equal(filesToRunAgain(new Map([fine, waited, random])), ["waited"]);
  const many = Array.from({ length: 4 }, (_, n) => [`file-${n}`, outcome(1, "")] as const);
  assert.equal(filesToRunAgain(new Map(many)), []);
});

test.run();
