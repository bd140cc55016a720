import { DAMAGED_TYPE } from "../../infra/stream-name.ts";
import { openLog } from "../engine/open-engines.ts";
import type { Chain } from "../log-copy/chain.ts";
import { chainOf } from "../log-copy/records.ts";
import { type Command, Ended, UsageError } from "./command.ts";
import { checkExists, LOG_PLACES, parseLogLocation } from "./log-location.ts";
import { progress } from "./progress.ts";

export const chainLine = ({ count, sha256 }: Chain): string => `${count} records, sha256 ${sha256}`;

export const logVerify: Command = {
  name: "log verify",
  synopsis: "<place>",
  summary: "counts a log's records and hashes them: equal for a log and its copy",
  help: [
    "Prints the number of records in a log and a hash over them in their order. Both are equal for",
    "a log and its copy. Erased payloads are not included. Names damaged payloads, and ends with 1",
    "if there are any; it stops at a damaged record.",
    `<place>  ${LOG_PLACES}`,
  ],
  async run({ positionals: [text, ...others] }, _env, terminal) {
    if (text === undefined || others.length > 0) throw new UsageError("log verify takes one place.");
    const location = parseLogLocation(text);
    checkExists(location);
    const log = await openLog(location, { readOnly: true });
    try {
      const say = progress(terminal);
      let damaged = 0;
      const chain = await chainOf(log, (count, { type, stream, revision }) => {
        say("read", count);
        if (type !== DAMAGED_TYPE) return;
        damaged += 1;
        terminal.note(
          `${stream}, revision ${revision}, cannot be read: restore the log from a backup, or erase that payload.`,
        );
      });
      terminal.out(chainLine(chain));
      if (damaged > 0) throw new Ended(1);
    } finally {
      await log.close();
    }
  },
};
