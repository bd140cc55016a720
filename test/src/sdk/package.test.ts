import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { minify } from "terser";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { removeFolder, temporaryFolder } from "../../support/program.ts";
import { compile, STRICT, writeProject } from "./compiler.ts";

const run = promisify(execFile);
const SOURCES = join("src", "sdk");
const BYTES_MAX = 8_000;

const folder = temporaryFolder();
/** As `npm install countersign` leaves it in a program that uses it: no other package is there. */
const installed = join(folder, "node_modules", "countersign");
const built = join(installed, "build", "sdk");

const AGENT = `
import { Countersign, hasEnded, isCountersignError, type Execution } from "countersign/sdk";

type Actions = { "refund.create": { payload: { charge: string }; result: { refund: string } } };
export const countersign = new Countersign<Actions>({ baseUrl: "https://countersign.test", key: "csa_", fetch });

export const act = async (): Promise<string> => {
  try {
    const done: Execution<{ refund: string }> = await countersign.execute("refund.create", { charge: "ch_1" });
    if (done.status === "delivered") return done.result.body.refund;
    return hasEnded(done) ? done.eventId : (await countersign.waitForApproval(done.eventId)).status;
  } catch (error) {
    // @ts-expect-error the types are there: nothing is any
    const wrong: number = isCountersignError(error) ? error.code : "";
    return String(wrong);
  }
};
// @ts-expect-error an unknown action
countersign.execute("refund.delete", { charge: "ch_1" });
`;

/** Takes away what only Node has before the client is loaded; Node's own classes are in use before that. */
const ELSEWHERE = `
new Headers();
for (const name of ["process", "Buffer", "global", "setImmediate", "clearImmediate", "navigator"]) delete globalThis[name];
const { Countersign, isCountersignError } = await import("countersign/sdk");
const sent = [];
const countersign = new Countersign({
  baseUrl: "https://countersign.test",
  key: "csa_",
  fetch: async (url, init) => {
    sent.push(init.headers["idempotency-key"]);
    if (sent.length === 1) throw new TypeError("network");
    const body = { event_id: "evt_a", status: "delivered", result: { status_code: 200, body: "yes" } };
    const [status, it] = sent.length === 2 ? [200, body] : [403, { code: "out-of-scope" }];
    return { status, headers: new Headers(), text: async () => JSON.stringify(it) };
  },
});
const done = await countersign.execute("a", {});
const error = await countersign.execute("a", {}).catch((it) => it);
console.log(JSON.stringify([done.result.body, sent[0] === sent[1], isCountersignError(error, "out-of-scope")]));
`;

const test = suite("the SDK as a package");

test.before(async () => {
  mkdirSync(installed, { recursive: true });
  cpSync("package.json", join(installed, "package.json"));
});
test.after(() => removeFolder(folder));

test("it compiles alone, without the types of Node and of any package", async () => {
  const project = JSON.parse(readFileSync(join(SOURCES, "tsconfig.json"), "utf8")).compilerOptions;
  assert.equal([project.types, project.lib, project.rootDir], [[], ["ES2022", "DOM"], "."]);
  const to = ["--outDir", built, "--tsBuildInfoFile", join(folder, ".tsbuildinfo")];
  assert.equal(await compile(["-p", SOURCES, ...to]), []);
  assert.ok(readdirSync(built).includes("index.d.ts"));
});

test("it imports nothing but itself", () => {
  for (const file of readdirSync(built)) {
    if (!file.endsWith(".js")) continue;
    const text = readFileSync(join(built, file), "utf8");
    for (const [, from = ""] of text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g))
      assert.match(from, /^\.\/[\w-]+\.js$/);
  }
});

test("a program that has installed it compiles, with the types of a browser alone and with those of Node", async () => {
  writeProject(folder, { "agent.ts": AGENT });
  assert.equal(await compile(["-p", folder]), []);
  const node = { ...STRICT, lib: ["ES2022"], types: ["node"], typeRoots: [join(process.cwd(), "node_modules/@types")] };
  writeProject(folder, { "agent.ts": AGENT }, node);
  assert.equal(await compile(["-p", folder]), []);
  const bundler = { ...STRICT, module: "esnext", moduleResolution: "bundler" };
  writeProject(folder, { "agent.ts": AGENT }, bundler);
  assert.equal(await compile(["-p", folder]), []);
});

test("it runs where there is nothing of Node's", async () => {
  writeFileSync(join(folder, "elsewhere.mjs"), ELSEWHERE);
  const { stdout } = await run(process.execPath, [join(folder, "elsewhere.mjs")]);
  assert.equal(JSON.parse(stdout), ["yes", true, true]);
});

test("its bundle is smaller than 8 kB", async () => {
  // Put together as a bundler does, the names of one module being no others' (the minifier would say so), but without
  // leaving out what is not used: the bundle of any program is smaller.
  const files = readdirSync(built).filter((file) => file.endsWith(".js") && file !== "index.js");
  const modules = files.map((file) => readFileSync(join(built, file), "utf8"));
  const inside = modules.map((text) => text.replace(/^(?:import .*|export \{\});$/gm, "").replace(/^export /gm, ""));
  const { code = "" } = await minify(
    `${inside.join("\n")}\nexport { Countersign, CountersignError, ERROR_CODES, hasEnded, isCountersignError };`,
    { module: true, ecma: 2020, compress: { passes: 2 } },
  );
  const bytes = Buffer.byteLength(code);
  console.log(`\nthe SDK in one module, minified by terser: ${bytes} bytes`);
  assert.match(code, "/v1/");
  assert.match(code, '"execute"');
  assert.ok(bytes < BYTES_MAX, `${bytes} bytes`);
});

test.run();
