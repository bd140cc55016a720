/**
 * Shows the main features in a terminal: the service as a process, a receiving application, and webhooks signed as
 * Stripe, GitHub and Shopify do. Each step checks what it shows; a failed check ends with exit code 1.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { type Program, startProgram } from "../test/support/program.ts";
import { type Receiver, receiver } from "../test/support/receiver.ts";
import { arrivals, auditTrail, timeline, usage } from "./demo/records.ts";
import { admission, duplicates, forgeries, gates, observing, recovery } from "./demo/scenes.ts";
import { paint, type Terminal, terminal } from "./demo/terminal.ts";
import { expect, NotAsSaid, setUp } from "./demo/world.ts";

/** The exit code of a process that a signal ended is this plus the signal's number, as shells have it. */
const SIGNALLED = 128;

const show = async (program: Program, app: Receiver, out: Terminal): Promise<void> => {
  out.line(
    `${paint("bold", "Countersign")} runs at ${program.url} as process ${program.pid}, its data in ${program.dir}`,
  );
  out.section("Set up through the API: an account, an endpoint, a policy and a source for each provider");
  const world = await setUp(program.url, app, out);
  const payment = await admission(world, out);
  await duplicates(world, out, payment);
  await forgeries(world, out);
  await gates(world, out);
  await observing(world, out);
  const recovered = await recovery(world, out);
  await timeline(world, out, recovered);
  await auditTrail(world, out, recovered);
  await usage(world, out);
  arrivals(world, out, recovered);
};

const interrupted = new Promise<never>((_, reject) => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    // The handler stays, so that a second Ctrl-C does not end the program while it cleans up.
    process.on(signal, () => {
      process.exitCode = SIGNALLED + constants.signals[signal];
      reject(new NotAsSaid(`The demo was ended by ${signal}.`));
    });
  }
});

const run = async (): Promise<void> => {
  const began = Date.now();
  const out = terminal();
  const dir = mkdtempSync(join(tmpdir(), "countersign-demo-"));
  const starting = startProgram({}, dir);
  const listening = receiver();
  try {
    const shown = Promise.all([starting, listening]).then(([program, app]) => show(program, app, out));
    await Promise.race([shown, interrupted]);
    const code = await (await starting).stop();
    expect(code === 0, `The service ended with ${code} after SIGTERM.`);
  } catch (error) {
    // Without a running service nothing is added, because the error itself has the service's output.
    const said = await starting.then(
      (program) => program.output(),
      () => "",
    );
    if (process.exitCode === undefined && said !== "") out.line(`\nThe service printed:\n${said.trimEnd()}`);
    throw error;
  } finally {
    // The folder is removed after the start has ended, because a service that is still starting would write into it.
    await starting.then(
      (program) => program.kill(),
      () => undefined,
    );
    rmSync(dir, { recursive: true, force: true });
    await listening.then(
      (app) => app.close(),
      () => undefined,
    );
  }
  const seconds = ((Date.now() - began) / 1_000).toFixed(1);
  out.line(`\n${paint("green", "Everything happened as said")}, in ${seconds} s; the data is removed.`);
};

const sentence = (error: unknown): string => {
  if (error instanceof NotAsSaid) return error.message;
  if (!(error instanceof Error)) return `The demo could not go on: ${String(error)}`;
  // fetch puts the reason of a failure into the cause of its error.
  const reason = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return `The demo could not go on: ${error.message}${reason}`;
};

run().catch((error: unknown) => {
  process.exitCode ||= 1;
  console.error(`\n${paint("red", sentence(error))}`);
});
