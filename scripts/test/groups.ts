import type { TestFile } from "./order.ts";

/**
 * In these folders tests call functions and services in their own process. To start a process for each file and to load what
 * it imports takes longer than most of them.
 */
const MAY_SHARE = /^(?:domain|infra|projections|src)\//;
/** Programs, threads and the state of the process itself: a file that has to do with them has a process of its own. */
const OWN_PROCESS =
  /\/support\/(?:program|command-line|engine-sets|mongodb|kafka|browser)\.js"|"node:(?:child_process|worker_threads|v8|vm)"|\bprocess\.(?!cwd\b|hrtime\b|version\b|versions\b|platform\b|execPath\b|nextTick\b)|\bglobalThis\b/;
/** Enough that loading hardly counts, and few enough that the last group does not run alone for long. */
const FILES_MAX = 12;

const mayShare = ({ name, text }: TestFile): boolean => MAY_SHARE.test(name) && !OWN_PROCESS.test(text);

/** The files that run in the same process. Those of a folder follow one another, as they import the same modules. */
export const groupsOf = (files: readonly TestFile[]): readonly (readonly TestFile[])[] => {
  const sharing = files.filter(mayShare).sort((a, b) => (a.name < b.name ? -1 : 1));
  const groups: TestFile[][] = files.filter((file) => !mayShare(file)).map((file) => [file]);
  for (let from = 0; from < sharing.length; from += FILES_MAX) groups.push(sharing.slice(from, from + FILES_MAX));
  return groups;
};
