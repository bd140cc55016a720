import type { TestFile } from "./order.ts";

/** Tests in these folders may share a process: they call functions, and most take less time than starting a process. */
const MAY_SHARE = /^(?:domain|infra|projections|src)\//;
/** A file that uses programs, threads or process state gets a process of its own. */
const OWN_PROCESS =
  /\/support\/(?:program|command-line|engine-sets|mongodb|kafka|browser)\.js"|"node:(?:child_process|worker_threads|v8|vm)"|\bprocess\.(?!cwd\b|hrtime\b|version\b|versions\b|platform\b|execPath\b|nextTick\b)|\bglobalThis\b/;
/** Files in a group: enough to spread the cost of loading modules, without a long group at the end. */
const FILES_MAX = 12;

const mayShare = ({ name, text }: TestFile): boolean => MAY_SHARE.test(name) && !OWN_PROCESS.test(text);

/** Files of one folder come into one group, because they import the same modules. */
export const groupsOf = (files: readonly TestFile[]): readonly (readonly TestFile[])[] => {
  const sharing = files.filter(mayShare).sort((a, b) => (a.name < b.name ? -1 : 1));
  const groups: TestFile[][] = files.filter((file) => !mayShare(file)).map((file) => [file]);
  for (let from = 0; from < sharing.length; from += FILES_MAX) groups.push(sharing.slice(from, from + FILES_MAX));
  return groups;
};
