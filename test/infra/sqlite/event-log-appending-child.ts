import { writeSync } from "node:fs";
import { sqliteEventLog } from "../../../infra/sqlite/event-log.ts";
import { event, newStream } from "../../contract/event-log-events.ts";

/**
 * Appends to the log at `argv[2]`, `argv[3]` at a time, `argv[4]` times each, and writes one line for each answer:
 * `answered <stream> <id> <id>`, or `failed <error's name>`. The lines are written synchronously, so that whoever kills
 * this program has every line of what it was told.
 */
const [path = "", concurrency = "1", times = "1"] = process.argv.slice(2);

const log = await sqliteEventLog({ path });

const appendOn = async (): Promise<void> => {
  for (let n = 0; n < Number(times); n += 1) {
    const stream = newStream();
    const pair = [event({ n }), event({ filler: "x".repeat(500) })];
    try {
      const { outcome } = await log.append(stream, "absent", pair);
      writeSync(1, `answered ${stream} ${pair.map(({ id }) => id).join(" ")} ${outcome}\n`);
    } catch (error) {
      writeSync(1, `failed ${error instanceof Error ? error.name : String(error)}\n`);
    }
  }
};

writeSync(1, "opened\n");
await Promise.all(Array.from({ length: Number(concurrency) }, appendOn));
await log.close();
