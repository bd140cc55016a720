import { type Command, type CommandEntry, UsageError } from "./command.ts";
import { NO_COLOR_FLAG } from "./tone.ts";

type Completed = Pick<CommandEntry, "name" | "summary"> & Pick<Command, "options" | "words">;

const flagsOf = ({ options = {} }: Completed): readonly string[] => [
  ...Object.keys(options).map((name) => `--${name}`),
  NO_COLOR_FLAG,
  "--help",
];

/** The options whose value is a file or a folder on this machine. */
const FILE_FLAGS = ["--file", "--out", "--data-dir"] as const;

/** Maps each command's first word to the words that may follow: a group's second words, or a command's words and flags. */
const wordsOf = (commands: readonly Completed[]): ReadonlyMap<string, readonly string[]> => {
  const words = new Map<string, readonly string[]>();
  for (const command of commands) {
    const [first = "", second] = command.name.split(" ");
    words.set(first, [
      ...(words.get(first) ?? []),
      ...(second === undefined ? [...(command.words ?? []), ...flagsOf(command)] : [second]),
    ]);
  }
  return words;
};

const groupsOf = (commands: readonly Completed[]): readonly Completed[] =>
  commands.filter(({ name }) => name.includes(" "));

/** Bash completes file names if no word fits (`-o default`). */
const bash = (commands: readonly Completed[]): readonly string[] => [
  "# countersign completion for bash: countersign completion bash > ~/.local/share/bash-completion/completions/countersign",
  "_countersign() {",
  "  local words",
  `  case "\${COMP_WORDS[COMP_CWORD-1]}" in ${FILE_FLAGS.join("|")}) COMPREPLY=(); return ;; esac`,
  `  case "$COMP_CWORD:\${COMP_WORDS[1]}:\${COMP_WORDS[2]}" in`,
  `    1:*) words="${[...wordsOf(commands).keys(), "help"].join(" ")}" ;;`,
  ...[...wordsOf(commands)].map(([first, next]) => `    2:${first}:*) words="${next.join(" ")}" ;;`),
  ...groupsOf(commands).map(
    (command) => `    *:${command.name.replace(" ", ":")}) words="${flagsOf(command).join(" ")}" ;;`,
  ),
  ...[...wordsOf(commands)].map(([first, next]) => `    *:${first}:*) words="${next.join(" ")}" ;;`),
  "  esac",
  `  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))`,
  "}",
  "complete -o default -F _countersign countersign",
];

const zsh = (commands: readonly Completed[]): readonly string[] => [
  "#compdef countersign",
  `# countersign completion for zsh: countersign completion zsh > "\${fpath[1]}/_countersign"`,
  "_countersign() {",
  `  case "\${words[CURRENT-1]}" in ${FILE_FLAGS.join("|")}) _files; return ;; esac`,
  `  case "$CURRENT:\${words[2]}:\${words[3]}" in`,
  `    2:*) compadd -- ${[...wordsOf(commands).keys(), "help"].join(" ")} ;;`,
  ...[...wordsOf(commands)].map(([first, next]) => `    3:${first}:*) compadd -- ${next.join(" ")} ;;`),
  ...groupsOf(commands).map(
    (command) => `    *:${command.name.replace(" ", ":")}) compadd -- ${flagsOf(command).join(" ")} ;;`,
  ),
  ...[...wordsOf(commands)].map(([first, next]) => `    *:${first}:*) compadd -- ${next.join(" ")} ;;`),
  "    *) _files ;;",
  "  esac",
  "}",
  '_countersign "$@"',
];

const quoted = (text: string): string => `'${text.replace(/['\\]/g, "\\$&")}'`;

const isFileFlag = (flag: string): boolean => FILE_FLAGS.some((it) => it === flag);

const secondsOf = (commands: readonly Completed[], first: string): readonly string[] =>
  groupsOf(commands).flatMap(({ name }) => (name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : []));

const fish = (commands: readonly Completed[]): readonly string[] => [
  "# countersign completion for fish: countersign completion fish > ~/.config/fish/completions/countersign.fish",
  ...commands.flatMap((command) => {
    const [first = "", second] = command.name.split(" ");
    const isHere =
      second === undefined
        ? `__fish_seen_subcommand_from ${first}`
        : `__fish_seen_subcommand_from ${first}; and __fish_seen_subcommand_from ${second}`;
    return [
      `complete -c countersign -f -n __fish_use_subcommand -a ${first}${second === undefined ? ` -d ${quoted(command.summary)}` : ""}`,
      ...(second === undefined
        ? []
        : [
            `complete -c countersign -f -n '__fish_seen_subcommand_from ${first}; and not __fish_seen_subcommand_from ${secondsOf(commands, first).join(" ")}' -a ${second} -d ${quoted(command.summary)}`,
          ]),
      ...(command.words ?? []).map((word) => `complete -c countersign -f -n '${isHere}' -a ${word}`),
      ...flagsOf(command).map(
        (flag) => `complete -c countersign -n '${isHere}' -l ${flag.slice(2)}${isFileFlag(flag) ? " -r -F" : ""}`,
      ),
    ];
  }),
];

const SHELLS: Readonly<Record<string, (commands: readonly Completed[]) => readonly string[]>> = { bash, zsh, fish };

/** `commands` returns all commands, this one included. */
export const completion = (commands: () => readonly CommandEntry[]): Command => ({
  synopsis: Object.keys(SHELLS).join("|"),
  help: [
    "Prints a script for a shell; its first lines say where to put it.",
    `<shell>    ${Object.keys(SHELLS).join(", ")}`,
  ],
  words: Object.keys(SHELLS),
  async run({ positionals: [shell = "", ...others] }, _env, { out }) {
    const script = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
    if (script === undefined || others.length > 0)
      throw new UsageError(`completion takes one of ${Object.keys(SHELLS).join(", ")}.`);
    const loaded = commands().map(async ({ name, summary, load }) => ({ name, summary, ...(await load()) }));
    out(script(await Promise.all(loaded)).join("\n"));
  },
});
