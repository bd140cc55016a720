import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { removeFolder, temporaryFolder } from "../../support/program.ts";
import { ran } from "../../support/scripted-service.ts";
import { testWhere } from "../../support/skipped.ts";

const test = suite("countersign completion and help");

const scriptFor = async (shell: string): Promise<string> => (await ran(["completion", shell])).out;

const testIn = (shell: string, name: string, body: () => Promise<void>): void =>
  testWhere(test, spawnSync(shell, ["--version"]).status === 0, `there is no ${shell}`, name, body);

/** What bash offers behind these words. */
const offered = async (...words: readonly string[]): Promise<readonly string[]> => {
  const line = `${await scriptFor("bash")}\nCOMP_WORDS=(countersign ${words.map((word) => `'${word}'`).join(" ")})
    COMP_CWORD=${words.length}; _countersign; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", line], { encoding: "utf8" });
  assert.is(stderr, "");
  return stdout.trim().split("\n");
};

testIn("bash", "bash is offered commands, their second words and their flags", async () => {
  assert.equal(await offered("e"), ["events", "endpoints", "evidence"]);
  assert.equal(await offered("sources", "c"), ["create"]);
  assert.equal(await offered("sources", "update", "--f"), ["--file"]);
  assert.equal(await offered("events", ""), ["tail", "show", "list"]);
  assert.equal(await offered("events", "tail", "--fo"), ["--follow"]);
  assert.equal(await offered("replay", "--dr"), ["--dry-run"]);
  assert.equal(await offered("replay", "c"), ["cancel"]);
  assert.equal(await offered("sources", "create", "--file", ""), [""], "bash goes on with names of files");
  assert.equal(await offered("completion", "z"), ["zsh"]);
  assert.equal(await offered("listen", "--forward", "http://localhost", "--s"), ["--source", "--secret"]);
});

/** Runs `run` in the shell, where `$1` is the file with the shell's script. */
const ranIn = async (shell: string, flags: readonly string[], run: string): Promise<readonly string[]> => {
  const dir = temporaryFolder();
  try {
    const file = join(dir, "completion");
    writeFileSync(file, await scriptFor(shell));
    // fish has the words after its command in $argv, where zsh has the file's name as $1 after a name for $0.
    const words = shell === "fish" ? [file] : [shell, file];
    const { stdout, stderr } = spawnSync(shell, [...flags, "-c", run, ...words], { encoding: "utf8" });
    assert.is(stderr, "");
    return stdout.trim().split("\n");
  } finally {
    removeFolder(dir);
  }
};

/** What zsh's completion adds for the last of these words; "files" where it completes names of files. */
const addedInZsh = (...words: readonly string[]): Promise<readonly string[]> =>
  ranIn(
    "zsh",
    ["-f"],
    `compadd() { shift; print -l -- "$@" }; _files() { print files }
     words=(countersign ${words.map((word) => `'${word}'`).join(" ")}); CURRENT=${words.length + 1}; source "$1"`,
  );

testIn("zsh", "zsh is offered commands, their second words and their flags, and then files", async () => {
  assert.ok((await addedInZsh("e")).includes("events"));
  assert.equal(await addedInZsh("events", ""), ["tail", "show", "list"]);
  assert.ok((await addedInZsh("events", "tail", "--fo")).includes("--follow"));
  assert.equal(await addedInZsh("sources", "show", "src_a", ""), [
    "--url",
    "--key",
    "--profile",
    "--json",
    "--no-color",
    "--help",
  ]);
  assert.ok((await addedInZsh("listen", "--forward", "http://localhost", "--s")).includes("--secret"));
  assert.equal(await addedInZsh("completion", ""), ["bash", "zsh", "fish", "--no-color", "--help"]);
  assert.equal(await addedInZsh("nothing", ""), ["files"]);
  assert.equal(await addedInZsh("sources", "create", "--file", ""), ["files"]);
});

/** What fish offers at the end of the line, without the descriptions. */
const offeredInFish = async (line: string): Promise<readonly string[]> =>
  (await ranIn("fish", ["--no-config"], `source $argv[1]; complete -C '${line}'`)).map((it) => it.split("\t")[0] ?? "");

testIn("fish", "fish is offered commands, their second words and their flags", async () => {
  assert.equal([...(await offeredInFish("countersign e"))].sort(), ["endpoints", "events", "evidence"]);
  assert.equal([...(await offeredInFish("countersign events "))].sort(), ["list", "show", "tail"]);
  assert.equal(await offeredInFish("countersign events tail --fo"), ["--follow"]);
  assert.not((await offeredInFish("countersign approvals list ")).includes("approve"));
  assert.equal(await offeredInFish("countersign replay --dr"), ["--dry-run"]);
  assert.equal([...(await offeredInFish("countersign completion "))].sort(), ["bash", "fish", "zsh"]);
});

test("each shell's script names every command; another shell is refused", async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const script = await scriptFor(shell);
    for (const word of ["serve", "tail", "sources", "members", "cancel", "listen", "verify", "dry-run"])
      assert.match(script, word, shell);
  }
  assert.is((await ran(["completion", "tcsh"])).status, 2);
});

test("there is help for the program, for a group and for each command", async () => {
  const overview = await ran(["--help"]);
  assert.is(overview.status, 0);
  const names = overview.out.split("\n").flatMap((line) => /^ {2}([a-z]+(?: [a-z]+)?) {2,}\S/.exec(line)?.[1] ?? []);
  assert.ok(names.length > 10, overview.out);
  for (const name of names) {
    const words = name.split(" ");
    const help = await ran([...words, "--help"]);
    assert.equal([help.status, help.note], [0, ""], name);
    assert.match(help.out, `usage: countersign ${name}`);
    assert.equal(await ran(["help", ...words]), help);
  }
  const group = await ran(["events", "--help"]);
  assert.match(group.out, "usage: countersign events show");
  const none = await ran([]);
  assert.equal([none.status, none.out, none.note], [2, overview.out, ""].slice(0, 3));
  const unknown = await ran(["event"]);
  assert.is(unknown.status, 2);
  assert.match(unknown.note, 'There is no command "event".');
});

test.run();
