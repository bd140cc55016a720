/** The byte budgets of the console: what a first visit loads, compressed. They fail the build. */

/** A part of what Vite's manifest says of one file. */
type ManifestChunk = {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
  readonly assets?: readonly string[];
  readonly isEntry?: boolean;
};
export type Manifest = Readonly<Record<string, ManifestChunk>>;

const KB = 1_000;
/** The shell, the style sheet, three fonts, the program, its frame and the page's own chunk. */
const SIGN_IN_BYTES = 110 * KB;
const SIGN_IN_REQUESTS = 8;
const OVERVIEW_BYTES = 150 * KB;
const PAGE_BYTES = 30 * KB;
/** The policy editor brings CodeMirror; the proof check the verifier, and the words of the command for a verdict. */
const EXTRA_BYTES: Readonly<Record<string, number>> = {
  "src/pages/policy-editor.tsx": 130 * KB,
  "src/pages/proof-check.ts": 19.5 * KB,
};

const ENTRY = "index.html";

/** All files that the chunk needs before it runs. */
const filesOf = (manifest: Manifest, key: string, seen = new Set<string>()): ReadonlySet<string> => {
  const chunk = manifest[key];
  if (chunk === undefined || seen.has(chunk.file)) return seen;
  for (const file of [chunk.file, ...(chunk.css ?? [])]) seen.add(file);
  for (const it of chunk.imports ?? []) filesOf(manifest, it, seen);
  return seen;
};

type Sizes = {
  readonly manifest: Manifest;
  /** Bytes over the network, by the file's name; 0 for a file that is not served. */
  readonly sizeOf: (file: string) => number;
  /** The shell and the fonts, which every first visit loads. */
  readonly always: readonly string[];
};

export type Measured = { readonly name: string; readonly bytes: number; readonly most: number };

export const measured = ({ manifest, sizeOf, always }: Sizes): readonly Measured[] => {
  const first = [...filesOf(manifest, ENTRY), ...always];
  const sum = (files: Iterable<string>): number => [...files].reduce((total, it) => total + sizeOf(it), 0);
  const added = (key: string): number => sum([...filesOf(manifest, key)].filter((it) => !first.includes(it)));
  const pages = Object.keys(manifest).filter((key) => /^src\/pages\/[a-z-]+\.tsx?$/.test(key));
  const pageLimit = (key: string): number => EXTRA_BYTES[key] ?? PAGE_BYTES;
  return [
    { name: "sign-in, requests", bytes: first.length, most: SIGN_IN_REQUESTS },
    { name: "sign-in", bytes: sum(first) + added("src/pages/sign-in.tsx"), most: SIGN_IN_BYTES },
    { name: "overview", bytes: sum(first) + added("src/pages/overview.tsx"), most: OVERVIEW_BYTES },
    ...pages.map((key) => ({ name: key, bytes: added(key), most: pageLimit(key) })),
  ];
};

export const overBudget = (all: readonly Measured[]): readonly string[] =>
  all.filter(({ bytes, most }) => bytes > most).map(({ name, bytes, most }) => `${name}: ${bytes} of at most ${most}`);
