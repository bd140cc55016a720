#!/usr/bin/env node
/** The command line: `npm run countersign -- <command>` in a clone, `npx countersign <command>` where it is installed. */
import { run } from "./run.ts";

process.exitCode = await run(process.argv.slice(2), process.env, {
  out: (line) => console.log(line),
  note: (line) => console.error(line),
});
