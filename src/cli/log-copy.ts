import { type LogLocation, openLog } from "../engine/open-engines.ts";
import { copyLog } from "../log-copy/copy.ts";
import { type Command, UsageError } from "./command.ts";
import { checkExists, LOG_PLACES, lockLog, parseLogLocation } from "./log-location.ts";
import { chainLine } from "./log-verify.ts";
import { progress } from "./progress.ts";

/**
 * Number of appends that are sent at once. Both engines write them in the order in which they were sent. SQLite's writer
 * puts up to 512 of one turn of the event loop into one transaction. EventStoreDB takes those of one call one by one
 * (`Receive` in Streams.BatchAppend.cs of 23.10), and whatever ends the call leaves a beginning of them.
 */
const IN_FLIGHT: Readonly<Record<LogLocation["engine"], number>> = { sqlite: 512, eventstoredb: 256 };
const BATCH = 500;
/** Larger batches of short records are no faster, and large records are read a few at a time anyway. */
const BATCH_MAX = 5_000;

const batchOf = (text: string): number => {
  const batch = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (batch < 1 || batch > BATCH_MAX) throw new UsageError(`--batch is a number from 1 to ${BATCH_MAX}.`);
  return batch;
};

const addressOf = (location: LogLocation): string => (location.engine === "sqlite" ? location.path : location.url);

export const logCopy: Command = {
  synopsis: "--from <place> --to <place> [--batch <n>]",
  help: [
    "Copies a log into another engine: order, ids, revisions, data, metadata and recorded times stay.",
    "What the source has at the start is copied; it may be in use, and the same call again catches up.",
    "The target must be empty or an earlier copy, and not in use. If a copy is interrupted, the same",
    "call continues it. At the end both logs are compared record by record; the hash is of log verify.",
    "Not kept: positions, so views are rebuilt and cursors end; and how many records erased payloads",
    "had. The key is no part of a log: the copy needs the COUNTERSIGN_KEY (or DATA_DIR/key) of its source.",
    `<place>      ${LOG_PLACES}`,
    `--batch <n>  records that are read and written together, at most (${BATCH})`,
  ],
  options: { from: { type: "string" }, to: { type: "string" }, batch: { type: "string" } },
  async run({ positionals, options }, _env, terminal) {
    if (positionals.length > 0 || typeof options.from !== "string" || typeof options.to !== "string")
      throw new UsageError("log copy takes --from <place> and --to <place>.");
    const [from, to] = [parseLogLocation(options.from), parseLogLocation(options.to)];
    const batch = batchOf(String(options.batch ?? BATCH));
    if (addressOf(from) === addressOf(to)) throw new UsageError("--from and --to are the same place.");
    checkExists(from);

    const locks = lockLog(to);
    const source = await openLog(from, { readOnly: true });
    try {
      const target = await openLog(to, { keepsOrder: true });
      try {
        const inFlight = Math.min(IN_FLIGHT[to.engine], batch);
        const copied = await copyLog(source, target, { inFlight, pageMax: batch, onProgress: progress(terminal) });
        terminal.out(`found   ${copied.found} records in the target`);
        terminal.out(`copied  ${copied.copied} records`);
        if (copied.erased > 0) terminal.out(`erased  ${copied.erased} payloads that the source has erased meanwhile`);
        terminal.out(`source  ${chainLine(copied.source)}`);
        terminal.out(`target  ${chainLine(copied.target)}`);
      } finally {
        await target.close();
      }
    } finally {
      await source.close();
      for (const lock of locks) lock.release();
    }
  },
};
