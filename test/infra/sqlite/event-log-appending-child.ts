import { writeSync } from "node:fs";
import type { NewEvent } from "../../../domain/ports/event-log.ts";
import { sqliteEventLog } from "../../../infra/sqlite/event-log.ts";
import { event, newStream } from "../../contract/event-log-events.ts";

/**
 * Appends to the log at `argv[2]`, `argv[3]` at a time, `argv[4]` times each, every second time in a group, and writes one
 * line for each answer:
 * `answered <stream> <id> <id>`, or `failed <error's name>`. The lines are written synchronously, so that whoever kills
 * this program has every line of what it was told.
 */
const [path = "", concurrency = "1", times = "1"] = process.argv.slice(2);

const log = await sqliteEventLog({ path });

const append = async (stream: string, pair: readonly NewEvent[]): Promise<string> =>
  (await log.append(stream, "absent", pair)).outcome;

/** Appends the pair in a group in which it follows a payload. Each of the two names the other's stream. */
const appendInGroup = async (stream: string, pair: readonly NewEvent[]): Promise<string> => {
  const payload = newStream("payload");
  const kept = [event({ with: stream }), event({ with: stream })];
  const [, answer] = await log.appendGroup([
    { stream: payload, expected: "absent", events: kept, follows: [] },
    { stream, expected: "absent", events: pair.map((one) => ({ ...one, data: { with: payload } })), follows: [0] },
  ]);
  return answer?.outcome ?? "unanswered";
};

const appendOn = async (): Promise<void> => {
  for (let n = 0; n < Number(times); n += 1) {
    const stream = newStream();
    const pair = [event({ n }), event({ filler: "x".repeat(500) })];
    try {
      const outcome = n % 2 === 0 ? await append(stream, pair) : await appendInGroup(stream, pair);
      writeSync(1, `answered ${stream} ${pair.map(({ id }) => id).join(" ")} ${outcome}\n`);
    } catch (error) {
      writeSync(1, `failed ${error instanceof Error ? error.name : String(error)}\n`);
    }
  }
};

writeSync(1, "opened\n");
await Promise.all(Array.from({ length: Number(concurrency) }, appendOn));
await log.close();
