import { readFileSync, writeFileSync } from "node:fs";

/** How many seconds each file took when it last ran; files that have not run are missing. */
export type Seconds = Readonly<Record<string, number>>;

export type TestFile = { readonly name: string; readonly text: string };

/** The helpers with which a test starts processes, which takes longer than anything else. */
const STARTS_PROCESSES = /\/support\/(?:program|command-line|engine-sets)\.js"/;
/** Above what a file takes whose duration is known, so that a new file does not run alone at the end. */
const UNKNOWN_WITH_PROCESSES_S = 1_000;

/** The longest first: a long file that starts last would run alone at the end. */
export const longestFirst = (files: readonly TestFile[], seconds: Seconds): readonly string[] => {
  const expected = ({ name, text }: TestFile): number =>
    seconds[name] ?? (STARTS_PROCESSES.test(text) ? UNKNOWN_WITH_PROCESSES_S : 0);
  return files
    .map((file) => ({ name: file.name, expected: expected(file), length: file.text.length }))
    .sort((a, b) => b.expected - a.expected || b.length - a.length || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name);
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
