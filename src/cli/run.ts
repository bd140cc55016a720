import { parseArgs } from "node:util";
import { type Command, type Env, type Terminal, UsageError } from "./command.ts";
import { logCopy } from "./log-copy.ts";
import { logVerify } from "./log-verify.ts";
import { sdkTypes } from "./sdk-types.ts";
import { viewsRebuild } from "./views-rebuild.ts";

const COMMANDS: readonly Command[] = [logCopy, logVerify, viewsRebuild, sdkTypes];

export const EXIT_FAILURE = 1;
export const EXIT_USAGE = 2;

const callOf = ({ name, synopsis }: Command): string => `countersign ${name} ${synopsis}`;

const helpOf = (command: Command): string =>
  [`usage: ${callOf(command)}`, "", ...command.help.map((line) => `  ${line}`)].join("\n");

const OVERVIEW = [
  "usage: countersign <command>",
  "",
  ...COMMANDS.map((command) => `  ${callOf(command)}`),
  "",
  "  countersign <command> --help  says more.",
].join("\n");

const isBug = (error: unknown): boolean => error instanceof TypeError || error instanceof RangeError;

const parse = (command: Command, args: readonly string[]): ReturnType<typeof parseArgs> => {
  try {
    const options = { ...command.options, help: { type: "boolean", short: "h" } } as const;
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    // What parseArgs throws says which argument is wrong.
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
};

/** Runs one command; its answer is the exit code: 0, 1 for a failure, 2 for a wrong call. */
export const run = async (argv: readonly string[], env: Env, terminal: Terminal): Promise<number> => {
  const [group = "", verb = "", ...args] = argv;
  const command = COMMANDS.find(({ name }) => name === `${group} ${verb}`);
  if (command === undefined) {
    const isHelp = argv.length === 0 || argv.includes("--help") || argv.includes("-h") || group === "help";
    if (isHelp) terminal.out(OVERVIEW);
    else terminal.note(`There is no command "${`${group} ${verb}`.trim()}".\n\n${OVERVIEW}`);
    return isHelp && argv.length > 0 ? 0 : EXIT_USAGE;
  }
  try {
    const { values, positionals } = parse(command, args);
    if (values.help === true) terminal.out(helpOf(command));
    // No option is one that may be given several times.
    else await command.run({ positionals, options: values as Record<string, string | boolean> }, env, terminal);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.note(`${error.message}\nusage: ${callOf(command)}`);
      return EXIT_USAGE;
    }
    terminal.note(error instanceof Error && !isBug(error) ? error.message : String((error as Error).stack ?? error));
    return EXIT_FAILURE;
  }
};
