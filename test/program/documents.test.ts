import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Program, removeFolder, startProgram } from "../support/program.ts";
import { testWhere } from "../support/skipped.ts";

/**
 * Runs the commands of the pages for people: the blocks that are marked `sh run`, in their order, in one shell. Those marked
 * `sh run background` are programs that the reader starts in another terminal, those marked `js run` are saved and started. A comment below a block says what it prints:
 * `<!-- prints: this | and this -->`.
 */
const test = suite("the commands of the documents");

const BLOCK = /^```(sh run|sh run background|js run)\n([\s\S]*?)^```\n(?:<!-- prints: (.*) -->\n)?/gm;
/** The first line of a program says where it is saved, and with which command it is started. */
const PROGRAM = /^\/\/ (\S+\.mjs), run with: (.+)\n/;
/** Inside of the package, where `countersign/sdk` is this package's own. */
const SAMPLES = "build/samples";
/** README first: the other pages go on from what it has set up. */
const PAGES = [
  "README.md",
  "docs/receiver.md",
  "docs/agent.md",
  "docs/auditor.md",
  "docs/analyst.md",
  "docs/billing.md",
];
/** The ports of the commands: each is replaced by a free one, as a machine may have something of its own there. */
const PORTS = ["3000", "3001"];
const TOOLS = ["bash", "curl", "openssl", "sed"];

const missing = TOOLS.filter((tool) => spawnSync("which", [tool]).status !== 0);

const freePort = async (): Promise<string> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? `${address.port}` : "";
};

type Block = { readonly where: string; readonly script: string; readonly prints: readonly string[] };

/** Waits until what was started listens on the port that its script names. */
const listening = (body: string): string => {
  const [, port] = /listen\((\d+)\)/.exec(body) ?? [];
  return `until (exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null; do sleep 0.05; done\n`;
};

/** Saves a program of a page, and starts it as its first line says. */
const started = (body: string): string => {
  const [, file = "", command = ""] = PROGRAM.exec(body) ?? [];
  const path = `${SAMPLES}/${file}`;
  return `mkdir -p ${SAMPLES}\ncat >${path} <<'SAMPLE'\n${body}SAMPLE\n${command.replace(file, path)}\n`;
};

const scriptOf = (kind: string, body: string): string => {
  if (kind === "js run") return started(body);
  return kind === "sh run" ? body : `${body.trimEnd()} >/dev/null &\n${listening(body)}`;
};

const blocksOf = (page: string): readonly Block[] =>
  [...readFileSync(page, "utf8").matchAll(BLOCK)].map(([, kind = "", body = "", prints = ""], index) => ({
    where: `${page}, block ${index + 1}`,
    script: scriptOf(kind, body),
    prints: prints === "" ? [] : prints.split(" | "),
  }));

const run = async (program: Program): Promise<Map<string, string>> => {
  const blocks = PAGES.flatMap(blocksOf);
  let script = "trap 'kill $(jobs -p) 2>/dev/null' EXIT\n";
  for (const block of blocks) script += `printf "\\n=== %s\\n" "${block.where}"\n${block.script}`;
  script = script.replaceAll("http://localhost:8080", program.url);
  for (const port of PORTS) script = script.replaceAll(port, await freePort());
  const shell = spawn("bash", ["-u"], { stdio: ["pipe", "pipe", "pipe"] });
  let output = "";
  shell.stdout.on("data", (chunk: Buffer) => (output += chunk));
  shell.stderr.on("data", (chunk: Buffer) => (output += chunk));
  shell.stdin.end(script);
  await once(shell, "close");
  return new Map(
    output
      .split(/^=== /m)
      .slice(1)
      .map((part) => [part.slice(0, part.indexOf("\n")), part.slice(part.indexOf("\n") + 1)] as const),
  );
};

testWhere(test, missing.length === 0, `${missing.join(", ")} missing`, "they print what the pages say", async () => {
  const program = await startProgram({ SIGNUP_PLAN: "free" });
  try {
    const printed = await run(program);
    for (const { where, prints } of PAGES.flatMap(blocksOf)) {
      const output = printed.get(where) ?? "was not run";
      for (const text of prints) assert.ok(output.includes(text), `${where} does not print ${text}:\n${output}`);
      const problem = /"type":"\/problems\/([a-z-]+)"/.exec(output)?.[1];
      const isExpected = problem === undefined || prints.some((text) => text.includes(problem));
      assert.ok(isExpected, `${where} is refused:\n${output}`);
    }
  } finally {
    await program.stop();
    removeFolder(program.dir);
  }
});

/** The blocks of commands, and the programs, of any page. `sh four commands` is typed by `first-minutes.test.ts`. */
const COMMANDS = /^```(sh|bash|console|js)( [a-z ]+)?\n[\s\S]*?^```\n(<!-- not run: .+ -->\n)?/gm;
const IS_RUN = [" run", " run background", " four commands"];

test("each block of commands is run by a test, or says below it why it is not", () => {
  const pages = [
    "README.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    ...readdirSync("docs")
      .filter((name) => name.endsWith(".md"))
      .map((page) => `docs/${page}`),
  ];
  for (const page of pages) {
    const text = readFileSync(page, "utf8");
    for (const { 2: mark = "", 3: reason, index } of text.matchAll(COMMANDS)) {
      const where = `${page}, line ${text.slice(0, index).split("\n").length}`;
      assert.is(
        IS_RUN.includes(mark),
        reason === undefined,
        `${where}: mark it as \`sh run\`, or say why it is not run`,
      );
      if (mark.startsWith(" run")) assert.ok(PAGES.includes(page), `${page} has commands to run and is not in PAGES`);
    }
  }
});

test.run();
