import { readFileSync, writeFileSync } from "node:fs";

/** How many seconds each file took when it last ran; files that have not run are missing. */
export type Seconds = Readonly<Record<string, number>>;

export type TestFile = { readonly name: string; readonly text: string };

/** The helpers with which a test starts processes, which takes longer than anything else. */
const STARTS_PROCESSES = /\/support\/(?:program|command-line|engine-sets)\.js"/;
/** These work with disks and connections, and some for long. */
const IS_ADAPTER = /^(?:contract|infra)\//;
/** About what such files take that are not named in `test/slow-files.json`. */
const GUESS_S = { startsProcesses: 12, isAdapter: 3, other: 1 } as const;

const guess = ({ name, text }: TestFile): number => {
  if (STARTS_PROCESSES.test(text)) return GUESS_S.startsProcesses;
  return IS_ADAPTER.test(name) ? GUESS_S.isAdapter : GUESS_S.other;
};

/** The names of groups of files that run in one process, the longest group first: one that starts last would run alone at the end. */
export const longestFirst = (
  groups: readonly (readonly TestFile[])[],
  seconds: Seconds,
): readonly (readonly string[])[] => {
  const sum = (files: readonly TestFile[], of: (file: TestFile) => number): number =>
    files.reduce((total, file) => total + of(file), 0);
  return groups
    .map((files) => ({
      names: files.map(({ name }) => name),
      expected: sum(files, (file) => seconds[file.name] ?? guess(file)),
      length: sum(files, ({ text }) => text.length),
    }))
    .sort((a, b) => b.expected - a.expected || b.length - a.length || (`${a.names}` < `${b.names}` ? -1 : 1))
    .map(({ names }) => names);
};

/** None if the file is missing or no longer readable: the order is then a guess, and nothing else depends on it. */
export const readSeconds = (path: string): Seconds => {
  try {
    const read: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (typeof read !== "object" || read === null) return {};
    return Object.fromEntries(Object.entries(read).filter(([, value]) => typeof value === "number"));
  } catch {
    return {};
  }
};

export const writeSeconds = (path: string, seconds: Seconds): void =>
  writeFileSync(path, `${JSON.stringify(seconds, null, 1)}\n`);
