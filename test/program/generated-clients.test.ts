import { execFile } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { pythonTools, typescriptTools } from "../support/client-tools.ts";
import { type DescribedCall, type Description, describedCalls } from "../support/described-calls.ts";
import { type DescribedWorld, describedWorld } from "../support/described-world.ts";
import { killPrograms, type Program, removeFolder, startProgram, temporaryFolder } from "../support/program.ts";
import { testWhere } from "../support/skipped.ts";
import { typescriptCalls } from "../support/typescript-calls.ts";

/** Clients that public generators make of `/openapi.json` of the running program, and one call of every operation. */
const test = suite("generated clients");

type Run = { readonly folder: string; readonly calls: readonly DescribedCall[]; readonly world: DescribedWorld };

let program: Program | undefined;
let folder = "";

test.before.each(() => {
  folder = temporaryFolder();
});
test.after.each(async () => {
  await program?.stop();
  killPrograms();
  if (program !== undefined) removeFolder(program.dir);
  removeFolder(folder);
});

/** Output of both kinds, as a generator may warn on either. */
const run = async (command: string, args: readonly string[], cwd: string): Promise<string> => {
  try {
    const { stdout, stderr } = await promisify(execFile)(command, args, { cwd, maxBuffer: 64 * 1024 * 1024 });
    return `${stdout}${stderr}`;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string };
    throw new Error(`${command} ${args.join(" ")}: ${error}\n${stdout}${stderr}`);
  }
};

/** The description in the folder, and the calls for an account that has one of everything. */
const prepared = async (): Promise<Run> => {
  program = await startProgram();
  const text = await (await fetch(`${program.url}/openapi.json`)).text();
  writeFileSync(join(folder, "openapi.json"), text);
  const world = await describedWorld(program.url);
  // The program's own description, of which the test of the description checks each part.
  return { folder, calls: describedCalls(JSON.parse(text) as Description, world), world };
};

/** Of the lines that the calls have printed: each operation once, most of them a success. */
const checkCalls = (output: string, { calls }: Run): void => {
  const statuses = new Map(
    [...output.matchAll(/^([a-z][A-Za-z0-9]+) (\d{3}) ?(.*)$/gm)].map(([, name = "", status, code = ""]) => [
      name,
      { status: Number(status), code },
    ]),
  );
  for (const { operationId } of calls)
    assert.ok(statuses.has(operationId), `${operationId} was not called:\n${output}`);
  const refused = [...statuses].filter(([, { status }]) => status >= 300);
  assert.ok(refused.length < calls.length / 5, `too many refusals: ${JSON.stringify(refused)}`);
  assert.equal(
    refused.filter(([, { code }]) => code === "invalid-request" || code === "unauthenticated"),
    [],
  );
};

const python = pythonTools();
testWhere(
  test,
  python.ok,
  python.why,
  "Python: a complete client, and mypy and the program agree with it",
  async () => {
    const it = await prepared();
    const { calls, world } = it;
    writeFileSync(join(folder, "calls.json"), JSON.stringify({ calls, world }));
    const generator = ["generate", "--path", "openapi.json", "--output-path", "client", "--meta", "none"];
    const config = ["--config", python.file("generator.yaml"), "--fail-on-warning"];
    const said = await run(python.command("openapi-python-client"), [...generator, ...config], folder);
    assert.not.match(said, /warning|skipping/i);
    await run(python.command("python"), [python.file("write_calls.py"), folder], folder);
    await run(python.command("mypy"), ["--strict", "calls.py"], folder);
    checkCalls(await run(python.command("python"), ["calls.py"], folder), it);
  },
);

const typescript = typescriptTools();
testWhere(
  test,
  typescript.ok,
  typescript.why,
  "TypeScript: complete types, and tsc and the program agree with them",
  async () => {
    const it = await prepared();
    symlinkSync(typescript.modules, join(folder, "node_modules"));
    writeFileSync(join(folder, "package.json"), '{"type": "module"}');
    const said = await run(typescript.command("openapi-typescript"), ["openapi.json", "-o", "api.d.ts"], folder);
    assert.not.match(said, /warn/i);
    writeFileSync(join(folder, "calls.ts"), typescriptCalls(it.calls, it.world));
    const strict = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess"];
    const target = ["--target", "es2022", "--module", "nodenext", "--lib", "es2023,dom,dom.iterable"];
    await run(typescript.command("tsc"), [...strict, ...target, "calls.ts"], folder);
    checkCalls(await run(process.execPath, ["calls.js"], folder), it);
  },
);

test.run();
