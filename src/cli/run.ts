import { isUtf8 } from "node:buffer";
import { parseArgs } from "node:util";
import { defined } from "../../domain/defined.ts";
import { visibleText } from "../../domain/visible-text.ts";
import { isOtherFormat } from "../../infra/other-format.ts";
import { accountRecover } from "./account-recover.ts";
import { auditMakeKey, auditReopen, auditRotateKey } from "./audit-keys.ts";
import { type Arguments, type Command, Ended, type Env, type Screen, type Terminal, UsageError } from "./command.ts";
import { completion } from "./completion.ts";
import { eventsShow } from "./events-show.ts";
import { eventsTail } from "./events-tail.ts";
import { evidence } from "./evidence.ts";
import { table } from "./formats.ts";
import { keyRotate } from "./key-rotate.ts";
import { listen } from "./listen.ts";
import { logCopy } from "./log-copy.ts";
import { logVerify } from "./log-verify.ts";
import { replay, replayCancel } from "./replay.ts";
import { sdkTypes } from "./sdk-types.ts";
import { serve } from "./serve.ts";
import { status } from "./status.ts";
import { verify } from "./verify.ts";
import { viewsRebuild } from "./views-rebuild.ts";
import { witness } from "./witness.ts";

const COMMANDS: readonly Command[] = [
  serve,
  status,
  eventsTail,
  eventsShow,
  replay,
  replayCancel,
  listen,
  evidence,
  logCopy,
  logVerify,
  viewsRebuild,
  verify,
  witness,
  keyRotate,
  auditMakeKey,
  auditRotateKey,
  auditReopen,
  accountRecover,
  sdkTypes,
  completion(() => COMMANDS),
];

export const EXIT_FAILURE = 1;
/** Exit code if nothing was done, because the call is wrong or the data have another format. */
export const EXIT_USAGE = 2;

const callOf = ({ name, synopsis }: Command): string => `countersign ${name} ${synopsis}`;

const helpOf = (command: Command): string =>
  [`usage: ${callOf(command)}`, "", ...command.help.map((line) => `  ${line}`)].join("\n");

const OVERVIEW = [
  "usage: countersign <command>",
  "",
  ...table(COMMANDS.map(({ name, summary }) => [`  ${name}`, summary])),
  "",
  "  countersign <command> --help  explains a command.",
  "  COUNTERSIGN_URL and COUNTERSIGN_API_KEY name the service and the caller's key.",
].join("\n");

const isBug = (error: unknown): boolean => error instanceof TypeError || error instanceof RangeError;

const parse = (command: Command, args: readonly string[]): ReturnType<typeof parseArgs> => {
  try {
    const options = { ...command.options, help: { type: "boolean", short: "h" } } as const;
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
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

type Found = { readonly command: Command; readonly args: readonly string[] };

/** Of two commands that fit, the one whose name has more words is meant. */
const find = (argv: readonly string[]): Found | null => {
  for (const words of [2, 1]) {
    const command = COMMANDS.find(({ name }) => name === argv.slice(0, words).join(" "));
    if (command !== undefined) return { command, args: argv.slice(words) };
  }
  return null;
};

const withoutCommand = (argv: readonly string[], terminal: Terminal): number => {
  const isHelp = argv.length === 0 || argv.includes("--help") || argv.includes("-h");
  const group = COMMANDS.filter(({ name }) => argv[0] !== undefined && name.startsWith(`${argv[0]} `));
  const shown = group.length === 0 ? OVERVIEW : group.map((command) => `usage: ${callOf(command)}`).join("\n");
  if (isHelp) terminal.out(shown);
  else terminal.note(`There is no command "${argv.slice(0, 2).join(" ")}".\n\n${shown}`);
  return isHelp && argv.length > 0 ? 0 : EXIT_USAGE;
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
  out(it) {
    if (typeof it === "string") return terminal.out(visibleText(it));
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
  if (found === null) return withoutCommand(argv, terminal);
  const { command, args } = found;
  try {
    const { values, positionals } = parse(command, args);
    if (values.help === true) terminal.out(helpOf(command));
    else await command.run({ positionals, ...apart(values) }, env, terminal);
    return 0;
  } catch (error) {
    if (error instanceof Ended) return error.status;
    if (error instanceof UsageError) {
      terminal.note(`${error.message}\nusage: ${callOf(command)}`);
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
