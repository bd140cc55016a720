import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Whether this machine lets us watch a process's system calls. */
export const canTrace = (): boolean => {
  const tried = spawnSync("strace", ["-D", "-f", "-o", "/dev/null", "true"]);
  return tried.error === undefined && tried.status === 0;
};

/** A command prefix for `startProgram`. -D keeps the program itself as our child, -yy names files and sockets. */
export const tracedTo = (file: string, ...more: readonly string[]): readonly string[] => [
  "strace",
  ...["-D", "-f", "-yy", "-s", "16384", "-o", file],
  ...["-e", "trace=fsync,fdatasync,write,writev,sendto,sendmsg,pwrite64,pwritev"],
  ...more,
];

export type Call = {
  readonly name: string;
  /** Descriptor, path or socket, and what was written, as strace shows them. */
  readonly args: string;
  readonly result: number;
  /** Where in the order of all calls it began and ended. */
  readonly began: number;
  readonly ended: number;
};

const WHOLE = /^\d+\s+(\w+)\((.*)\)\s+= (-?\d+)/s;
const BEGUN = /^\d+\s+(\w+)\((.*) <unfinished \.\.\.>$/s;
const RESUMED = /^\d+\s+<\.\.\. (\w+) resumed>(.*)\)\s+= (-?\d+)/s;

/** The calls of a trace that have ended, in the order of their ends. */
export const readCalls = (file: string): Call[] => {
  const begun = new Map<string, { readonly args: string; readonly began: number }>();
  const calls: Call[] = [];
  for (const [line, text] of readFileSync(file, "utf8").split("\n").entries()) {
    const [thread = ""] = text.split(" ");
    const unfinished = BEGUN.exec(text);
    if (unfinished !== null) {
      begun.set(thread, { args: unfinished[2] ?? "", began: line });
      continue;
    }
    const resumed = RESUMED.exec(text);
    const whole = resumed ?? WHOLE.exec(text);
    if (whole === null) continue;
    const [, name = "", args = "", result = ""] = whole;
    const beginning = resumed === null ? undefined : begun.get(thread);
    const shown = (beginning?.args ?? "") + args;
    calls.push({ name, args: shown, result: Number(result), began: beginning?.began ?? line, ended: line });
  }
  return calls;
};
