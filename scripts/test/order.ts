import { readFileSync, writeFileSync } from "node:fs";

export type Seconds = Readonly<Record<string, number>>;

export type TestFile = { readonly name: string; readonly text: string };

/** Imports of helpers that start processes: tests with one of them take longest. */
const STARTS_PROCESSES = /\/support\/(?:program|command-line|engine-sets)\.js"/;
const IS_ADAPTER = /^(?:contract|infra)\//;
/** The guessed seconds of a file for which none were measured. */
const GUESS_S = { startsProcesses: 12, isAdapter: 3, other: 1 } as const;

const guess = ({ name, text }: TestFile): number => {
  if (STARTS_PROCESSES.test(text)) return GUESS_S.startsProcesses;
  return IS_ADAPTER.test(name) ? GUESS_S.isAdapter : GUESS_S.other;
};

/** The longest group comes first, because it would otherwise run alone at the end. */
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

/** Empty if the file is missing or unreadable, because only the order of the tests depends on it. */
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
