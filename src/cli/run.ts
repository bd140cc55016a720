import { isUtf8 } from "node:buffer";
import { parseArgs } from "node:util";
import { defined } from "../../domain/defined.ts";
import { didYouMean } from "../../domain/did-you-mean.ts";
import { visibleText } from "../../domain/visible-text.ts";
import { isOtherFormat } from "../../infra/other-format.ts";
import { build } from "../config.ts";
import {
  type Arguments,
  type Command,
  type CommandEntry,
  Ended,
  type Env,
  type Screen,
  type Terminal,
  UsageError,
} from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { table } from "./formats.ts";
import { visibleLineOf } from "./tone.ts";

export const EXIT_FAILURE = 1;
/** Exit code if nothing was done, because the call is wrong or the data have another format. */
export const EXIT_USAGE = 2;

type Loaded = Pick<CommandEntry, "name"> & { readonly command: Command };

const loaded = async ({ name, load }: CommandEntry): Promise<Loaded> => ({ name, command: await load() });

const callOf = ({ name, command }: Loaded): string => `countersign ${name} ${command.synopsis}`;

const helpOf = (it: Loaded): string =>
  [`usage: ${callOf(it)}`, "", ...it.command.help.map((line) => `  ${line}`)].join("\n");

/** Commands of one group are one row, which a Map keeps where its first command stands. */
const overviewRows = (): readonly (readonly [string, string])[] => [
  ...new Map(
    COMMANDS.map(({ name, summary, group }) => {
      const shown = group === undefined ? name : (name.split(" ")[0] ?? name);
      return [shown, [`  ${shown}`, group ?? summary]] as const;
    }),
  ).values(),
];

const overview = (): string =>
  [
    "usage: countersign <command>",
    "",
    ...table(overviewRows()),
    "",
    "  countersign <command> --help  explains a command.",
    "  countersign --version         prints the version.",
    "  --no-color, or NO_COLOR in the environment: no colours on a terminal.",
    "  COUNTERSIGN_URL and COUNTERSIGN_API_KEY name the service and the caller's key.",
  ].join("\n");

const isBug = (error: unknown): boolean => error instanceof TypeError || error instanceof RangeError;

/** The option that parseArgs does not know; null if the error is another one. */
const unknownOption = (error: unknown): string | null => {
  if (!(error instanceof Error) || !("code" in error) || error.code !== "ERR_PARSE_ARGS_UNKNOWN_OPTION") return null;
  return /^Unknown option '([^']*)'/.exec(error.message)?.[1] ?? null;
};

const parse = (command: Command, args: readonly string[]): ReturnType<typeof parseArgs> => {
  try {
    const options = { ...command.options, help: { type: "boolean", short: "h" } } as const;
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    const unknown = unknownOption(error);
    if (unknown !== null) {
      const known = Object.keys({ ...command.options, help: {} }).map((name) => `--${name}`);
      throw new UsageError(`There is no option "${unknown}".${didYouMean(unknown, known)}`);
    }
    // The error of parseArgs names the wrong argument, so its message is shown.
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
};

const apart = (values: ReturnType<typeof parseArgs>["values"]): Pick<Arguments, "options" | "lists"> => {
  const options: Record<string, string | boolean> = {};
  const lists: Record<string, readonly string[]> = {};
  for (const [name, value] of Object.entries(values)) {
    if (Array.isArray(value)) lists[name] = value.map(String);
    else if (value !== undefined) options[name] = value;
  }
  return { options, lists };
};

type Found = { readonly entry: CommandEntry; readonly args: readonly string[] };

/** Of two commands that fit, the one whose name has more words is meant. */
const find = (argv: readonly string[]): Found | null => {
  for (const words of [2, 1]) {
    const entry = COMMANDS.find(({ name }) => name === argv.slice(0, words).join(" "));
    if (entry !== undefined) return { entry, args: argv.slice(words) };
  }
  return null;
};

const isHelp = (word: string): boolean => word === "--help" || word === "-h";

/** A group's name alone prints its commands. With `--help` this is no error; an unknown name is one in any case. */
const withoutCommand = async (argv: readonly string[], terminal: Terminal): Promise<number> => {
  const [first = "", second] = argv.filter((word) => !isHelp(word));
  const isAsked = argv.some(isHelp);
  const group = COMMANDS.filter(({ name }) => first !== "" && name.startsWith(`${first} `));
  const members = await Promise.all(group.map(loaded));
  const shown = members.length === 0 ? overview() : members.map((it) => `usage: ${callOf(it)}`).join("\n");
  if (first === "" || (group.length > 0 && second === undefined)) {
    terminal.out(shown);
    return isAsked ? 0 : EXIT_USAGE;
  }
  const named = [first, second].filter((word) => word !== undefined).join(" ");
  const names = COMMANDS.map(({ name }) => name);
  const firsts = names.map((name) => name.split(" ")[0] ?? name);
  const meant = didYouMean(named, [...names, ...firsts]) || didYouMean(first, firsts);
  terminal.note(`There is no command "${named}".${meant}\n\n${shown}`);
  return EXIT_USAGE;
};

const screenShown = (screen: Screen): Screen => ({
  // A getter, because the width of the terminal changes with its window.
  get columns() {
    return screen.columns;
  },
  draw: (line) => screen.draw(visibleText(line)),
  ask: (question) => screen.ask(visibleText(question)),
});

/**
 * Escapes invisible characters, so that no text from outside can control the terminal or hide on it. JSON keeps its
 * meaning, because such characters occur only in its strings.
 */
const shownOn = (terminal: Terminal): Terminal => ({
  out(it, tones) {
    if (typeof it === "string" && Array.isArray(tones)) {
      const line = visibleLineOf({ text: it, tones });
      return terminal.out(line.text, line.tones);
    }
    if (typeof it === "string") return terminal.out(visibleText(it), tones);
    terminal.out(terminal.isRead === true && isUtf8(it) ? visibleText(Buffer.from(it).toString()) : it);
  },
  note: (line) => terminal.note(visibleText(line)),
  ...defined({ screen: terminal.screen && screenShown(terminal.screen) }),
});

/** Resolves with the exit code: 0, 1 for a failure, 2 for a wrong call or another format, or that of `Ended`. */
export const run = async (given: readonly string[], env: Env, own: Terminal): Promise<number> => {
  const terminal = shownOn(own);
  const argv = given[0] === "help" ? [...given.slice(1), "--help"] : given;
  const found = find(argv);
  if (argv[0] === "--version") {
    terminal.out(build(env).version);
    return 0;
  }
  if (found === null) return withoutCommand(argv, terminal);
  const it = await loaded(found.entry);
  const { command } = it;
  try {
    const { values, positionals } = parse(command, found.args);
    if (values.help === true) terminal.out(helpOf(it));
    else await command.run({ positionals, ...apart(values) }, env, terminal);
    return 0;
  } catch (error) {
    if (error instanceof Ended) return error.status;
    if (error instanceof UsageError) {
      terminal.note(`${error.message}\nusage: ${callOf(it)}`);
      return EXIT_USAGE;
    }
    if (isOtherFormat(error)) {
      terminal.note(error.message);
      return EXIT_USAGE;
    }
    terminal.note(error instanceof Error && !isBug(error) ? error.message : String((error as Error).stack ?? error));
    return EXIT_FAILURE;
  }
};
