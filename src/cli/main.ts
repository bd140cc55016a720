#!/usr/bin/env node
import { defined } from "../../domain/defined.ts";
import { run } from "./run.ts";
import { screenOf } from "./screen.ts";
import { hasColours, painted } from "./tone.ts";

// A reader of the output such as `head` may close the pipe early, which is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

const isColoured = hasColours(process.stdout.isTTY, process.env);
const screen = screenOf(process.stdin, process.stderr);
const status = await run(process.argv.slice(2), process.env, {
  out(it, tone) {
    if (typeof it !== "string") process.stdout.write(it);
    else console.log(tone === undefined || !isColoured ? it : painted(it, tone));
  },
  note: (line) => console.error(line),
  isRead: process.stdout.isTTY,
  ...defined({ screen }),
});

/** Resolves when the stream has taken all output: a pipe may be slow, and an earlier exit would cut the output off. */
const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => stream.write("", () => resolve()));

await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
// The process is ended explicitly, because an idle connection of a client would keep it running.
process.exit(status);
