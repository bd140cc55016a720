import { openLog } from "../engines.ts";
import type { Chain } from "../log-copy/chain.ts";
import { chainOf } from "../log-copy/records.ts";
import { type Command, UsageError } from "./command.ts";
import { checkExists, LOG_PLACES, parseLogPlace } from "./log-place.ts";
import { progress } from "./progress.ts";

export const chainLine = ({ count, sha256 }: Chain): string => `${count} records, sha256 ${sha256}`;

export const logVerify: Command = {
  name: "log verify",
  synopsis: "<place>",
  summary: "counts a log's records and hashes them: equal for a log and its copy",
  help: [
    "Prints how many records a log has, and a hash over all of them in their order: of a log and",
    "its copy both are the same. Payloads that were erased are not part of it.",
    `<place>  ${LOG_PLACES}`,
  ],
  async run({ positionals: [text, ...others] }, _env, terminal) {
    if (text === undefined || others.length > 0) throw new UsageError("log verify takes one place.");
    const place = parseLogPlace(text);
    checkExists(place);
    const log = await openLog(place, { readOnly: true });
    try {
      const say = progress(terminal);
      terminal.out(chainLine(await chainOf(log, (count) => say("read", count))));
    } finally {
      await log.close();
    }
  },
};
