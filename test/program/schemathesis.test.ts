import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { pythonTools } from "../support/client-tools.ts";
import { type Credential, type Description, describedCalls } from "../support/described-calls.ts";
import { type DescribedWorld, describedWorld } from "../support/described-world.ts";
import { killPrograms, type Program, removeFolder, startProgram, temporaryFolder } from "../support/program.ts";
import { testWhere } from "../support/skipped.ts";

/** Schemathesis makes up calls from `/openapi.json` and compares each answer with it. */
const test = suite("answers to made-up calls");

/** Of each operation, after those that go through every parameter and field. */
const EXAMPLES = 3;
const REQUEST_S = "60";
const [LINES_MAX, LINE_MAX] = [300, 300];
const CHECKS = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
].join(",");

/** The first has no end, and after the second all other calls would be refused. */
const isLeftOut = (contentType: string | null, path: string): boolean =>
  contentType === "text/event-stream" || path === "/v1/auth/logout";

const headersOf = (credential: Credential, { cookie, key, agentKey, token }: DescribedWorld): readonly string[] => {
  const bearer = { key, agent: agentKey, token };
  if (credential === "session") return [`cookie: ${cookie}`, "sec-fetch-site: same-origin"];
  return credential === "none" ? [] : [`authorization: Bearer ${bearer[credential]}`];
};

/**
 * The operations of one credential, whose paths name what the account has. What would be deleted is not named, because
 * the other calls need it.
 */
const descriptionFor = (description: Description, world: DescribedWorld, credential: Credential) => {
  const paths: Record<string, Record<string, unknown>> = {};
  let operations = 0;
  for (const call of describedCalls(description, world)) {
    if (call.credential !== credential || isLeftOut(call.contentType, call.path)) continue;
    const method = call.method.toLowerCase();
    const operation = description.paths[call.path]?.[method];
    const parameters = operation?.parameters?.map((it) =>
      it.in !== "path" || method === "delete" ? it : { ...it, schema: { enum: [call.parameters.path[it.name]] } },
    );
    paths[call.path] = { ...paths[call.path], [method]: { ...operation, ...(parameters && { parameters }) } };
    operations += 1;
  }
  return { operations, text: JSON.stringify({ ...description, paths }) };
};

/** A failure is told in few short lines, an error of the tool itself in very long ones. */
const shortened = (text: string): string =>
  text
    .split("\n")
    .slice(0, LINES_MAX)
    .map((line) => line.slice(0, LINE_MAX))
    .join("\n");

const python = pythonTools();
testWhere(
  test,
  python.ok,
  python.why,
  "no call is answered with 5xx, or with anything that the description does not have",
  async () => {
    const program: Program = await startProgram();
    const folder = temporaryFolder();
    let world: DescribedWorld | undefined;
    try {
      world = await describedWorld(program.url);
      // The program's own description, of which the test of the description checks each part.
      const description = (await (await fetch(`${program.url}/openapi.json`)).json()) as Description;
      for (const credential of ["session", "key", "agent", "token", "none"] as const) {
        const { operations, text } = descriptionFor(description, world, credential);
        if (operations === 0) continue;
        const file = join(folder, `${credential}.json`);
        writeFileSync(file, text);
        const headers = headersOf(credential, world).flatMap((header) => ["--header", header]);
        // One worker: the threads of several disturb each other in some versions of Python.
        const phases = ["--phases", "examples,coverage,fuzzing", "--max-examples", String(EXAMPLES), "--no-shrink"];
        const quiet = ["--warnings", "off", "--suppress-health-check", "all", "--request-timeout", REQUEST_S];
        const said = await promisify(execFile)(
          python.command("schemathesis"),
          ["run", file, "--url", program.url, ...headers, ...phases, "--checks", CHECKS, ...quiet],
          { cwd: folder, maxBuffer: 64 * 1024 * 1024 },
        ).catch(({ stdout, stderr }: { readonly stdout?: string; readonly stderr?: string }) => {
          throw new Error(`as ${credential}:\n${shortened(`${stdout}${stderr}`)}`);
        });
        const passed = Number(/(\d+) generated, \1 passed/.exec(said.stdout)?.[1] ?? 0);
        assert.ok(passed >= operations, said.stdout);
        console.log(`       ${credential}: ${operations} operations, ${passed} calls`);
      }
      assert.is((await fetch(`${program.url}/ready`)).status, 200);
    } finally {
      await world?.close();
      killPrograms();
      removeFolder(program.dir);
      removeFolder(folder);
    }
  },
);

test.run();
