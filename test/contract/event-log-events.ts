import { randomUUID } from "node:crypto";
import type { JsonObject } from "../../domain/json.ts";
import type { EventLog, NewEvent, Position, RecordedEvent } from "../../domain/ports/event-log.ts";

/** A new event with its own id, and metadata in which every field has a value that could be mistaken for no other. */
export const event = (data: JsonObject = {}, type = "Tested"): NewEvent => ({
  id: randomUUID(),
  type,
  data,
  meta: {
    account: "acc_1",
    actor: { kind: "agent", id: "agt_1" },
    command_id: "command-1",
    trace_id: "0af7651916cd43dd8448eb211c80319c",
    span_id: "b7ad6b7169203331",
    causation_id: null,
    recorded_at: "2026-01-02T03:04:05.678Z",
    schema: 1,
  },
});

export const events = (count: number): NewEvent[] => Array.from({ length: count }, (_, n) => event({ n }));

export const idsOf = (list: readonly { readonly id: string }[]): string[] => list.map(({ id }) => id);

/** A stream that nobody wrote to, with a key of several dashes. */
export const newStream = (category = "delivery"): string => `${category}-${randomUUID()}`;

/** More than any case writes events: a log that gives more pages comes to no end. */
const PAGES_MAX = 1_000;

/** Everything behind a position, by pages. */
export const readOn = async (log: EventLog, after: Position | null, pageMax = 100): Promise<RecordedEvent[]> => {
  const found: RecordedEvent[] = [];
  let at = after;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const page = await log.readAll(at, pageMax);
    const last = page.at(-1);
    if (last === undefined) return found;
    if (page.length > pageMax) throw new Error(`a page of ${page.length} events, ${pageMax} were asked for`);
    found.push(...page);
    at = last.position;
  }
  throw new Error("readAll comes to no end");
};

/** The error that a call rejects with; a call that does not is a failure. */
export const rejection = async (call: () => Promise<unknown>): Promise<Error> => {
  let result: unknown;
  try {
    result = await call();
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error(`expected a rejection, got ${JSON.stringify(result)}`);
};
