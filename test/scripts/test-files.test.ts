import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { longestFirst, readSeconds, writeSeconds } from "../../scripts/test/order.ts";
import { runFile } from "../../scripts/test/run-file.ts";
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

test("a file that ends with an error has failed, whatever its tests say", async () => {
  const body = `${inSuite('test("a", () => {});')}\nprocess.on("exit", () => { process.exitCode = 3; });`;
  assert.equal(await counts("exit", body), { passed: 1, failed: 1, skipped: 0 });
});

const file = (name: string, text = "") => ({ name, text });
const STARTS = 'import { startProgram } from "../support/program.js";';

test("files start in the order of their last durations, the longest first", () => {
  const files = ["a", "b", "c"].map((name) => file(name));
  assert.equal(longestFirst(files, { a: 1, b: 30, c: 2 }), ["b", "c", "a"]);
});

test("without durations those that start programs come first, then the adapters; longer files before shorter ones", () => {
  const adapter = file("infra/e");
  const files = [file("a"), file("b", STARTS), file("c", "long text"), adapter, file("d", `${STARTS} and more`)];
  assert.equal(longestFirst(files, {}), ["d", "b", "infra/e", "c", "a"]);
  assert.equal(longestFirst(files, { a: 700, c: 2_000 }), ["c", "d", "b", "a", "infra/e"]);
});

test("durations are read as they were written, and a file that cannot be read is none", () => {
  const path = join(folder, "seconds.json");
  writeSeconds(path, { a: 1.5, b: 20 });
  assert.equal(readSeconds(path), { a: 1.5, b: 20 });
  for (const text of ["", "null", '"x"', "{"]) {
    writeFileSync(path, text);
    assert.equal(readSeconds(path), {});
  }
  assert.equal(readSeconds(join(folder, "none")), {});
});

test.run();
