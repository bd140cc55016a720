#!/usr/bin/env node
/** The command line: `npm run countersign -- <command>` in a clone, `npx countersign <command>` where it is installed. */
import { run } from "./run.ts";
import { screenOf } from "./screen.ts";

// Whoever reads has read enough, as `head` does: that is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

const screen = screenOf(process.stdin, process.stderr);
const status = await run(process.argv.slice(2), process.env, {
  out: (it) => (typeof it === "string" ? console.log(it) : void process.stdout.write(it)),
  note: (line) => console.error(line),
  isRead: process.stdout.isTTY,
  ...(screen === undefined ? {} : { screen }),
});

/** Behind what was written before: a pipe may take it slowly. */
const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => stream.write("", () => resolve()));

await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
// A connection that a client keeps does not keep the process.
process.exit(status);
