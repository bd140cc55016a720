#!/usr/bin/env node
import { defined } from "../../domain/defined.ts";
import { run } from "./run.ts";
import { screenOf } from "./screen.ts";
import { hasColours, NO_COLOR_FLAG, painted } from "./tone.ts";

// A reader of the output such as `head` may close the pipe early, which is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

// All commands take this option, wherever it stands, and none of them has to know it.
const given = process.argv.slice(2);
const args = given.filter((it) => it !== NO_COLOR_FLAG);
const isColoured = args.length === given.length && hasColours(process.stdout.isTTY, process.env);
const screen = screenOf(process.stdin, process.stderr);
const status = await run(args, process.env, {
  out(it, tones) {
    if (typeof it !== "string") process.stdout.write(it);
    else console.log(tones === undefined || !isColoured ? it : painted(it, tones));
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
